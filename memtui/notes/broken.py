"""What in a note cannot be read as the format that its name promises."""

import re
from collections.abc import Callable, Iterator

from memtui.core.visible import one_line
from memtui.notes.formats import Fault, commented_json_fault, json_fault, toml_fault, xml_fault, yaml_fault
from memtui.notes.front_matter import front_matter_of
from memtui.notes.kinds import format_of
from memtui.notes.spots import Spot

_READERS: dict[str, tuple[str, Callable[[str], Fault | None]]] = {
    "json": ("JSON", json_fault),
    "ipynb": ("JSON", json_fault),
    "geojson": ("JSON", json_fault),
    "yaml": ("YAML", yaml_fault),
    "toml": ("TOML", toml_fault),
    "xml": ("XML", xml_fault),
    "svg": ("XML", xml_fault),
    "opml": ("XML", xml_fault),
}
_WITH_COMMENTS = re.compile(
    r"(?:.*/)?\.(?:vscode|devcontainer|zed)/[^/]+|(?:.*/)?(?:(?:ts|js)config[\w.-]*|settings(?:\.local)?|keybindings|launch|"
    r"tasks|extensions|devcontainer|\.\w+rc|\.eslintrc|biome|turbo|deno|nx|api-extractor)\.json",
    re.IGNORECASE,
)
"""JSON in which the programs that it is for read comments."""
_WITH_FRONT_MATTER = frozenset({"md", "txt"})
_NEVER_CLOSED = re.compile(
    r"\ufeff?---[ \t]*\r?\n"
    r"(?:(?:name|title|description|type|tags|metadata|date|aliases|created|id)[ \t]*:[^\n]*\n){1,3}"
)
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_LINE = re.compile(r"Line (\d{1,6}), in the front matter: (.*)", re.DOTALL)
_MOST = 20
"""Broken lines of one note that are told."""


def broken(text: str, path: str) -> Iterator[Spot]:
    """What cannot be read in a text, in order."""
    kind = format_of(path)
    if kind in _WITH_FRONT_MATTER:
        if text.startswith(("---", "\ufeff---")):
            yield from _front_matter(text)
    elif kind == "jsonl":
        yield from _lines(text)
    elif kind in _READERS:
        name, fault_of = _READERS[kind]
        if kind == "json" and _WITH_COMMENTS.fullmatch(path):
            fault_of = commented_json_fault
        fault = fault_of(text)
        if fault is not None:
            yield _spot(fault, name, 0, len(text))


def _spot(fault: Fault, name: str, start: int, length: int) -> Spot:
    words = fault.words if fault.rule == "xml-entity" else f"no {name}: {one_line(fault.words[:300])}"
    at = start + fault.at
    return Spot("broken", fault.rule, at, min(at + 1, start + length) if length > fault.at else at, words)


def _lines(text: str) -> Iterator[Spot]:
    """Lines that are no JSON; where nearly all are none, only the first ones."""
    told = 0
    start = 0
    for line in text.split("\n"):
        if line.strip() and (fault := json_fault(line)) is not None:
            words = Fault("broken-json", fault.at, fault.words.rpartition(", line")[0] or fault.words)
            yield _spot(words, "JSON", start, len(line))
            told += 1
            if told >= _MOST:
                return
        start += len(line) + 1


def _front_matter(text: str) -> Iterator[Spot]:
    matter = front_matter_of(text)
    if matter.problem:
        inside = text[: matter.end]
        begin = inside.find("\n") + 1
        end = max((found.start() for found in _CLOSING.finditer(inside)), default=len(inside))
        if yaml_fault(inside[begin:end]) is not None:  # what a reader of YAML can read is only written unusually
            start, end, words = _place_of(matter.problem, text)
            yield Spot("broken", "broken-front-matter", start, end, f"no front matter: {words}")
    elif not matter.end and _NEVER_CLOSED.match(text):
        closed = _CLOSING.search(text, 4)
        words = "the front matter is longer than is read" if closed else "the front matter is never closed"
        yield Spot("broken", "broken-front-matter", 0, text.find("\n"), words)


def _place_of(problem: str, text: str) -> tuple[int, int, str]:
    """The line that a problem of the front matter is about, and the problem without its number."""
    found = _LINE.match(problem)
    start = 0
    for _ in range(int(found[1]) - 1 if found else 0):
        start = text.find("\n", start) + 1
    end = text.find("\n", start)
    return start, len(text) if end < 0 else end, one_line((found[2] if found else problem).rstrip("."))
