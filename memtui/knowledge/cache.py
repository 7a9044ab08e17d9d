"""What was read of notes, kept beside the journal, so that the next graph reads only those that changed.

A note is known by its path and the hash of its text, which the journal knows without opening the file. What is kept
counts for one version of the code that read it. The file holds words of the notes, as the journal does: it is as
private, it holds what was in the folder when it was written and nothing older, and whatever removes a text from the
journal removes this file (`memtui.engine.redaction`).
"""

import contextlib
import hashlib
import itertools
import json
import os
from collections.abc import Mapping
from typing import Any

from memtui.core.code_hash import hash_packages
from memtui.fs.atomic import write_atomic
from memtui.fs.no_atime import read_regular_file
from memtui.knowledge.model import Heading, NoteLink, Observation, ParsedNote, TimeQualifier
from memtui.notes.links import Link

MOST_BYTES = 512_000_000
"""Of what is read and kept: about half a million notes."""
_KIND = "memtui notes 2"
_CODE = ("knowledge", "notes")

Key = tuple[str, str]
"""The path of a note, and the SHA-256 of its text."""
KnownNotes = dict[Key, ParsedNote | None]
"""What was read; `None` for what is no text."""


def read_known_notes(path: str | os.PathLike[str] | None) -> KnownNotes:
    """What was kept in a file; nothing for no path, and of a file that is damaged or of another version."""
    if path is None:
        return {}
    try:
        data = read_regular_file(os.fspath(path), MOST_BYTES) or b""
        sha256, _, body = data.partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != sha256:
            return {}
        head, *lines = str(body, "ascii").split("\n")
        if json.loads(head) != _get_head():
            return {}
        rows = map(_decode_line, lines)
        return {(row[0], row[1]): _decode_note(row[0], row[2]) for row in rows}
    except (OSError, ValueError, TypeError, LookupError):
        return {}


def keep_known_notes(path: str | os.PathLike[str], notes: Mapping[Key, ParsedNote | None]) -> None:
    """Keep what was read. Where nothing can be kept, the next graph reads all notes."""
    rows = ([*key, _encode_note(note)] for key, note in notes.items())
    # A line for each note: one call for all would let no other thread work for a second. Halves of pairs are named.
    body = "\n".join(map(_encode_line, itertools.chain([_get_head()], rows))).encode("ascii")
    data = hashlib.sha256(body).hexdigest().encode() + b"\n" + body
    if len(data) <= MOST_BYTES:
        with contextlib.suppress(OSError):
            write_atomic(path, data, sync=False)


_encode_line = json.JSONEncoder(separators=(",", ":")).encode
_decode_line = json.JSONDecoder().decode


def _get_head() -> list[str]:
    """What a file begins with whose rows are as this code has them."""
    return [_KIND, hash_packages(_CODE)]


def _encode_note(note: ParsedNote | None) -> list[Any] | None:
    if note is None:
        return None
    return [
        note.title,
        note.names,
        note.type,
        note.tags,
        note.permalink,
        note.status,
        [[each.line, each.level, each.text] for each in note.headings],
        [
            [each.category, each.content, each.tags, each.context, _encode_time(each.time), each.line, *each.span]
            for each in note.observations
        ],
        [_encode_link(each) for each in note.links],
    ]


def _encode_time(time: TimeQualifier | None) -> list[Any] | None:
    if time is None:
        return None
    return [time.kind, time.start, time.end, time.text, time.has_start, time.has_end, time.is_empty]


def _encode_link(each: NoteLink) -> list[Any]:
    link = each.link
    row = [each.kind, each.relation, each.context, link.kind, link.target, link.path, link.fragment, link.label]
    return [*row, link.line, *link.span, link.form, *(link.target_span or ())]


def _decode_note(path: str, row: list[Any] | None) -> ParsedNote | None:
    if row is None:
        return None
    title, names, kind, tags, permalink, status, headings, observations, links = row
    return ParsedNote(
        path, title, tuple(names), kind, tuple(tags), permalink, status,
        tuple(Heading(*each) for each in headings),
        tuple(map(_decode_observation, observations)),
        tuple(map(_decode_link, links)),
    )  # fmt: skip


def _decode_observation(row: list[Any]) -> Observation:
    category, content, tags, context, time, line, start, end = row
    qualifier = TimeQualifier(*time) if time is not None else None
    return Observation(category, content, tuple(tags), context, qualifier, line, (start, end))


def _decode_link(row: list[Any]) -> NoteLink:
    kind, relation, context, link_kind, target, path, fragment, label, line, start, end, form, *place = row
    target_span = (place[0], place[1]) if place else None
    link = Link(link_kind, target, path, fragment, label, line, (start, end), form, target_span)
    return NoteLink(kind, link, relation, context)
