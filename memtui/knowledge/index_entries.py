"""Adds the entry of a note to an index, in the form that its entries have.

A line of the index is the model: its bullet, the brackets of its link, and what stands between the link and the words
about the note. What is made is read again: if the new line does not lead to the note, nothing is written.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.knowledge.model import ParsedNote
from memtui.knowledge.parse import parse_note
from memtui.knowledge.rewriting import spell_target
from memtui.notes.links import Link

_BEFORE = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|(?P<number>[0-9]{1,9})[.)])[ \t]+(?:\[[ xX]\] )?(?P<mark>\*\*|__)?\Z")
_BEHIND = re.compile(r"(?P<mark>\*\*|__)?(?P<between>[ \t]*(?:[:,;|]|--?|\u2013|\u2014|\u2192|=>|->)[ \t]+)?")
_NO_LABEL = re.compile(r"[\[\]|`\\<>]+")
_LONGEST_LABEL, _LONGEST_HOOK = 80, 120
_DASH = " \u2014 "
"""What Claude Code writes between a link and the words about the note."""

Resolve = Callable[[Link, str], tuple[str, ...]]
"""The paths that a link may mean in a note, by the path of that one."""


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """An entry of an index that is alone in its line, and an item of a list.

    Attributes:
        target: The path to which it leads.
    """

    link: Link
    target: str


def find_model_entries(index: ParsedNote, text: str, resolve: Resolve) -> list[ModelEntry]:
    """The entries of an index after whose form another one can be written, in their order."""
    lines = text.split("\n")
    by_line: dict[int, list[Link]] = {}
    for each in index.links:
        by_line.setdefault(each.link.line, []).append(each.link)
    found: list[ModelEntry] = []
    for each in index.links:
        link = each.link
        line = lines[link.line - 1]
        is_alone = len(by_line[link.line]) == 1 and _BEFORE.match(line[: link.span[0]]) is not None
        if each.kind == "entry" and is_alone and link.form in ("wiki", "inline", "angled"):
            targets = resolve(link, index.path)
            if len(targets) == 1:
                found.append(ModelEntry(link, targets[0]))
    return found


def add_entry(
    text: str, index: str, note: ParsedNote, properties: Mapping[str, object], resolve: Resolve
) -> str | None:
    """The text of an index with one more entry; `None` where its form is not known, or the note cannot be named in it.

    The entry comes behind the last one of a note in the same directory, else behind the last one of all.

    Args:
        index: The path of the index.
        note: The note to be named.
        properties: Its front matter: a `description` is put behind the link.
    """
    models = find_model_entries(parse_note(text, index), text, resolve)
    if not models:
        return None
    folder = note.path.rpartition("/")[0]
    model = next((each for each in reversed(models) if each.target.rpartition("/")[0] == folder), models[-1])
    lines = text.split("\n")
    at = _find_end(lines, model.link.line)
    for line in _write_lines(lines[model.link.line - 1], model, index, note, properties):
        end = "\r" if lines[0].endswith("\r") else ""
        edited = [*lines[:at], line + end, *lines[at:]]
        if end and at == len(lines):  # the last line has no end
            edited[at - 1 :] = [edited[at - 1] + end, line]
        found = "\n".join(edited)
        there = [each.link for each in parse_note(found, index).links if each.link.line == at + 1]
        if len(there) == 1 and resolve(there[0], index) == (note.path,):
            return found
    return None


def _find_end(lines: Sequence[str], number: int) -> int:
    """How many lines there are up to the end of an item, with what is indented below it."""
    indent = len(lines[number - 1]) - len(lines[number - 1].lstrip(" \t"))
    while number < len(lines):
        line = lines[number]
        if not line.strip() or len(line) - len(line.lstrip(" \t")) <= indent:
            break
        number += 1
    return number


def _write_lines(
    line: str, model: ModelEntry, index: str, note: ParsedNote, properties: Mapping[str, object]
) -> list[str]:
    """How the line of the entry may be written, the most alike to the model first."""
    link = model.link
    before = line[: link.span[0]]
    start = _BEFORE.match(before)
    behind = _BEHIND.match(line, link.span[1])
    assert start is not None
    assert behind is not None
    if start["number"] is not None:
        before = f"{before[: start.start('number')]}{int(start['number']) + 1}{before[start.end('number') :]}"
    described = properties.get("description")
    hook = _clean(described, _LONGEST_HOOK) if isinstance(described, str) else ""
    between = behind["between"] or _DASH
    rest = (start["mark"] or "") * (behind["mark"] == start["mark"]) + (f"{between}{hook}" if hook else "")
    label = _clean(note.title, _LONGEST_LABEL)
    found: list[str] = []
    for target in dict.fromkeys(spell_target(link, model.target, note.path, index)):
        if link.form == "wiki":
            has_label = link.label != link.target and "|" in line[link.span[0] : link.span[1]]
            written = f"[[{target}|{label}]]" if has_label and label not in ("", target) else f"[[{target}]]"
        else:
            is_path = link.label == link.target
            shown = target if is_path or not label else label
            written = f"[{shown}](<{target}>)" if link.form == "angled" else f"[{shown}]({target})"
        found.append(before + written + rest)
    return found


def _clean(words: str, most: int) -> str:
    """Words of a note that are no markup in a line of an index, as one line."""
    plain = " ".join(_NO_LABEL.sub(" ", to_one_line(words)).split())
    if len(plain) <= most:
        return plain
    return plain[:most].rpartition(" ")[0].rstrip(" ,.;:") + "\u2026" if " " in plain[:most] else plain[:most]
