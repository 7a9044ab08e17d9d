"""What a person reads keeps to one word for one idea: forbidden words, and labels of at most four words."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import memtui

ROOT = Path(memtui.__file__).parent
PLACES = (
    *("ui", "cli", "flows", "editing", "engine", "review", "audit", "core", "agents/chat", "agents/hooks"),
    *("config", "search", "fs", "store", "journal", "serve"),
)
NOT_HELD = {"core/messages.py": "answers to the model, whose texts are a contract"}
FORBIDDEN = {
    r"or no longer": "name the switch: `Blame on/off`",
    r"memories went|went at once|when it went": "were deleted",
    r"no moment": "Can't read ... as a time",
    r"gone": "was deleted",
    r"brings? back|brought back": "restore",
    r"anew": "again",
    r"mend": "fix",
    r"somebody": "another program, or a named actor",
}
"""Patterns that no sentence may hold, and what to say in their place."""

_LABEL_WORDS = 4


def iter_shown(source: str) -> Iterator[tuple[int, str]]:
    """The string constants of a module with their lines, without docstrings, style sheets and single names."""
    tree = ast.parse(source)
    silent: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            silent.add(id(node.value))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(each, ast.Name) and each.id.endswith("CSS") for each in targets) and node.value:
                silent.update(id(each) for each in ast.walk(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in silent:
            match node.value:
                case str(text) if " " in text:
                    yield node.lineno, text


def find_forbidden(source: str) -> list[str]:
    pattern = re.compile("|".join(rf"\b(?:{each})\b" for each in FORBIDDEN), re.IGNORECASE)
    return [f"{line}: {match[0]!r} in {text!r}" for line, text in iter_shown(source) if (match := pattern.search(text))]


def iter_bindings(source: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name("Binding"), args=[_, _, ast.Constant(str(label)), *_]):
                yield node.lineno, label


def _list_files() -> list[str]:
    found = (path.relative_to(ROOT).as_posix() for place in PLACES for path in (ROOT / place).rglob("*.py"))
    return sorted(name for name in found if name not in NOT_HELD)


@pytest.mark.parametrize("place", PLACES)
def test_no_sentence_has_a_forbidden_word(place: str) -> None:
    names = [name for name in _list_files() if name.startswith(f"{place}/")]
    assert names
    bad = [f"{name}:{each}" for name in names for each in find_forbidden((ROOT / name).read_text(encoding="utf-8"))]
    assert not bad, "\n".join(bad)


def test_labels_of_keys_are_at_most_four_words() -> None:
    labels = [
        (name, line, label)
        for name in _list_files()
        for line, label in iter_bindings((ROOT / name).read_text(encoding="utf-8"))
    ]
    assert len(labels) > 100
    assert [each for each in labels if len(each[2].split()) > _LABEL_WORDS] == []


@pytest.mark.parametrize("words", ["Pin it, or no longer", "5 memories went", "x.md is gone.", "Made anew", "Mend it"])
def test_a_forbidden_word_is_found(words: str) -> None:
    assert find_forbidden(f"show({words!r})")
    assert find_forbidden(f"show(f'{{count}} {words}')")
    assert not find_forbidden(f"def show():\n    {words!r}\n"), "a docstring is not shown"
