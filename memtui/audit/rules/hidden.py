"""Deceptive text and names: what a person does not see, or sees otherwise than an agent reads it."""

import re
from collections.abc import Iterator
from dataclasses import replace

from memtui.audit.context import AuditContext, Note
from memtui.audit.model import AuditRule, Hit, read_rules
from memtui.audit.ranking import ALIKE
from memtui.notes.formats import detect_format
from memtui.scan.hidden import find_hidden
from memtui.scan.names import Oddity, find_oddities, find_twins, is_hidden, is_usual_hidden
from memtui.scan.secrets import find_secrets
from memtui.scan.spots import Spot
from memtui.scan.unrendered_text import ORDERS
from memtui.scan.work_budget import WorkBudget, WorkBudgetSpent

_MOST = 20  # findings of one rule in one note; the others are counted
_COUNTED = 200  # others that are counted; of more nobody wants to know how many
_WORK = 20_000_000  # characters within elements that are looked into
_UNTOLD = frozenset({
    "json", "jsonl", "csv", "tsv", "xml", "svg", "html", "log", "lock", "ipynb", "geojson", "map", "css", "js", "ts",
    "sql", "pem", "asc", "patch", "diff",
})  # fmt: skip
"""Formats that no person reads line by line: a long line is nothing new in them."""


_SENTENCE_END = re.compile(r"[.!?;:](?=[\s*_`)\"'])|[。！？；：]")
_PARAGRAPH, _SENTENCES = 5, 4
"""Times the limit that a paragraph may have, and ends of sentences and clauses in as many characters as the limit."""
_ALIKE = 3  # words with which comments of one template begin
_ONCE_A_LINE = frozenset({"invisible-character", "control-code", "unused-definition"})
"""Of these rules one place a line is enough."""

RULES: tuple[AuditRule, ...] = read_rules("hidden")
"""Unicode Standard Annex 9 and Unicode Technical Standards 39 and 51 say what is usual in text and names."""


def check_note(note: Note, subject: AuditContext) -> Iterator[Hit]:
    """What is hidden in one note.

    Raises:
        WorkBudgetSpent: It is not all.
    """
    text = note.text
    if text is None or note.is_binary:
        return
    counts: dict[str, int] = {}
    lines: dict[str, int] = {}
    last: dict[str, Hit] = {}
    known: list[tuple[int, int]] | None = None
    budget = WorkBudget(_WORK)
    for spot in find_hidden(text, note.path, budget):
        line_start = text.rfind("\n", max(0, spot.start - 10_000), spot.start)
        if lines.get(spot.rule) == line_start and spot.rule in _ONCE_A_LINE:
            continue
        lines[spot.rule] = line_start
        counts[spot.rule] = counts.get(spot.rule, 0) + 1
        if counts[spot.rule] > _MOST:
            continue
        if "“" in spot.words and known is None:
            known = [each.masked or (each.start, each.end) for each in note.secrets]
        hit = _build_hit(note.path, spot, known or [])
        if spot.rule in last:
            yield last[spot.rule]
        last[spot.rule] = hit
    for rule, hit in last.items():
        more = counts[rule] - _MOST
        many = f"{more:,}" if more < _COUNTED else "many"
        yield replace(hit, words=f"{hit.words}; {many} more places in this note") if more > 0 else hit
    yield from _find_long_line(note.path, text, subject.audit.max_line_characters)
    if budget.is_spent:
        raise WorkBudgetSpent


def _build_hit(path: str, spot: Spot, known: list[tuple[int, int]]) -> Hit:
    """A spot as a hit; where it holds a secret, its words say nothing of what it says."""
    words = spot.words
    if "“" in words and (
        any(start < spot.end and end > spot.start for start, end in known)
        or next(find_secrets(words), None) is not None
    ):
        start, end = words.find("“"), words.rfind("”")
        words = f"{words[:start]}words with a secret{words[end + 1 :] if end > start else ''}"
    hit = replace(Hit.from_spot(spot, path), words=words)
    if spot.rule not in {"html-comment", "html-passage"}:
        return hit
    return replace(hit, facts={ALIKE: _get_beginning(words) if ORDERS in words else ""})


def _get_beginning(words: str) -> str:
    """The first words of what is quoted: comments of one template share them. Those without orders are of one kind."""
    return " ".join(words.partition("“")[2].casefold().split()[:_ALIKE])


def _find_long_line(path: str, text: str, limit: int) -> Iterator[Hit]:
    """The longest line, if it is too long and meant to be read."""
    if not limit or len(text) <= limit or detect_format(path) in _UNTOLD:
        return
    start, longest, count = 0, (0, 0), 0
    lines = text.split("\n")
    if max(map(len, lines)) <= limit:
        return
    for line in lines:
        if len(line) > limit and _is_prose_line(line) and not _is_paragraph(line, limit):
            count += 1
            longest = max(longest, (len(line), -start))
        start += len(line) + 1
    if not count:
        return
    length, at = longest[0], -longest[1]
    more = f"; {count:,} such lines" if count > 1 else ""
    words = f"a line of {length:,} characters, over the usual {limit:,}{more}"
    facts = {"characters": length, "lines": count}
    yield Hit("overlong-line", path, words, start=at, end=at + length, facts=facts, identity="")


def _is_prose_line(line: str) -> bool:
    """Whether a long line is words, and no data: JSON, base64, a table's row."""
    probe = line[:4_000]
    if probe.lstrip()[:1] in ("{", "[", "<", "|"):
        return False
    words = probe.split()
    return len(words) * 20 > len(probe) and probe.count(",") + probe.count(";") + probe.count('"') < len(words)


def _is_paragraph(line: str, limit: int) -> bool:
    """Whether a line is a paragraph of sentences: programs that write notes break no lines, and screens do."""
    sentences = sum(1 for _ in _SENTENCE_END.finditer(line))
    return len(line) <= _PARAGRAPH * limit and sentences * limit >= _SENTENCES * len(line)


def check_folder(subject: AuditContext) -> Iterator[Hit]:
    """What is deceptive about names."""
    return subject.find_in_all("deceptive names", _check_names)


def _check_names(subject: AuditContext) -> Iterator[Hit]:
    below: dict[str, list[str]] = {}
    for path in (*subject.notes, *subject.others):
        directory, _, name = path.rpartition("/")
        below.setdefault(directory, []).append(name)
    for directory, names in below.items():
        if any(map(is_usual_hidden, directory.split("/"))):
            continue
        is_below_hidden = any(part.startswith(".") for part in directory.split("/"))
        for name in names:
            path = f"{directory}/{name}" if directory else name
            for oddity in find_oddities(name):
                yield _build_name_hit(path, oddity)
            if is_hidden(name) and not is_below_hidden:
                words = f"{_describe_entry(subject, path)} that listings leave out"
                yield _build_name_hit(path, Oddity("hidden-file", words))
        for name, oddity in find_twins(names):
            yield _build_name_hit(f"{directory}/{name}" if directory else name, oddity)


def _build_name_hit(path: str, oddity: Oddity) -> Hit:
    return Hit(oddity.rule, path, oddity.words, evidence="", identity=oddity.identity or path)


def _describe_entry(subject: AuditContext, path: str) -> str:
    other = subject.others.get(path)
    if other is None:
        return "a file"
    return {"directory": "a directory", "link": "a link"}.get(str(other.kind.value), "something")
