"""Every regular expression of memtui, how it is applied, and texts that make it work hard.

Run as a program it lists them: the modules are imported anew there, so that what they compile can be seen.
"""

import importlib
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import memtui
from memtui.core import lazy_regex
from tests.modules import iter_module_names

_parser: Any = importlib.import_module("re._parser")
_codes: Any = importlib.import_module("re._constants")
_ROOT = Path(memtui.__file__).parent


class Regex(NamedTuple):
    """A regular expression of a file, and whether it is applied to the beginning of texts alone."""

    place: str
    pattern: str
    flags: int
    is_bytes: bool
    is_anchored: bool

    def compile(self) -> Callable[[str], object]:
        """What applies it once, as the program does, to a text."""
        compiled: re.Pattern[Any] = re.compile(
            self.pattern.encode("latin-1") if self.is_bytes else self.pattern, self.flags
        )
        apply = compiled.match if self.is_anchored else lambda text: [None for _ in compiled.finditer(text)]
        return (lambda text: apply(text.encode())) if self.is_bytes else apply


@cache
def load_regexes() -> tuple[Regex, ...]:
    """All that the modules and the rules compile."""
    run = subprocess.run([sys.executable, "-m", "tests.regexes"], capture_output=True, check=True, cwd=_ROOT.parent)
    return tuple(Regex(*each) for each in json.loads(run.stdout))


def _record() -> Iterator[Regex]:
    seen: dict[tuple[Any, int], str] = {}
    compile_really: Any = getattr(re, "_compile")  # noqa: B009

    def compile_recorded(pattern: Any, flags: int) -> Any:
        compiled = compile_really(pattern, flags)
        frame = sys._getframe(1)
        while frame.f_back and "/re/" in frame.f_code.co_filename:
            frame = frame.f_back
        if frame.f_code.co_filename.startswith(str(_ROOT)):
            seen.setdefault((compiled.pattern, compiled.flags), Path(frame.f_code.co_filename).stem)
        return compiled

    setattr(re, "_compile", compile_recorded)  # noqa: B010
    setattr(lazy_regex, "compile_lazily", re.compile)  # noqa: B010
    for name in iter_module_names():
        importlib.import_module(name)
    for inline in _find_inline():
        seen.setdefault((inline, re.compile(inline).flags), "inline")
    _compile_rules()
    anchored = _find_anchored()
    for (pattern, flags), place in seen.items():
        text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
        yield Regex(place, text, flags, isinstance(pattern, bytes), pattern in anchored)


def _find_inline() -> Iterator[str]:
    """Those that stand in the call that applies them to a whole text."""
    for path in _ROOT.rglob("*.py"):
        for found in re.finditer(r"re\.(?:search|sub|split|findall|finditer)\(\s*(r?\"[^\"\n]*\"),", path.read_text()):
            yield eval(found[1])


def _compile_rules() -> None:
    """Compile what the rules hold, as the program does it when they are first used."""
    from memtui.scan import credentials, personal, phrases, ruleset, tokens  # noqa: PLC0415 - recorded from here on

    for file in (_ROOT / "scan" / "rules").glob("*.toml"):
        regexes = [regex for key, regex in _walk_strings(tomllib.loads(file.read_text())) if key in _KEYS]
        ruleset._compile_regexes([{"regexes": regexes}])
    for phrase in phrases.load_phrases():
        for name in ("_negation", "_exclusion", "_denial", "_continuation", "_stems" if phrase._lists else "pattern"):
            getattr(phrase, name)
    for form in tokens._load_index().forms:
        assert form.pattern
    for load in (personal._load_issuers, personal._load_numbers, credentials._load_assigned):
        load()
    credentials._load_neighbours()


_KEYS = ("regex", "regexes", "patterns", "forms")


def _walk_strings(table: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(table, dict):
        for name, value in table.items():
            yield from _walk_strings(value, key if key == "patterns" else name)
    elif isinstance(table, list):
        for value in table:
            yield from _walk_strings(value, key)
    elif isinstance(table, str):
        yield key, table


def _find_anchored() -> set[Any]:
    """The patterns of which every use in the source is `match` or `fullmatch`."""
    from memtui.scan.ruleset import join_lines  # noqa: PLC0415 - recorded from here on

    sources = {path: path.read_text() for path in _ROOT.rglob("*.py")}
    everything = "\n".join(sources.values())
    found: set[Any] = set()
    for name, module in list(sys.modules.items()):
        source = sources.get(Path(getattr(module, "__file__", None) or ""), "")
        for key, value in vars(module).items() if name.startswith("memtui") else ():
            if not isinstance(value, re.Pattern) or not source:
                continue
            where = source if key.startswith("_") else everything
            if _is_anchored(re.findall(rf"\b{key}\b(?! = |, _\w+ = )(\.\w+)?", where)):
                found.add(value.pattern)
    for file in (_ROOT / "scan" / "rules").glob("*.toml"):
        table = tomllib.loads(file.read_text())
        for each in (table, *table["rules"]):
            for key, regex in each.get("patterns", {}).items():
                if _is_anchored(re.findall(rf"_pattern\((?:\"[\w-]+\", |\w+, )*\"{key}\"\)(\.\w+)?", everything)):
                    found.add(join_lines(regex))
    return found


def _is_anchored(uses: list[str]) -> bool:
    return bool(uses) and all(use in (".match", ".fullmatch") for use in uses)


# Texts: what begins a repeat, what is repeated, and what comes behind it and fits nothing.

Pump = tuple[str, str, str]

_TASTES = (" a0", "a0 ", "0a ", "A0 ", "-. ", "\n a", "_a", "*`", "/.:", "\t ", "\"'", "[(<", "\u0301\u200b", '\\"')
"""Characters that are taken first where an expression takes several."""
_TAILS = ("\x01", "x y.1#" * 120)
_ALPHABET = "".join(map(chr, range(32, 127))) + "\n\t\u0301\u200b\ufe0f\u00e9\u4e2d\u202e\U000e0041"
_REPEATS = (_codes.MAX_REPEAT, _codes.MIN_REPEAT, _codes.POSSESSIVE_REPEAT)
_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    _codes.CATEGORY_DIGIT: str.isdigit,
    _codes.CATEGORY_NOT_DIGIT: lambda each: not each.isdigit(),
    _codes.CATEGORY_SPACE: str.isspace,
    _codes.CATEGORY_NOT_SPACE: lambda each: not each.isspace(),
    _codes.CATEGORY_WORD: lambda each: each.isalnum() or each == "_",
    _codes.CATEGORY_NOT_WORD: lambda each: not (each.isalnum() or each == "_"),
}


def make_pumps(regex: Regex) -> set[Pump]:
    """Texts to be repeated that keep an expression busy, made of what it takes."""
    tree = _parser.parse(regex.pattern.encode("latin-1") if regex.is_bytes else regex.pattern, regex.flags)
    pumps: set[Pump] = set()
    for taste in _TASTES:
        pumps.add(("", _sample(tree, taste), _TAILS[0]))
        for before, body in _find_repeats(tree, taste, ""):
            pumps |= {(before, body, tail) for tail in _TAILS}
            pumps |= {("", body, _TAILS[0]), ("", before + body, _TAILS[0]), ("", before, _TAILS[0])}
    return {pump for pump in pumps if pump[1]}


def _find_repeats(tree: Any, taste: str, before: str) -> Iterator[tuple[str, str]]:
    """Each large repeat: what comes before it, and what is repeated."""
    for op, value in tree:
        if op in _REPEATS:
            if value[1] > 8:
                yield before, _sample(value[2], taste)
            yield from _find_repeats(value[2], taste, before)
        elif op is _codes.SUBPATTERN:
            yield from _find_repeats(value[3], taste, before)
        elif op is _codes.ATOMIC_GROUP:
            yield from _find_repeats(value, taste, before)
        elif op is _codes.BRANCH:
            for branch in value[1][:12]:
                yield from _find_repeats(branch, taste, before)
        elif op in (_codes.ASSERT, _codes.ASSERT_NOT) and value[0] > 0:
            yield from _find_repeats(value[1], taste, before)
        before += _sample([(op, value)], taste)


def _sample(tree: Any, taste: str) -> str:
    """A text that fits, or nearly."""
    return "".join(_sample_one(op, value, taste) for op, value in tree)


def _sample_one(op: Any, value: Any, taste: str) -> str:
    if op is _codes.LITERAL:
        return chr(value)
    if op is _codes.NOT_LITERAL:
        return next(each for each in taste + "xy" if ord(each) != value)
    if op is _codes.ANY:
        return taste[0]
    if op is _codes.IN:
        allowed = _list_characters(
            tuple((kind, tuple(each) if isinstance(each, list) else each) for kind, each in value)
        )
        return next((each for each in taste + _ALPHABET if each in allowed), next(iter(allowed), ""))
    if op in _REPEATS:
        return _sample(value[2], taste) * min(max(value[0], 1), 400) if value[1] else ""
    if op is _codes.SUBPATTERN:
        return _sample(value[3], taste)
    if op is _codes.ATOMIC_GROUP:
        return _sample(value, taste)
    if op is _codes.BRANCH:
        return _sample(value[1][ord(taste[0]) % len(value[1])], taste)
    return ""


@cache
def _list_characters(items: Any) -> frozenset[str]:
    found: set[str] = set()
    for kind, value in items:
        if kind is _codes.LITERAL:
            found.add(chr(value))
        elif kind is _codes.RANGE:
            found |= {chr(value[0]), *(each for each in _ALPHABET if value[0] <= ord(each) <= value[1])}
        elif kind is _codes.CATEGORY:
            found |= set(filter(_CATEGORIES[value], _ALPHABET))
    return frozenset(set(_ALPHABET) - found if items[0][0] is _codes.NEGATE else found)


if __name__ == "__main__":
    json.dump(list(_record()), sys.stdout)
