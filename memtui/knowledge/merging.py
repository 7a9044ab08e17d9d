"""The texts of notes that are merged, and of the notes into which one is split, before their links follow.

Each line of a new text tells from which line of which note it comes, so that a link in it can be told to lead to where
it led.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from memtui.core.lazy_dataclass import dataclass
from memtui.notes.front_matter import find_front_matter_end
from memtui.notes.inline_blocks import find_inline_blocks
from memtui.notes.links import Link, find_links
from memtui.notes.sections import MovedLine, SectionHeading, find_section_headings, shift_headings
from memtui.notes.spans import blank_code

_FENCES = tuple(mark * length for mark in "`~" for length in range(3, 9))
_CLOSERS = (*_FENCES, "-->", "</pre>", "</script>", "</style>", "</textarea>", "?>", "]]>")
"""What may close a block that is open at the end of a note."""
_PROBE = "memtui"
_FOOTNOTE = re.compile(r"^ {0,3}\[\^([^\[\]\s]{1,100})\]:", re.MULTILINE)
_FOOTNOTE_MARK = re.compile(r"\[\^([^\[\]\s]{1,100})\]")
_LABEL = re.compile(r"\[([^\[\]\n]{1,200})\]")
_REFERENCE = re.compile(r"!?\[([^\[\]\n]{1,400})\](?:\[([^\[\]\n]{0,200})\])?")


@dataclass(frozen=True, slots=True)
class Origin:
    """The lines of a note from which one line comes.

    Attributes:
        path: Of that note.
        first: The first of its lines, from 1.
        last: The last one.
    """

    path: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ComposedNote:
    """A note made of parts of others.

    Attributes:
        text: What it says.
        origins: Where each of its lines comes from; `None` for a line that is new.
    """

    text: str
    origins: tuple[Origin | None, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a note that may become a note of its own.

    Attributes:
        heading: The heading with which it begins.
        last: Its last line, from 1.
    """

    heading: SectionHeading
    last: int


class Uncloseable(ValueError):
    """A note ends in a block of code or HTML that cannot be closed, so that nothing can stand below it."""


class _Composer:
    """Puts the lines of a new note together."""

    def __init__(self, feed: str) -> None:
        self._feed = feed
        self._lines: list[str] = []
        self._origins: list[Origin | None] = []

    def add_new(self, text: str) -> None:
        """Add a line that stands in no note."""
        self._lines.append(text + self._feed)
        self._origins.append(None)

    def add(self, path: str, lines: Iterable[MovedLine], *, keeps_feeds: bool = True) -> None:
        """Add lines of a note."""
        for line in lines:
            self._lines.append(line.text if keeps_feeds else line.text.removesuffix("\r") + self._feed)
            self._origins.append(Origin(path, line.first, line.last) if line.first else None)

    def end_paragraph(self) -> None:
        """See that what is added next stands below one blank line, unless it is the first."""
        self.strip()
        if self._lines:
            last = self._lines[-1]
            self._lines[-1] = last if last.endswith("\r") or not self._feed else last + self._feed
            self.add_new("")

    def strip(self) -> None:
        """Drop blank lines at the end."""
        while self._lines and not self._lines[-1].strip():
            self._lines.pop()
            self._origins.pop()

    def finish(self, front: str = "") -> ComposedNote:
        """The note, which ends with a line feed.

        Args:
            front: Its front matter, with the line feed behind it.
        """
        self.strip()
        if self._lines and self._feed and not self._lines[-1].endswith("\r"):
            self._lines[-1] += self._feed
        if front.strip("\ufeff") and not front.endswith("\n"):
            front += f"{self._feed}\n"
        body = "\n".join([*self._lines, ""])
        if not front.strip("\ufeff") and find_front_matter_end(front + body):
            front += f"{self._feed}\n"  # a rule at its top is no front matter, whatever came below it
        above: list[Origin | None] = [None] * front.count("\n")
        return ComposedNote(front + body, (*above, *self._origins, None))


def _find_feed(*texts: str) -> str:
    """What stands before the line feeds of a note: of the first that has a line."""
    first = next((text for text in texts if "\n" in text), "")
    return "\r" if first.count("\r\n") * 2 > first.count("\n") else ""


def _find_first_line(text: str, start: int) -> int:
    """The number of the first line of a note's body, from 1, by the character at which it begins."""
    return text.count("\n", 0, start) + 1 + (start > 0 and text[start - 1] != "\n")


# Merging


def compose_merged(into: str, text: str, *, path: str, merged: str, title: str, front: str) -> ComposedNote:
    """The text of a note with that of another one below it, under a heading with its title, unless it says the same.

    Args:
        into: The note that stays.
        text: The note that goes into it.
        path: The path of the one that stays.
        merged: That of the one that goes.
        title: Its title, for the heading where it has none of its own.
        front: The front matter of the note as it is to be.

    Raises:
        Uncloseable: The note that stays ends in an open block.
    """
    feed = _find_feed(into, text)
    composer = _Composer(feed)
    lines = into.split("\n")
    start = find_front_matter_end(into)
    top = _find_first_line(into, start)
    if not start and into.startswith("\ufeff"):
        lines[0] = lines[0][1:]
    composer.add(path, (MovedLine(line, number, number) for number, line in enumerate(lines[top - 1 :], top)))
    if _get_body(into) != _get_body(text):
        closer = _find_closer(into)
        if closer:
            composer.strip()
            composer.add_new(closer)
        composer.end_paragraph()
        _add_below(composer, _rename_labels(text, into), merged, _find_level(into), title)
    has_mark = into.startswith("\ufeff") and not front.startswith("\ufeff")
    return composer.finish(f"\ufeff{front}" if has_mark else front)


def _get_body(text: str) -> str:
    """What a note says, whatever the ends of its lines."""
    return text[find_front_matter_end(text) :].replace("\r\n", "\n").removeprefix("\ufeff").strip()


def _add_below(composer: _Composer, text: str, path: str, level: int, title: str) -> None:
    """Add a note below a heading of a level: its own title if it has one, else a new heading."""
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    first = _find_first_line(text, find_front_matter_end(text))
    last = len(lines)
    while first <= last and not lines[first - 1].strip():
        first += 1
    while last >= first and not lines[last - 1].strip():
        last -= 1
    headings = find_section_headings(text)
    own = headings[0] if headings and headings[0].line == first else None
    if own is not None and all(other.level > own.level for other in headings[1:]):
        levels = level - own.level
    else:
        composer.add_new(f"{'#' * level} {title}")
        composer.add_new("")
        levels = level + 1 - min((heading.level for heading in headings), default=level + 1)
    moved = shift_headings(lines, headings, max(levels, 0), first=first, last=last)
    composer.add(path, moved, keeps_feeds=False)


def _find_level(text: str) -> int:
    """The level of a heading for what comes below a note: below its title, beside its sections."""
    levels = [heading.level for heading in find_section_headings(text.removeprefix("\ufeff"))]
    return 2 if not levels or levels.count(1) == 1 else min(levels)


def _find_closer(text: str) -> str:
    """The line that closes what is open at the end of a note; empty if nothing is. Raises `Uncloseable`."""
    for closer in ("", *_CLOSERS):
        whole = f"{text}\n{closer}\n\n{_PROBE}\n"
        blocks = find_inline_blocks(whole, find_front_matter_end(whole))
        last = blocks[-1] if blocks else None
        is_text = last is not None and last.text == _PROBE and not (last.is_item or last.is_quoted)
        if is_text and blank_code(whole).rstrip().endswith(_PROBE):
            return closer
    raise Uncloseable


def _rename_labels(text: str, other: str) -> str:
    """A note in which footnotes and definitions of links have labels that another note does not use."""
    taken = {_normalize(found) for found in _LABEL.findall(other)}
    links = [link for link in find_links(text, "") if link.form in ("definition", "reference")]
    lines = text.split("\n")
    defined = {_normalize(link.label) for link in links if link.form == "definition"}
    body = blank_code(text)
    defined |= {_normalize(f"^{label}") for label in _FOOTNOTE.findall(body)}
    names: dict[str, str] = {}
    for label in sorted(defined & taken):
        number = 2
        while (name := f"{label}-{number}") in taken or name in defined:
            number += 1
        names[label] = name
    if not names:
        return text
    edits = [edit for link in links if (edit := _relabel(link, lines, names)) is not None]
    edits += [
        (number, found.start() + 1, found.end() - 1, new)
        for number, line in enumerate(body.split("\n"), 1)
        for found in _FOOTNOTE_MARK.finditer(line)
        if (new := names.get(_normalize(f"^{found[1]}"))) is not None
    ]
    for number, begin, end, written in sorted(edits, reverse=True):
        lines[number - 1] = lines[number - 1][:begin] + written + lines[number - 1][end:]
    return "\n".join(lines)


def _relabel(link: Link, lines: Sequence[str], names: dict[str, str]) -> tuple[int, int, int, str] | None:
    """The place in a link at which its label is written anew: line, columns, and what stands there then."""
    line = lines[link.line - 1]
    begin, end = link.span
    if link.form == "definition":
        at = line.find("[", begin)
        name = names.get(_normalize(link.label))
        return (link.line, at + 1, line.index("]", at), name) if name is not None else None
    found = _REFERENCE.fullmatch(line[begin:end])
    if found is None or (name := names.get(_normalize(found[2] or found[1]))) is None:
        return None
    if found[2] is None:
        return link.line, end, end, f"[{name}]"
    return link.line, begin + found.start(2), begin + found.end(2), name


def _normalize(label: str) -> str:
    return " ".join(label.split()).casefold()


# Splitting


def find_split_level(headings: Sequence[SectionHeading]) -> int:
    """The highest level of which a note has several headings; 0 if there is none."""
    levels = [heading.level for heading in headings]
    return min((level for level in levels if levels.count(level) > 1), default=0)


def find_sections(text: str, level: int) -> list[Section]:
    """The sections of a note that begin with a heading of a level, each up to the next heading of that or a higher."""
    headings = find_section_headings(text)
    end = text.count("\n") + 1
    return [
        Section(heading, next((each.line - 1 for each in headings[at + 1 :] if each.level <= level), end))
        for at, heading in enumerate(headings)
        if heading.level == level
    ]


class NoteSplitter:
    """Makes notes of the sections of one.

    Args:
        text: What it says.
        path: Its path.
    """

    def __init__(self, text: str, path: str) -> None:
        self._text, self._path = text, path
        self._lines = text.split("\n")
        self._headings = find_section_headings(text)
        self._feed = _find_feed(text)
        self._body = blank_code(text).split("\n")
        self._footnotes = {
            _normalize(f"^{found[1]}"): number
            for number, line in enumerate(self._body, 1)
            if (found := _FOOTNOTE.match(line))
        }
        self._definitions: dict[str, int] = {}
        for link in find_links(text, path):
            if link.form == "definition":
                self._definitions.setdefault(_normalize(link.label), link.line)
        self._definitions |= self._footnotes

    def compose_section(self, section: Section, front: str) -> ComposedNote:
        """A section as a note: its heading is the title, and those below it are as much higher.

        Args:
            section: Which one.
            front: The front matter of the new note, with the line feed behind it; empty for none.
        """
        composer = _Composer(self._feed)
        first, last = section.heading.line, section.last
        headings = [each for each in self._headings if first <= each.line <= last]
        moved = shift_headings(self._lines, headings, 1 - section.heading.level, first=first, last=last)
        composer.add(self._path, moved)
        self._add_definitions(composer, [(first, last)])
        return composer.finish(front.replace("\n", f"{self._feed}\n"))

    def compose_rest(self, sections: Sequence[Section], write_entry: Callable[[Section], str]) -> ComposedNote:
        """What is left of the note, with a link in place of each section.

        Args:
            sections: What was taken out of it, in order.
            write_entry: Writes the line that leads to a section.
        """
        composer = _Composer(self._feed)
        start = find_front_matter_end(self._text)
        number = _find_first_line(self._text, start)
        kept: list[tuple[int, int]] = []
        is_in_list = False
        for section in sections:
            above = section.heading.line - 1
            if self._has_words(number, above):
                if is_in_list:
                    composer.end_paragraph()
                composer.add(self._path, self._list_lines(number, above))
                kept.append((number, above))
                is_in_list = False
            if not is_in_list:
                composer.end_paragraph()
            composer.add_new(write_entry(section))
            is_in_list, number = True, section.last + 1
        if self._has_words(number, len(self._lines)):
            composer.end_paragraph()
            composer.add(self._path, self._list_lines(number, len(self._lines)))
            kept.append((number, len(self._lines)))
        self._add_definitions(composer, kept)
        return composer.finish(self._text[:start])

    def _has_words(self, first: int, last: int) -> bool:
        return any(line.strip() for line in self._lines[first - 1 : last])

    def _list_lines(self, first: int, last: int) -> Iterator[MovedLine]:
        return (MovedLine(self._lines[number - 1], number, number) for number in range(first, last + 1))

    def _add_definitions(self, composer: _Composer, kept: Collection[tuple[int, int]]) -> None:
        """Add the definitions of links and footnotes that some lines use, and that stand in other lines."""
        if not self._definitions:
            return
        used = {
            _normalize(label)
            for first, last in kept
            for line in self._body[first - 1 : last]
            for label in _LABEL.findall(line)
        }
        places = {self._definitions[label] for label in used if label in self._definitions}
        missing = sorted(place for place in places if not any(first <= place <= last for first, last in kept))
        if missing:
            composer.end_paragraph()
        for number in missing:
            last = number
            is_footnote = number in self._footnotes.values()
            while is_footnote and last < len(self._lines) and self._lines[last].startswith(("  ", "\t")):
                last += 1
            composer.add(self._path, self._list_lines(number, last))
