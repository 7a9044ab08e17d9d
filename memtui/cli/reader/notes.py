"""One note: reading it out, and what can be done with it."""

from typing import TYPE_CHECKING

from memtui.cli.reader import editing, filing, history
from memtui.cli.reader.dialog import Choice
from memtui.cli.reader.sentences import counted, size, when, who
from memtui.core.edits import count_lines
from memtui.core.paths import MemoryPath
from memtui.core.protection import holds
from memtui.core.snapshot import Kind
from memtui.core.tokens import estimate
from memtui.core.visible import HIDDEN

if TYPE_CHECKING:
    from memtui.cli.reader.session import Session

_BINARY_WITHIN = 8_192


def visit(session: "Session", path: str) -> None:
    """What can be done with a note, until the person goes back or it is gone.

    Args:
        session: Where she is asked.
        path: Relative to the folder.
    """
    dialog = session.dialog
    while True:
        entry = session.entry(path)
        if entry is None:
            dialog.say(f"{path} is not there any more. Deleted notes lists what can be brought back.")
            return
        is_protected = any(holds(each, path) for each in session.engine.files.protected())
        chosen = dialog.choose(
            f"{path}.",
            [
                Choice("Read", "read"),
                Choice("Read with line numbers", "numbered"),
                Choice("Read as an agent is shown it", "as agent"),
                Choice("History", "history"),
                Choice("Edit", "edit"),
                Choice("Rename or move", "rename"),
                Choice("Copy", "copy"),
                Choice("Delete", "delete"),
                Choice("Details", "details"),
                Choice("Links", "links"),
                Choice("Who wrote each line", "blame"),
                Choice("Let agents change it" if is_protected else "Protect it from agents", "protect"),
            ],
            known=True,
        )
        match chosen:
            case "read" | "numbered":
                read(session, path, numbered=chosen == "numbered")
            case "as agent":
                dialog.read_out(session.engine.answer_to_view(MemoryPath.of(path)).split("\n"))
            case "history":
                history.visit(session, path)
            case "edit":
                if entry.kind is Kind.OTHER:
                    dialog.say("It is a FIFO, a socket or a device: there is no text to edit.")
                else:
                    editing.edit(session, path)
            case "rename":
                path = filing.rename(session, path) or path
            case "copy":
                filing.copy(session, path)
            case "delete":
                if filing.delete(session, path):
                    return
            case "details":
                tell_details(session, path)
            case "links":
                if (target := _chosen_link(session, path)) is not None:
                    visit(session, target)
            case "blame":
                _tell_writers(session, path)
            case "protect":
                filing.protect(session, path, is_protected=is_protected)
            case _:
                return


def read(session: "Session", path: str, *, start: int = 1, numbered: bool = False) -> None:
    """Read a note out.

    Args:
        session: To whom.
        path: Relative to the folder.
        start: The line to begin with, from 1.
        numbered: Whether lines are told with their numbers.
    """
    seen = session.engine.look(path)
    if seen.data is None:
        session.dialog.say(seen.problem or f"{path} is no file: there is nothing to read.")
        return
    event = session.engine.history.last_touching(path, session.engine.head()[0])
    by = f" Changed last at {when(event)}, by {_by(who(event))}." if event is not None else ""
    if event is not None and event.command == "found":
        by = f" Not changed since memtui found it at {when(event)}."
    read_text(session, path, seen.data, by=by, start=start, numbered=numbered)


def read_text(
    session: "Session", name: str, data: bytes, *, by: str = "", start: int = 1, numbered: bool = False
) -> None:
    """Read a text out, with where it begins and ends.

    Args:
        session: To whom.
        name: What it is.
        data: Its bytes.
        by: What is said of where it is from.
        start: The line to begin with, from 1.
        numbered: Whether lines are told with their numbers.
    """
    dialog = session.dialog
    if b"\0" in data[:_BINARY_WITHIN]:
        dialog.say(f"{name}, {size(len(data))}, is binary: there is nothing to read.")
        return
    try:
        text, odd = data.decode("utf-8"), ""
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        odd = " It is not UTF-8; bytes that fit nowhere are told as \\x and two digits."
    hidden = sum(1 for _ in HIDDEN.finditer(text)) if not odd else 0
    if hidden:
        odd = f" It holds {counted(hidden, 'hidden character')}, told by {'its' if hidden == 1 else 'their'} code."
    lines = text.removesuffix("\n").split("\n") if text else []
    dialog.say(f"{name}, {counted(len(lines), 'line')}, {size(len(data))}.{by}{odd}")
    if not lines:
        dialog.say("It is empty.")
        return
    dialog.read_out(lines, start=start, numbered=numbered)
    dialog.say(f"End of {name}.")


def tell_details(session: "Session", path: str) -> None:
    """All that is known of a note, each in a sentence."""
    engine, dialog = session.engine, session.dialog
    seen = engine.look(path)
    if seen.data is not None:
        text = seen.data.decode("utf-8", "replace")
        lines, words = counted(count_lines(text), "line"), counted(len(text.split()), "word")
        dialog.say(f"{size(len(seen.data))}, {lines}, {words}, about {counted(estimate(text), 'token')}.")
    else:
        dialog.say(seen.problem or "It is no file.")
    rows = engine.history.versions_of(path)
    if rows:
        first, last = rows[-1].event, rows[0].event
        dialog.say(f"First seen at {when(first)}, by {_by(who(first))}.")
        dialog.say(f"Last changed at {when(last)}, by {_by(who(last))}: event {last.seq}.")
        dialog.say(f"{counted(len(rows), 'version')}.")
        version = rows[0].after
        if version is not None and version.sha256:
            dialog.say(f"SHA-256 {version.sha256}.")
    protected = [each for each in engine.files.protected() if holds(each, path)]
    for each in protected:
        dialog.say("It is protected from agents." if each == path else f"{each or 'The folder'} above it is protected.")
    from memtui.notes.flags import FLAGS, flags_of  # deferred: only where details are asked for

    for flag in sorted(flags_of(seen.data, path)) if seen.data is not None else ():
        dialog.say(f"Flag {flag}: {FLAGS[flag]}.")


def _chosen_link(session: "Session", path: str) -> str | None:
    """The note that a link of this one leads to, or that links here, if the person chooses one."""
    from memtui.notes.links import Places, links_of  # deferred: only where links are asked for

    dialog, finder = session.dialog, session.finder()
    data = finder.note(path)
    places = Places(finder.paths)
    choices: list[Choice[str | None]] = []
    for link in links_of(data.decode("utf-8", "replace"), path) if data is not None else ():
        target = places.resolve(link, path) if link.kind != "url" else None
        if target is not None:
            words = f"Line {link.line}, to {target}"
        elif link.kind == "url" or link.path is None:
            words = f"Line {link.line}, out of this folder, to {link.target}"
        else:
            words = f"Line {link.line}, to {link.target}, which is not there"
        choices.append(Choice(words, target))
    choices += [
        Choice(f"From {each.path}, line {each.link.line}: {each.text.strip()}", each.path)
        for each in finder.backlinks(path)
    ]
    if not choices:
        dialog.say("It has no links, and no other note links to it.")
        return None
    is_known = False
    while True:
        links = [Choice(each.words, each) for each in choices]
        chosen = dialog.choose("Links. A number goes to the note.", links, known=is_known)
        is_known = True
        if chosen is None:
            return None
        if chosen.value is not None:
            return chosen.value
        dialog.say(f"{chosen.words}. It is not opened from here.")


def _tell_writers(session: "Session", path: str) -> None:
    """Who wrote each line."""
    seen = session.engine.look(path)
    if seen.data is None or b"\0" in seen.data[:_BINARY_WITHIN]:
        session.dialog.say(seen.problem or "There are no lines.")
        return
    blame = session.engine.history.blame(path, seen.data)
    lines = seen.data.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
    told, last = [], None
    for number, (line, event) in enumerate(zip(lines, blame.lines, strict=False), 1):
        if number == 1 or event != last:
            told.append(f"By {_by(who(event))}, {when(event)}:" if event is not None else "By nobody knows whom:")
        told.append(f"{number}: {line}")
        last = event
    session.dialog.read_out(told)
    if not blame.complete:
        session.dialog.say("Not every earlier text is kept: a line may be older than is said.")


def _by(name: str) -> str:
    return name[:1].lower() + name[1:] if name in ("You", "Somebody outside memtui") else name
