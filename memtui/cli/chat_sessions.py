"""The sessions of a folder, in a list, and one of them as a text to keep. Nothing is opened but their files."""

import os
import time
from pathlib import Path

from memtui import opening
from memtui.agents.chat.sessions.finding import NoSession, SessionSummary, find, records_in, sessions_in
from memtui.agents.chat.sessions.session import CHATS
from memtui.agents.chat.sessions.transcript import to_markdown
from memtui.cli import output
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options
from memtui.core.visible import one_line
from memtui.places import short


def list_them(folder: str, options: Options) -> int:
    """Print the sessions of a folder, the one that was used last first."""
    found = sessions_in(_directory(folder, options))
    if options.json:
        for each in found:
            output.json_line(_record(each))
        return Exit.OK
    if not found:
        output.message(f"No session is kept for {short(folder)} yet. Begin one: memtui chat")
    now = time.time()
    model = max((output.cells(one_line(each.model or "")) for each in found), default=0)
    for each in found:
        turns = f"{each.turns:,} turn{'s' * (each.turns != 1)}"
        ago = output.age(now - each.changed_ns / 1e9)
        output.line(
            f"{each.id}  {ago:>4}  {turns:>9}  {output.cell(each.model or '', model)}  {one_line(each.title)}".rstrip()
        )
    return Exit.OK


def _record(each: SessionSummary) -> dict[str, object]:
    return {
        "schema": output.SCHEMA,
        "id": each.id,
        "file": str(each.path),
        "began": each.at or None,
        "changed": output.utc(each.changed_ns // 1_000),
        "turns": each.turns,
        "title": each.title,
        "model": each.model,
        "forked_from": each.forked_from,
        "size": each.size,
    }


def export(folder: str, options: Options, name: str, target: str | None) -> int:
    """Print a session as Markdown, or its records for a program."""
    try:
        path = find(_directory(folder, options), name)
        damaged: list[int] = []
        if options.json and target in (None, "-"):
            for record in records_in(path, damaged.append):
                output.json_line(record)
        else:
            text = to_markdown(records_in(path, damaged.append))
            if target in (None, "-"):
                output.text(text)
            else:
                _keep(text, str(target), folder)
    except NoSession as error:
        raise Failure(Exit.MISSING, str(error)) from error
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise Failure(
            Exit.MISSING, f"The session {one_line(name)} cannot be read: {reason}. Nothing was exported."
        ) from error
    if damaged:
        output.message(f"Line {damaged[0]} of the session is damaged and is left out.")
    return Exit.OK


def _keep(text: str, target: str, folder: str) -> None:
    place = os.path.join(os.path.realpath(os.path.dirname(os.path.expanduser(target)) or "."), os.path.basename(target))
    shown = one_line(short(place))
    if place.startswith(folder.rstrip("/") + "/"):
        raise Failure(
            Exit.REFUSED,
            f"Refused: {shown} is inside the memory folder, where an agent could read it. Nothing was exported. "
            "Choose another place.",
        )
    try:
        fd = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise Failure(Exit.CONFLICT, f"{shown} is there already. Nothing was exported. Choose another name.") from None
    except OSError as error:
        raise _unwritten(shown, error) from error
    try:
        with open(fd, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        Path(place).unlink(missing_ok=True)
        raise _unwritten(shown, error) from error


def _unwritten(shown: str, error: OSError) -> Failure:
    reason = os.strerror(error.errno or 0).lower()
    return Failure(Exit.OUTPUT, f"{shown} could not be written: {reason}. Nothing was exported.")


def _directory(folder: str, options: Options) -> Path:
    return opening.state_directory(folder, options.state) / CHATS
