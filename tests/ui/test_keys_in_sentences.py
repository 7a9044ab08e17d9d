"""A sentence that names a key names the key of the person's own key map."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import memtui.ui
from memtui.config import Config, LoadedConfig
from memtui.ui.key_names import join_labels, label_key, list_labels, set_keymap
from memtui.ui.keymap import _collect_bindings
from tests.ui.conftest import Opening

UI = Path(memtui.ui.__file__).parent
PATTERNS = tuple(
    map(
        re.compile,
        (
            r"\b(?:Ctrl|Alt|Shift|Super)[+-]\w|(?<!\w)\^[A-Z]\b|\bF(?:[1-9]|1[0-2])\b",
            r"\b(?:Esc|Escape|Enter|Tab|Space|PgUp|PgDn|Backspace|Del|Ins)\b",
            r"(?:^|(?<=[\s(]))[b-zB-HJ-Z?<>=+_#\[\]] (?=[a-z]{2,}\b)",  # "f follows", "[ goes to", "y yes"
            r"(?<=[\s(]): (?=[a-z]{2,}\b)",
            r"(?:^|(?<=[\s(]))[0-9] (?=(?:to )?(?:answers?|goes|looks|shows|comes|opens)\b)",  # "3 goes to them"
            r"(?:^|[.,;:] )a (?:with|on|\w+s)\b",  # the letter that is an article as well: "a makes one"
            r"\b[Pp]ress(?:es|ed|ing)? (?:\w\b|[?:/])",
        ),
    )
)
"""How a key is named in a string."""
ALLOWED = {
    "key_names.py": {"*"},  # the labels
    "screens/history.py": {"A and B picked   "},  # versions
    "web_frames.py": {"Backspace", "Enter", "Escape", "Tab"},  # as web browsers call them
    "widgets/markdown/inline.py": {"*"},  # names of languages
}
"""Strings that name no key all the same, by module; `*` for all of a module."""
STATIC = ("Binding", "Choice")
"""Calls that declare a key."""


def iter_strings(tree: ast.AST) -> Iterator[str]:
    """The strings of a module, without docstrings and what declares a key."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in STATIC:
            skipped.update(map(id, ast.walk(node)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


def find_named_keys(source: str) -> list[str]:
    """The strings in which a key is named."""
    return [text for text in iter_strings(ast.parse(source)) if any(each.search(text) for each in PATTERNS)]


def find_ids(source: str) -> set[str]:
    """The ids that sentences ask the labels of."""
    asked = ("label_key", "list_labels", "join_labels")
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    first = (call.args[0] for call in calls if getattr(call.func, "id", "") in asked and call.args)
    return {each.value for each in first if isinstance(each, ast.Constant) and isinstance(each.value, str)}


@pytest.mark.parametrize(
    "words",
    [
        "Follow off. f follows again.", "^S saves it", "Ctrl+R restores them.", "a creates one.", "Esc back",
        "[ goes to older versions.", "Only changes are reviewed. 3 goes to them.", "Press q to quit.", "F9 answers",
        "y yes  n no", "Nothing is here: V shows them", "Tab looks elsewhere",
    ],
)  # fmt: skip
def test_a_key_in_a_string_is_noticed(words: str) -> None:
    assert find_named_keys(f"show({words!r})") == [words]
    assert find_named_keys(f"show(f{words + ' {x}'!r})")


@pytest.mark.parametrize("words", ["a note", "It is a folder: open it", "12 files", "a/b.md", "1 memory", "I was here"])
def test_other_words_name_no_key(words: str) -> None:
    assert find_named_keys(f"show({words!r})") == []


def test_no_string_of_the_screens_names_a_key() -> None:
    found = {}
    for path in sorted(UI.rglob("*.py")):
        name = path.relative_to(UI).as_posix()
        allowed = ALLOWED.get(name, set())
        if "*" not in allowed and (named := set(find_named_keys(path.read_text("utf-8"))) - allowed):
            found[name] = sorted(named)
    assert found == {}


def test_every_id_that_a_sentence_asks_for_is_bound() -> None:
    ids = set().union(*(find_ids(path.read_text("utf-8")) for path in UI.rglob("*.py")))
    assert len(ids) > 60
    assert ids <= set(_collect_bindings())


def test_labels_are_those_of_the_key_map_else_the_usual_ones() -> None:
    assert (label_key("browse.follow"), label_key("edit.save"), label_key("edit.save", short=True)) == (
        "f", "Ctrl+S", "^S",
    )  # fmt: skip
    assert join_labels("ask.no") == "Enter, Esc or n"
    assert label_key("chat.undo") == "/undo"
    try:
        set_keymap({"browse.follow": ("f6", "K"), "edit.save": ("f2",), "ask.no": ("x",), "browse.undo": ()})
        assert list_labels("browse.follow") == ("F6", "K")
        assert label_key("edit.save", short=True) == "F2"
        assert join_labels("ask.no") == "x"
        assert label_key("browse.undo") == "u"
    finally:
        set_keymap({})


async def test_the_screens_name_the_keys_that_the_person_has(opened: Opening) -> None:
    keys = {"browse.follow": "f6", "browse.pause": "f7", "note.blame": "f8", "ask.no": "x", "browse.past": "f10"}
    keys |= {"past.follow": "f11", "past.earlier": "f2", "past.later": "f3", "past.leave": "f12", "file.new": "f4"}
    async with opened(loaded=LoadedConfig(Config(keys=keys))) as app:
        for key, words in (
            ("f6", "Follow off. F6 follows again."),
            ("f7", "Paused. Changes are still recorded. F7 resumes."),
            ("f8", "Blame on: author, age and event of each line. F8 turns it off."),
        ):
            await app.press(key)
            await app.wait_for(lambda words=words: app.message == words, words)
        await app.press("f7", "f10")
        await app.wait_for(lambda: "F2 and F3 step, F12 goes back to now." in app.text, "the past")
        await app.press("f11")
        await app.wait_for(lambda: "F11 follows again." in app.text or "Follow on." in app.text, "F11")
