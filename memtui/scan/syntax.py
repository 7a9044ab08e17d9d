"""What in a note cannot be read as the format that its name promises."""

import re
from collections.abc import Callable, Iterator

from memtui.core.unicode import to_one_line
from memtui.notes.formats import (
    FormatProblem,
    check_json,
    check_jsonc,
    check_toml,
    check_xml,
    check_yaml,
    detect_format,
)
from memtui.notes.front_matter import parse_front_matter
from memtui.scan.spots import Spot

_READERS: dict[str, tuple[str, Callable[[str], FormatProblem | None]]] = {
    "json": ("JSON", check_json),
    "ipynb": ("JSON", check_json),
    "geojson": ("JSON", check_json),
    "yaml": ("YAML", check_yaml),
    "toml": ("TOML", check_toml),
    "xml": ("XML", check_xml),
    "svg": ("XML", check_xml),
    "opml": ("XML", check_xml),
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
_MOST = 20  # broken lines of one note that are yielded


def has_syntax(text: str, path: str) -> bool:
    """Whether a text is read as a format in which something can be broken."""
    kind = detect_format(path)
    return kind in _READERS or kind == "jsonl" or (kind in _WITH_FRONT_MATTER and text.startswith(_OPENINGS))


_OPENINGS = ("---", "\ufeff---")


def find_broken(text: str, path: str) -> Iterator[Spot]:
    """What cannot be read in a text, in order."""
    kind = detect_format(path)
    if kind in _WITH_FRONT_MATTER:
        if text.startswith(_OPENINGS):
            yield from _find_front_matter(text)
    elif kind == "jsonl":
        yield from _find_broken_lines(text)
    elif kind in _READERS:
        name, fault_of = _READERS[kind]
        if kind == "json" and _WITH_COMMENTS.fullmatch(path):
            fault_of = check_jsonc
        fault = fault_of(text)
        if fault is not None:
            yield _make_spot(fault, name, 0, len(text))


def _make_spot(fault: FormatProblem, name: str, start: int, length: int) -> Spot:
    words = fault.words if fault.rule == "xml-entity" else f"invalid {name}: {to_one_line(fault.words[:300])}"
    at = start + fault.offset
    return Spot("broken", fault.rule, at, min(at + 1, start + length) if length > fault.offset else at, words)


def _find_broken_lines(text: str) -> Iterator[Spot]:
    """Lines that are no JSON; where nearly all are none, only the first ones."""
    count = 0
    start = 0
    for line in text.split("\n"):
        if line.strip() and (fault := check_json(line)) is not None:
            words = FormatProblem("broken-json", fault.offset, fault.words.rpartition(", line")[0] or fault.words)
            yield _make_spot(words, "JSON", start, len(line))
            count += 1
            if count >= _MOST:
                return
        start += len(line) + 1


def _find_front_matter(text: str) -> Iterator[Spot]:
    matter = parse_front_matter(text)
    if matter.problem:
        inside = text[: matter.end]
        begin = inside.find("\n") + 1
        end = max((found.start() for found in _CLOSING.finditer(inside)), default=len(inside))
        if check_yaml(inside[begin:end]) is not None:  # what a reader of YAML can read is only written unusually
            start, end, words = _locate_problem(matter.problem, text)
            yield Spot("broken", "broken-front-matter", start, end, f"invalid front matter: {words}")
    elif not matter.end and _NEVER_CLOSED.match(text):
        closed = _CLOSING.search(text, 4)
        words = "the front matter is too long" if closed else "the front matter is never closed"
        yield Spot("broken", "broken-front-matter", 0, text.find("\n"), words)


def _locate_problem(problem: str, text: str) -> tuple[int, int, str]:
    """The line that a problem of the front matter is about, and the problem without its number."""
    found = _LINE.match(problem)
    start = 0
    for _ in range(int(found[1]) - 1 if found else 0):
        start = text.find("\n", start) + 1
    end = text.find("\n", start)
    return start, len(text) if end < 0 else end, to_one_line((found[2] if found else problem).rstrip("."))
