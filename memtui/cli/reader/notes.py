"""One note: reading it out, its history, and its menu."""

from collections.abc import Callable, Sequence
from functools import partial

from memtui.cli.reader import actions, edit, sentences
from memtui.cli.reader.sentences import format_event_sentence, format_time
from memtui.cli.reader.session import PHRASES, ReaderSession
from memtui.core.edits import count_lines
from memtui.core.events import Change, EntryKind, Event, Version
from memtui.core.history import DeletedPath, PathVersion
from memtui.core.paths import MemoryPath, covers
from memtui.core.unicode import HIDDEN
from memtui.core.wording import (
    SPOKEN,
    estimate_token_count,
    format_by_actor,
    format_count,
    format_event_clause,
    format_size,
)
from memtui.flows.undo import restore_deleted, restore_version

_MOST = 1_000
"""Versions of a note that are listed."""
_BINARY_WITHIN = 8_192
"""Bytes in which a NUL makes a text binary."""


def visit_note(session: ReaderSession, path: str) -> None:
    """Offer the actions on a note, until the person goes back or it is gone."""
    dialog = session.dialog
    while True:
        entry = session.get_entry(path)
        if entry is None:
            dialog.say(f"{path} was deleted. Deleted notes lists what can be restored.")
            return
        choices: dict[str, Callable[[], object]] = {
            "Read": partial(read_note, session, path),
            "Read with line numbers": partial(read_note, session, path, numbered=True),
            "Read the agent's view": partial(_read_agent_view, session, path),
            "History": partial(visit_history, session, path),
            "Edit": partial(_edit, session, path, entry.kind),
            "Rename or move": partial(actions.rename, session, path),
            "Copy": partial(actions.copy, session, path),
            "Delete": partial(actions.delete, session, path),
            "Details": partial(_say_details, session, path),
            "Links": partial(_follow_link, session, path),
            "Blame": partial(_read_blame, session, path),
            "Unprotect" if session.is_protected(path) else "Protect from agents": partial(
                actions.protect, session, path
            ),
        }
        chosen = dialog.choose(f"{path}.", list(choices.items()))
        if chosen is None:
            return
        match chosen():
            case True:
                return  # it was deleted
            case str(new):
                path = new


def _edit(session: ReaderSession, path: str, kind: EntryKind) -> None:
    if kind is EntryKind.OTHER:
        session.dialog.say("It is a FIFO, a socket or a device: there is no text to edit.")
    else:
        edit.edit_note(session, path)


# Its history


def visit_history(session: ReaderSession, path: str) -> None:
    """Offer the versions of a note, the newest first."""

    def list_choices() -> tuple[str, Sequence[tuple[str, PathVersion]]]:
        rows = session.engine.history.versions_of(path, limit=_MOST)
        choices = [(_format_row(row, is_newest=not number), row) for number, row in enumerate(rows)]
        return f"History of {path}, newest first.", choices

    for row in session.dialog.browse(list_choices, empty=f"{path} has no history."):
        visit_version(session, path, row)


def visit_version(session: ReaderSession, path: str, row: PathVersion) -> None:
    """Offer the actions on one version of a note, which is now at `path`."""
    dialog, engine = session.dialog, session.engine
    version = row.before if row.after is None else row.after
    then = f"as it was {'before' if row.after is None else 'after'} event {row.event.seq}"

    def read_changes_since() -> None:
        now = engine.history.get_version_at(path, engine.get_head()[0])
        dialog.read_out(sentences.describe_change(engine, Change(path, version, now)))

    dialog.perform(
        format_event_sentence(row.event, numbered=True),
        {
            "What it changed": lambda: dialog.read_out(sentences.describe_row(engine, row)),
            "Changes since then": read_changes_since,
            f"Read it {then}": lambda: _read_version(session, f"{path} {then}", version),
            f"Restore it {then}": lambda: _restore_version(session, path, row, then),
            "Undo this change": lambda: actions.undo(session, row.event.seq),
        },
    )


def visit_deleted(session: ReaderSession) -> None:
    """Offer the deleted notes."""

    def list_choices() -> tuple[str, Sequence[tuple[str, DeletedPath]]]:
        deleted = session.engine.history.find_deleted()
        return "Deleted notes, latest first.", [(_format_deleted(each), each) for each in deleted]

    for deleted in session.dialog.browse(list_choices, empty="Nothing is deleted."):
        _visit_deleted_note(session, deleted)


def _visit_deleted_note(session: ReaderSession, deleted: DeletedPath) -> None:
    def restore() -> bool:
        is_writable = session.check_writable("Not restored")
        if is_writable:
            session.report(restore_deleted(PHRASES, session.engine, [deleted]))
        return is_writable

    session.dialog.perform(
        f"{deleted.path}, deleted.",
        {
            "Read": lambda: _read_version(session, deleted.path, deleted.version),
            "Restore": restore,
            "History": lambda: visit_history(session, deleted.path),
        },
    )


def _restore_version(session: ReaderSession, path: str, row: PathVersion, moment: str) -> None:
    engine = session.engine

    def show(change: Change) -> None:
        session.dialog.say("Changes:")
        session.dialog.read_out(sentences.describe_change(engine, change))

    newest = engine.history.versions_of(path, limit=1)[0]
    session.change(
        "Not restored", lambda dialog, engine: restore_version(dialog, engine, path, row, newest, moment, show)
    )


def _format_row(row: PathVersion, *, is_newest: bool) -> str:
    now = " This is the current version." if is_newest and row.after is not None and row.moved_to is None else ""
    return f"{format_time(row.event)} {format_event_clause(row.event, SPOKEN)}.{now}"


def _format_deleted(deleted: DeletedPath) -> str:
    kept = "" if deleted.is_stored else ", its text is not kept"
    return f"{deleted.path}, at {format_time(deleted.event)}, {format_by_actor(deleted.event)}{kept}"


# Reading


def read_note(session: ReaderSession, path: str, *, start: int = 1, numbered: bool = False) -> None:
    """Read a note out, from a line on."""
    seen = session.engine.inspect_path(path)
    if seen.data is None:
        session.dialog.say(seen.problem or f"{path} is not a file: there is nothing to read.")
        return
    event = session.engine.history.find_last_event(path, session.engine.get_head()[0])
    origin = ""
    if event is not None and event.command == "found":
        origin = f" Not changed since memtui found it at {format_time(event)}."
    elif event is not None:
        origin = f" Changed last at {format_time(event)}, {format_by_actor(event)}."
    _read_text(session, path, seen.data, origin, start=start, numbered=numbered)


def _read_version(session: ReaderSession, name: str, version: Version | None) -> None:
    if version is None or version.kind is EntryKind.DIRECTORY:
        session.dialog.say("It did not exist." if version is None else "It was a directory.")
        return
    data = session.engine.history.text(version)
    if data is None:
        session.dialog.say("Its text is not kept: it was redacted, too large or too old.")
    else:
        _read_text(session, name, data)


def _read_text(
    session: ReaderSession, name: str, data: bytes, origin: str = "", *, start: int = 1, numbered: bool = False
) -> None:
    """Read a text out, with its size before it and its end after it."""
    dialog = session.dialog
    if b"\0" in data[:_BINARY_WITHIN]:
        dialog.say(f"{name}, {format_size(len(data), SPOKEN)}, is binary: there is nothing to read.")
        return
    oddity = ""
    try:
        text = data.decode("utf-8")
        if hidden := sum(1 for _ in HIDDEN.finditer(text)):
            codes = f"shown by {'its' if hidden == 1 else 'their'} code"
            oddity = f" It holds {format_count(hidden, 'hidden character')}, {codes}."
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        oddity = " It is not UTF-8; invalid bytes are shown as \\x and two digits."
    lines = text.removesuffix("\n").split("\n") if text else []
    dialog.say(f"{name}, {format_count(len(lines), 'line')}, {format_size(len(data), SPOKEN)}.{origin}{oddity}")
    if not lines:
        dialog.say("It is empty.")
        return
    dialog.read_out(lines, start=start, numbered=numbered)
    dialog.say(f"End of {name}.")


def _read_agent_view(session: ReaderSession, path: str) -> None:
    session.dialog.read_out(session.engine.preview_view(MemoryPath.from_relative(path)).split("\n"))


def _say_details(session: ReaderSession, path: str) -> None:
    """Size, history, hash, protection and flags of a note, each in a sentence."""
    engine, dialog = session.engine, session.dialog
    seen = engine.inspect_path(path)
    if seen.data is not None:
        text = seen.data.decode("utf-8", "replace")
        lines, words = format_count(count_lines(text), "line"), format_count(len(text.split()), "word")
        tokens = format_count(estimate_token_count(text), "token")
        dialog.say(f"{format_size(len(seen.data), SPOKEN)}, {lines}, {words}, about {tokens}.")
    else:
        dialog.say(seen.problem or "It is not a file.")
    if rows := engine.history.versions_of(path):
        first, last = rows[-1].event, rows[0].event
        dialog.say(
            f"First seen at {format_time(first)}, {format_by_actor(first)}.",
            f"Last changed at {format_time(last)}, {format_by_actor(last)}: event {last.seq}.",
            f"{format_count(len(rows), 'version')}.",
        )
        if (version := rows[0].after) is not None and version.sha256:
            dialog.say(f"SHA-256 {version.sha256}.")
    for each in engine.files.get_protected():
        if covers(each, path):
            above = f"{each or 'The folder'}, which contains it, is protected."
            dialog.say("It is protected from agents." if each == path else above)
    from memtui.scan.flags import FLAGS, find_flags  # noqa: PLC0415 - start-up: loads the scan

    for flag in sorted(find_flags(seen.data, path)) if seen.data is not None else ():
        dialog.say(f"Flag {flag}: {FLAGS[flag]}.")


def _follow_link(session: ReaderSession, path: str) -> None:
    """Offer the links of a note and those to it, and go to a chosen note."""
    from memtui.notes.links import LinkTargets, find_links  # noqa: PLC0415 - start-up: loads the parser

    dialog, finder = session.dialog, session.get_finder()
    data = finder.get_note(path)
    targets = LinkTargets(finder.paths)
    links: list[tuple[str, str | None]] = []
    for link in find_links(data.decode("utf-8", "replace"), path) if data is not None else ():
        target = targets.resolve(link, path) if link.kind != "url" else None
        if target is not None:
            words = f"Line {link.line}, to {target}"
        elif link.kind == "url" or link.path is None:
            words = f"Line {link.line}, out of this folder, to {link.target}"
        else:
            words = f"Line {link.line}, to {link.target}, which does not exist"
        links.append((words, target))
    backlinks = finder.find_backlinks(path)
    links += [(f"From {each.path}, line {each.link.line}: {each.text.strip()}", each.path) for each in backlinks]
    choices = [(words, (words, target)) for words, target in links]
    for words, target in dialog.browse(
        lambda: ("Links. A number goes to the note.", choices), empty="It has no links, and no other note links to it."
    ):
        if target is not None:
            visit_note(session, target)
            return
        dialog.say(f"{words}. It cannot be opened from here.")


def _read_blame(session: ReaderSession, path: str) -> None:
    """Read a note out, with the author before each run of lines."""
    seen = session.engine.inspect_path(path)
    if seen.data is None or b"\0" in seen.data[:_BINARY_WITHIN]:
        session.dialog.say(seen.problem or "There are no lines.")
        return
    blame = session.engine.history.blame(path, seen.data)
    text = seen.data.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
    lines: list[str] = []
    last: Event | None = None
    for number, (line, event) in enumerate(zip(text, blame.lines, strict=False), 1):
        if number == 1 or event != last:
            author = f"B{format_by_actor(event)[1:]}, {format_time(event)}:" if event else "By an unknown author:"
            lines.append(author)
        lines.append(f"{number}: {line}")
        last = event
    session.dialog.read_out(lines)
    if not blame.complete:
        session.dialog.say("Not every earlier text is kept: a line may be older than shown.")
