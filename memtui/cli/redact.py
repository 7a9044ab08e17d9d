"""`memtui redact`: remove a text that must go, such as a secret, from history and file. It cannot be taken back."""

import argparse
import getpass
import os
import re
import sys
from pathlib import Path

from memtui import opening
from memtui.agents.chat.sessions.forgetting import Forgotten, forget
from memtui.cli import event_text, moments, output, places, restored
from memtui.cli.exits import Exit, Failure
from memtui.cli.opened import insist_on_writing, opened
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.listing import human_size
from memtui.core.paths import MemoryPath
from memtui.core.redaction import Redacted
from memtui.core.visible import one_line
from memtui.engine import Engine

_NOT_DONE = "Nothing was removed"
_NUMBER = re.compile("#?([0-9]{1,18})")
_NAMED = 20
_CHATS = "chats"
"""Where sessions are, see `memtui.agents.chat.sessions`, which is not loaded for it."""


def _arguments(parser: Parser) -> None:
    parser.add_argument("target", metavar="EVENT|PATH", nargs="?", help="what event 41 wrote; all that PATH ever held")
    parser.add_argument("--match", metavar="TEXT", help="every text that holds TEXT; - reads it from stdin")
    parser.add_argument("--match-file", metavar="FILE", help="every text that holds what is in FILE")
    parser.add_argument("--reason", metavar="WORDS", default="", help="why, for the record; never the text itself")
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would be removed")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")


def _run(options: Options, arguments: argparse.Namespace) -> int:
    given = (arguments.target, arguments.match, arguments.match_file)
    if sum(each is not None for each in given) != 1:
        raise Failure(
            Exit.USAGE, "memtui redact: name one of EVENT, PATH, --match or --match-file. See: memtui redact --help"
        )
    if not arguments.dry_run:
        insist_on_writing(options, _NOT_DONE)
    path = places.folder(options)
    what = _What(arguments, path)
    with opened(path, options) as memory:
        if what.event is not None and memory.history.event(what.event) is None:
            raise moments.no_event(memory, what.event)
        chats = opening.state_directory(path, options.state) / _CHATS
        result = what.redact(memory, rehearse=True)
        said = what.forget(chats, result, rehearse=True)
        if (_is_something(result) or said.sessions) and not arguments.dry_run:
            if not arguments.yes:
                _show(result, said)
                if not restored.asked("Remove this for good? It cannot be taken back.", _NOT_DONE):
                    output.message(f"{_NOT_DONE}.")
                    return Exit.FINDINGS
            if _is_something(result):
                result = what.redact(memory, rehearse=False)
            said = what.forget(chats, result, rehearse=False)
    return _tell(result, said, options, path, arguments)


class _What:
    """What is to go.

    Attributes:
        event: The number of an event.
        path: A path, relative to the folder.
        match: A text.
    """

    def __init__(self, arguments: argparse.Namespace, folder: str) -> None:
        self.event: int | None = None
        self.path: str | None = None
        self.match: str | None = None
        self._reason: str = arguments.reason
        if arguments.target is None:
            self.match = _match(arguments)
            if self.match in self._reason:
                raise Failure(
                    Exit.USAGE, f"{_NOT_DONE}: the reason holds the text itself, and is kept. Say it in other words."
                )
        elif number := _NUMBER.fullmatch(arguments.target):
            self.event = int(number[1])
        else:
            place = places.place(arguments.target, folder)
            if place.is_root:
                raise Failure(Exit.USAGE, "memtui redact: that is the whole folder. Name a file, or use --match.")
            self.path = place.relative

    def redact(self, memory: Engine, *, rehearse: bool) -> Redacted:
        """Do it, or only find out what would be done."""
        return memory.redact(event=self.event, path=self.path, match=self.match, reason=self._reason, rehearse=rehearse)

    def forget(self, chats: Path, result: Redacted, *, rehearse: bool) -> Forgotten:
        """The same in what was said in chats; not where the record was left as it is."""
        if not _is_something(result) and (self.match is None or not _is_about_names(result)):
            return Forgotten()
        place = None if self.path is None else str(MemoryPath.of(self.path))
        return forget(chats, match=self.match, path=place, events=result.events, rehearse=rehearse)


def _match(arguments: argparse.Namespace) -> str:
    """The text to look for, from wherever it is given. A newline at its very end is not part of it."""
    if arguments.match is not None and arguments.match != "-":
        data = os.fsencode(arguments.match)
    elif arguments.match_file is not None:
        data = _read(arguments.match_file)
    elif output.is_terminal(sys.stdin):
        data = os.fsencode(getpass.getpass("The text to remove; it is not shown: "))
    else:
        with open(0, "rb", closefd=False) as source:
            data = source.read()
    data = data.removesuffix(b"\n").removesuffix(b"\r")
    if not data:
        raise Failure(Exit.USAGE, f"{_NOT_DONE}: the text to look for is empty.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Failure(Exit.USAGE, f"{_NOT_DONE}: the text to look for is not UTF-8.") from None


def _read(name: str) -> bytes:
    try:
        with open(name, "rb") as source:
            return source.read()
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise Failure(Exit.MISSING, f"{name} cannot be read: {reason}. {_NOT_DONE}.") from error


def _is_something(result: Redacted) -> bool:
    return bool(result.texts or result.changes)


def _show(result: Redacted, said: Forgotten) -> None:
    """What would be removed, before the question."""
    output.message(f"What goes for good: {_counted(result, said)}.")
    files = restored.told(result.changes)
    for change in files[:_NAMED]:
        output.message(f"  {restored.sign(change)} {one_line(change.path)}")
    if len(files) > _NAMED:
        output.message(f"  and {len(files) - _NAMED:,} more")
    for sentence in (*result.also, *result.left, *said.left):
        output.message(sentence)


def _counted(result: Redacted, said: Forgotten) -> str:
    counted = []
    if _is_something(result):
        counted.append(f"{result.texts:,} {'text' if result.texts == 1 else 'texts'}, {human_size(result.bytes)}")
    if result.changes:
        counted.append(f"in the folder {restored.counted(result.changes)}")
    if said.sessions:
        count = len(said.sessions)
        counted.append(f"what was said of it in {count:,} chat {'session' if count == 1 else 'sessions'}")
    return "; ".join(counted)


def _tell(result: Redacted, said: Forgotten, options: Options, path: str, arguments: argparse.Namespace) -> int:
    is_something = _is_something(result) or bool(said.sessions or said.left)
    is_done = result.event is not None or (bool(said.sessions) and not arguments.dry_run)
    if options.json:
        output.document(_record(result, said, path, dry_run=arguments.dry_run, is_done=is_done))
    else:
        if (_is_something(result) or said.sessions) and not options.quiet:
            words = "Removed for good" if is_done else "What would go for good"
            stay = " The events and their hashes stay." if result.event is not None else ""
            output.line(f"{words}: {_counted(result, said)}.{stay}")
        if result.problem and (_is_something(result) or not is_something):
            output.message(result.problem)
        for sentence in (*result.also, *result.left) if _is_something(result) else ():
            output.message(sentence)
        for sentence in said.left:
            output.message(sentence)
        if said.sessions and arguments.match is None and arguments.match_file is None:
            output.message(
                "What you and the agent wrote of it there in other words stays. --match finds words anywhere."
            )
        if arguments.match not in (None, "-") and not options.quiet:
            output.message("The text may stand in your shell's history now. --match - reads it from elsewhere.")
    if is_something:
        problem = result.problem if _is_something(result) else ""
        return Exit.FINDINGS if result.left or problem or said.left else Exit.OK
    return Exit.CONFLICT if result.left and not _is_about_names(result) else Exit.MISSING


def _is_about_names(result: Redacted) -> bool:
    """Whether nothing was in the way: the record's texts just do not hold it."""
    return all(sentence in result.problem for sentence in result.left)


def _record(result: Redacted, said: Forgotten, path: str, *, dry_run: bool, is_done: bool) -> dict[str, object]:
    return {
        "schema": output.SCHEMA,
        "done": is_done,
        "dry_run": dry_run,
        "problem": result.problem or None,
        "texts": result.texts,
        "bytes": result.bytes,
        "events": list(result.events),
        "changes": [event_text.change_record(change) for change in result.changes],
        "sessions": list(said.sessions),
        "left": [*result.left, *said.left],
        "also": list(result.also),
        "event": event_text.record(result.event, path) if result.event is not None else None,
    }


VERB = Verb(
    "redact",
    "remove a text for good",
    (
        ("memtui redact --match -", "asks for a secret; removes it all over"),
        ("memtui redact 41 --reason 'not ours'", "the text that event 41 wrote"),
        ("memtui redact notes/a.md --dry-run", "all that the file ever held"),
    ),
    _arguments,
    _run,
    (
        "From history, files and chats; events, hashes and reason stay. In files a match",
        "becomes [redacted]. A secret on the command line stays in the shell's history:",
        "use --match - or --match-file. Asks: --yes where there is no terminal. Exit",
        "codes: 0 done, 1 some is left, 3 nothing there, 4 read-only, 5 file has changed.",
    ),
)
