"""`memtui redact`: remove a text that must go, such as a secret, from history and file. It cannot be taken back."""

import argparse
import getpass
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from memtui import opening
from memtui.agents.chat.sessions.forgetting import Forgotten, forget
from memtui.cli import drafts, event_text, moments, output, places, restored
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
        state = opening.state_directory(path, options.state)
        result = what.redact(memory, rehearse=True)
        said = what.forget(memory, state, result, rehearse=True)
        if (_is_something(result) or said.is_something) and not arguments.dry_run:
            if not arguments.yes:
                _show(result, said)
                if not restored.asked("Remove this for good? It cannot be taken back.", _NOT_DONE):
                    output.message(f"{_NOT_DONE}.")
                    return Exit.FINDINGS
            if _is_something(result):
                result = what.redact(memory, rehearse=False)
            said = what.forget(memory, state, result, rehearse=False)
    return _tell(result, said, options, path, arguments)


@dataclass(frozen=True, slots=True)
class _Beside:
    """What goes, or went, from beside the record.

    Attributes:
        sessions: The names of the chat sessions that held it.
        drafts: The notes whose drafts held it.
        left: What cannot be removed, as sentences.
    """

    sessions: tuple[str, ...] = ()
    drafts: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def is_something(self) -> bool:
        return bool(self.sessions or self.drafts)


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

    def forget(self, memory: Engine, state: Path, result: Redacted, *, rehearse: bool) -> _Beside:
        """The same in what was said in chats and typed in the editor; not where the record was left as it is."""
        if not _is_something(result) and not _is_about_names(result):
            return _Beside()
        said = Forgotten()
        if _is_something(result) or self.match is not None:
            place = None if self.path is None else str(MemoryPath.of(self.path))
            said = forget(state / _CHATS, match=self.match, path=place, events=result.events, rehearse=rehearse)
        typed = drafts.forget(state, self._meant(memory), rehearse=rehearse)
        return _Beside(said.sessions, typed.paths, (*said.left, *typed.left))

    def _meant(self, memory: Engine) -> drafts.Meant:
        """Which drafts are meant."""
        if self.path is not None:
            names = (row.moved_from for row in memory.history.versions_of(self.path))
            return drafts.Meant(paths={self.path, *(name for name in names if name is not None)})
        event = memory.history.event(self.event) if self.event is not None else None
        versions = ((change.path, change.after) for change in event.changes) if event is not None else ()
        hashes = {(path, version.sha256) for path, version in versions if version is not None and version.sha256}
        return drafts.Meant(match=self.match, versions=hashes)


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


def _show(result: Redacted, said: _Beside) -> None:
    """What would be removed, before the question."""
    output.message(f"What goes for good: {_counted(result, said)}.")
    files = restored.told(result.changes)
    for change in files[:_NAMED]:
        output.message(f"  {restored.sign(change)} {one_line(change.path)}")
    if len(files) > _NAMED:
        output.message(f"  and {len(files) - _NAMED:,} more")
    for sentence in (*result.also, *result.left, *said.left):
        output.message(sentence)


def _counted(result: Redacted, said: _Beside) -> str:
    counted = []
    if _is_something(result):
        counted.append(f"{result.texts:,} {'text' if result.texts == 1 else 'texts'}, {human_size(result.bytes)}")
    if result.changes:
        counted.append(f"in the folder {restored.counted(result.changes)}")
    if said.sessions:
        count = len(said.sessions)
        counted.append(f"what was said of it in {count:,} chat {'session' if count == 1 else 'sessions'}")
    if said.drafts:
        count = len(said.drafts)
        counted.append(f"what was typed of it in {count:,} {'draft' if count == 1 else 'drafts'}")
    return "; ".join(counted)


def _tell(result: Redacted, said: _Beside, options: Options, path: str, arguments: argparse.Namespace) -> int:
    is_something = _is_something(result) or said.is_something or bool(said.left)
    is_done = result.event is not None or (said.is_something and not arguments.dry_run)
    if options.json:
        output.document(_record(result, said, path, dry_run=arguments.dry_run, is_done=is_done))
    else:
        if (_is_something(result) or said.is_something) and not options.quiet:
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


def _record(result: Redacted, said: _Beside, path: str, *, dry_run: bool, is_done: bool) -> dict[str, object]:
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
        "drafts": list(said.drafts),
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
        "From history, files, chats and drafts; hashes and reason stay. In files a match",
        "becomes [redacted]. A secret on the command line stays in the shell's history:",
        "use --match - or --match-file. Asks: --yes where there is no terminal. Exit",
        "codes: 0 done, 1 some is left, 3 nothing there, 4 read-only, 5 file has changed.",
    ),
)
