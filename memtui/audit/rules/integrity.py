"""Whether a folder and its record are whole: what memtui did not record, what leads elsewhere, what cannot be read."""

from collections.abc import Iterator

from memtui.audit.context import TEXTS, AuditContext, Note, OtherEntry
from memtui.audit.model import AuditRule, Hit, read_rules
from memtui.audit.outside import find_external_changes
from memtui.core.edits import format_human_size
from memtui.core.errors import Refusal
from memtui.core.events import EntryKind
from memtui.core.messages import MessageKey, summarize_refusal
from memtui.core.paths import MAX_LEVELS, ROOT_NAME, parse_path
from memtui.core.settings import Settings
from memtui.core.text_format import DecodedText
from memtui.core.unicode import to_one_line
from memtui.core.wording import PLAIN, format_count, format_size
from memtui.engine import JournalSource
from memtui.notes.formats import detect_format
from memtui.review.tracks import iter_event_bodies
from memtui.scan.names import find_oddities
from memtui.scan.syntax import find_broken, has_syntax

_REFUSED = b'"result":"refused"'
_REPAIR = b'"command":"repair"'
_SHOWN = 3
_BINARY = frozenset({
    "png", "jpg", "jpeg", "gif", "webp", "avif", "heic", "bmp", "ico", "tiff", "pdf", "zip", "gz", "tgz", "xz", "bz2",
    "zst", "7z", "tar", "db", "sqlite", "sqlite3", "mp3", "mp4", "m4a", "wav", "ogg", "webm", "mov", "woff", "woff2",
    "ttf", "otf", "docx", "xlsx", "pptx", "odt", "epub", "pyc", "bin", "ds_store", "npy", "npz", "parquet", "pkl",
    "swp",
})  # fmt: skip
"""Endings of files that are no text, and need not be."""


RULES: tuple[AuditRule, ...] = read_rules("integrity")


def check_note(note: Note, subject: AuditContext) -> Iterator[Hit]:
    """What is wrong with one file."""
    if note.decoded is not None and note.data is not None:
        yield from _check_encoding(note.path, note.data, note.decoded)
        if not note.is_binary:
            yield from (Hit.from_spot(spot, note.path) for spot in find_broken(note.decoded.text, note.path))
    limit = subject.memory.max_file_bytes
    is_applied = bool(subject.on_disk) or limit != Settings().max_file_bytes  # agents without memtui have no such limit
    if limit and note.size > limit and is_applied:
        words = f"it has {format_human_size(note.size)}, over the limit of {format_human_size(limit)} for a file"
        yield Hit.for_file(note.path, "over-limit", words, bytes=note.size, limit=limit)
    if note.links > 1:
        names = f"{note.links} names" if note.links > 2 else "a second name"
        yield Hit.for_file(note.path, "hard-link", f"the file has {names} on its file system", links=note.links)


def _check_encoding(path: str, data: bytes, decoded: DecodedText) -> Iterator[Hit]:
    """A text of another encoding. Binary files need not be text."""
    kind, at = detect_format(path), decoded.wrong_at
    if at is None or kind in _BINARY or path.rpartition("/")[2].lower() == ".ds_store":
        return
    if not decoded.has_byte_lines:
        words = f"not UTF-8 text: it is read as {decoded.encoding}"
        yield Hit.for_file(path, "not-utf8", words, byte=1, line=1)
    elif kind in TEXTS or not decoded.is_binary:
        line = data.count(b"\n", 0, at) + 1
        words = f"not UTF-8 text: \\x{data[at]:02x} at byte {at + 1:,}, in line {line:,}"
        yield Hit.for_file(path, "not-utf8", words, byte=at + 1, line=line)


def check_folder(subject: AuditContext) -> Iterator[Hit]:
    """What is wrong with the folder as a whole, and with its record."""
    for other in subject.others.values():
        yield from _check_other_entry(other)
    yield from subject.find_in_all("files", _count_checks)
    yield from subject.find_in_all("names", _check_names)
    yield from _check_limits(subject)
    yield from _check_journal(subject)


def _count_checks(subject: AuditContext) -> Iterator[Hit]:
    """Say what the rules about files and names looked at; nothing is found here."""
    yield from ()
    notes, memory, counted = subject.notes.values(), subject.memory, subject.log.counted
    links = sum(other.kind is EntryKind.LINK for other in subject.others.values())
    names = format_count(len(subject.notes) + len(subject.others), "name")
    of_links = f"none of {format_count(links, 'link')}" if links else "no link"
    counted["paths"] = f"{of_links} among {names} leaves {ROOT_NAME}"
    texts = [note for note in notes if note.text is not None and not note.is_binary]
    parsed = sum(has_syntax(note.text or "", note.path) for note in texts)
    counted["format"] = f"{len(texts):,} of {format_count(len(notes), 'file')} are text, {parsed:,} with a syntax parse"
    largest = format_size(max((note.size for note in notes), default=0), PLAIN)
    limits = format_size(memory.max_file_bytes, PLAIN) if memory.max_file_bytes else "none"
    counted["size"] = f"largest of {format_count(len(notes), 'file')} {largest}, limit {limits}"


def _check_other_entry(other: OtherEntry) -> Iterator[Hit]:
    target = f"“{to_one_line(other.target)}”"
    if other.kind is EntryKind.LINK and other.leaves_folder:
        yield Hit.for_file(other.path, "link-leaves", f"a link out of the folder, to {target}", target=other.target)
    elif other.kind is EntryKind.LINK and other.is_dangling:
        words = f"a link to {target}, which does not exist" if not other.problem else f"a link to {target}: "
        yield Hit.for_file(other.path, "dangling-link", words + _to_clause(other.problem), target=other.target)


def _check_names(subject: AuditContext) -> Iterator[Hit]:
    """Names that the engine would reject; names that only look deceptive belong to another family."""
    for path in (*subject.notes, *subject.others):
        name = path.rpartition("/")[2]
        try:
            parse_path(f"{ROOT_NAME}/{name}", making=True)
        except Refusal as refusal:
            if any(oddity.rule == "deceptive-name" for oddity in find_oddities(name)):
                continue
            what = {
                MessageKey.ESCAPES: "the name reads as another path once it is decoded",
                MessageKey.NAME_TOO_LONG: "the name is longer than 255 bytes",
            }.get(refusal.message, "the name holds a character that is not allowed")
            yield Hit.for_file(path, "forbidden-name", f"{what}: “{to_one_line(name)}”")


def _check_limits(subject: AuditContext) -> Iterator[Hit]:
    memory = subject.memory
    total = sum(note.size for note in subject.notes.values())
    if memory.max_total_bytes and total > memory.max_total_bytes:
        limit = format_human_size(memory.max_total_bytes)
        words = f"the folder has {format_human_size(total)}, over its limit of {limit}"
        yield Hit.for_file("", "over-limit", words, "bytes", bytes=total, limit=memory.max_total_bytes)
    files = len(subject.notes)
    if memory.max_files and files > memory.max_files:
        words = f"the folder has {files:,} files, over its limit of {memory.max_files:,}"
        yield Hit.for_file("", "over-limit", words, "files", files=files, limit=memory.max_files)
    for path in (*subject.notes, *subject.others):
        levels = path.count("/") + 1
        if levels == MAX_LEVELS + 1:  # what is further down is not told again
            words = f"it is {levels} levels deep, over the limit of {MAX_LEVELS}"
            words += ": no agent can name it, or what is below it"
            yield Hit.for_file(path, "over-limit", words, levels=levels)


def _check_journal(subject: AuditContext) -> Iterator[Hit]:
    """What is wrong with the record, and what it tells."""
    recorded = subject.observer.recorded
    if not subject.on_disk and not recorded.is_damaged and (recorded.source is JournalSource.NONE or subject.notes):
        words = _to_clause(recorded.problem) or "this folder had no history before"
        yield Hit.for_file("", "no-journal", words)
    if subject.has_enabled_rule("chain-broken", "outside-change"):
        _count_journal(subject)
    if subject.has_enabled_rule("chain-broken") and subject.chain.state == "broken":
        yield Hit.for_file("", "chain-broken", f"the history is {subject.chain.words}")
    yield from _has_reviewed_head(subject)
    since = (subject.inbox.since or None) if subject.inbox is not None else None
    if subject.has_enabled_rule("outside-change"):
        yield from find_external_changes(subject, since)
    if subject.has_enabled_rule("record-repaired"):
        yield from _report_repairs(subject, since or 0)
    if subject.has_enabled_rule("refused-outside"):
        yield from _report_refused_calls(subject, since or 0)


def _count_journal(subject: AuditContext) -> None:
    """Say how much of the journal was checked, or why it was not."""
    chain = subject.chain
    if chain.state == "intact":
        subject.log.counted["journal"] = chain.words
        against = f"{format_count(len(subject.notes), 'file')} against {format_count(subject.on_disk, 'event')}"
        subject.log.counted["outside"] = f"no change by another program, {against}"
    elif chain.state == "none":
        subject.log.skip("there is no journal", "chain-broken", "outside-change")
    elif chain.state == "unknown":
        subject.log.skip(chain.words, "chain-broken", "outside-change")


def _has_reviewed_head(subject: AuditContext) -> Iterator[Hit]:
    """Whether the record still holds what the last reviewer saw of it."""
    marks = [mark for mark in subject.inbox.marks if mark.head] if subject.inbox is not None else []
    if not marks:
        return
    mark = max(marks, key=lambda mark: mark.at_us)
    by = f"which {to_one_line(mark.reviewer)} noted" if mark.reviewer else "which a reviewer noted"
    if mark.seq > subject.on_disk:
        words = f"event {mark.seq:,}, {by}, is not in the history, which ends with event {subject.on_disk:,}"
    else:
        event = subject.observer.history.get_event(mark.seq) if mark.seq else None
        if not mark.seq or (event is not None and event.hash.startswith(mark.head)):
            return
        words = f"event {mark.seq:,} is not the one {by}: the history was rewritten or replaced"
    yield Hit.for_file("", "head-gone", words, f"{mark.seq} {mark.head}", seq=mark.seq)


def _report_refused_calls(subject: AuditContext, after: int) -> Iterator[Hit]:
    """Calls that named places outside the folder, together."""
    history = subject.observer.history
    count, last = 0, 0
    shown: list[str] = []
    for number, body in iter_event_bodies(subject.observer, after, subject.on_disk):
        if _REFUSED not in body:
            continue
        event = history.get_event(number)
        if event is None or summarize_refusal(event) != "outside /memories":
            continue
        count, last = count + 1, number
        if len(shown) < _SHOWN and (path := to_one_line(event.path[:200])) not in shown:
            shown.append(path)
    if count:
        calls = "1 call" if count == 1 else f"{count:,} calls"
        words = f"{calls} tried to leave the folder: {', '.join(f'“{path}”' for path in shown)}"
        yield Hit.for_file("", "refused-outside", words, f"{last}", calls=count, seq=last)


def _report_repairs(subject: AuditContext, after: int) -> Iterator[Hit]:
    """Where tables of the record were made anew, together."""
    history = subject.observer.history
    bodies = iter_event_bodies(subject.observer, after, subject.on_disk)
    events = [event for number, body in bodies if _REPAIR in body and (event := history.get_event(number)) is not None]
    if events:
        last = events[-1]
        more = f", and at {format_count(len(events) - 1, 'event')} before" if len(events) > 1 else ""
        words = f"at event {last.seq:,} the history was repaired where it did not match the events{more}"
        yield Hit.for_file("", "record-repaired", f"{words}: {last.note}", f"{last.seq}", seq=last.seq)


def _to_clause(sentence: str) -> str:
    """A sentence as a part of another one."""
    return sentence[:1].lower() + sentence[1:].rstrip(".")
