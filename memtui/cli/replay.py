"""`memtui replay`: the commands of a chat once more, through the real engine, on a folder made for it."""

import argparse
import contextlib
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from memtui import memory as memory_module
from memtui.agents.chat.sessions.replay import (
    RecordedJournal,
    ReplayedRecord,
    ReplayOutcome,
    replay_session,
    restore_folder,
)
from memtui.agents.chat.sessions.store import CHATS, SessionNotFound, find_session, read_records
from memtui.cli import context, output
from memtui.cli.browser import detect_terminal_background, require_terminal
from memtui.cli.context import load_config
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, NotFound, colorize, exit_on_signals, format_os_error
from memtui.cli.parsing import Parser, Verb, make_number_parser
from memtui.core import diffs
from memtui.core.errors import StateUnusable
from memtui.core.paths import format_path
from memtui.core.unicode import to_one_line, visible
from memtui.core.wording import format_count
from memtui.engine import Engine
from memtui.fs import state as fs_state

_ANSWER_LINES = 8
"""Lines of an answer that are shown of one that does not differ."""
_RED, _GREEN, _CYAN, _DIM, _BOLD = "31", "32", "36", "2", "1"


def add_replay_options(parser: Parser) -> None:
    parser.add_value("file", "FILE", "a session: its file, its id or the start of it, or last")
    parser.add_value(
        "--speed",
        "X",
        "times as fast; 0: without waiting",
        type=make_number_parser("number of 0 or more"),
        default=1.0,
    )
    parser.add_value("--from", "DIR", "start with a copy of DIR", dest="start")
    parser.add_flag("--watch", "watch it on the screen")


def run_replay(options: Options, arguments: argparse.Namespace) -> int:
    if arguments.watch:
        require_terminal("Leave --watch out, and the replay is printed.")
    path = find_session_path(arguments.file, options)
    start = context.resolve_existing_folder(arguments.start) if arguments.start is not None else None
    with exit_on_signals(), tempfile.TemporaryDirectory(prefix="memtui-replay-") as temporary:
        folder, state = os.path.join(temporary, "memories"), os.path.join(temporary, "state")
        if start is None:
            os.mkdir(folder)
        else:
            _copy_folder(start, folder)
        replaying = _Replay(path, options, arguments.speed, start, watched=arguments.watch)
        with contextlib.closing(replaying):
            if not arguments.watch:
                with memory_module.open(folder, state=state) as memory:
                    for each in replaying.run(memory, time.sleep):
                        replaying.print_command(each)
            else:
                loaded = load_config(options)
                with detect_terminal_background(loaded):
                    from memtui.ui.demo_app import run_replay_app  # noqa: PLC0415 - start-up: loads Textual

                    code = run_replay_app(folder, state, f"replay of {path.stem}", replaying.run, loaded=loaded)
                if code:
                    return code
            return replaying.print_summary()


def find_session_path(given: str, options: Options) -> Path:
    """The file of a session by its path or name. Raises `Failure` if there is none."""

    try:
        if os.path.isfile(given):
            return Path(given)
        if os.sep in given:
            return find_session(Path(), given)
        folder = context.resolve_folder(options)
        return find_session(fs_state.get_state_directory(folder, options.state) / CHATS, given)
    except SessionNotFound as error:
        raise NotFound(str(error)) from error


def _copy_folder(start: str, folder: str) -> None:
    try:
        shutil.copytree(start, folder, symlinks=True)
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno else "not all of it can be read"
        raise NotFound(
            f"{to_one_line(format_path(start))} cannot be copied: {reason}. Nothing was replayed."
        ) from error


class _Replay:
    """One replay: its beginning, its output and its summary."""

    def __init__(self, path: Path, options: Options, speed: float, start: str | None, *, watched: bool) -> None:
        self._path = path
        self._options = options
        self._speed = speed
        self._start = start
        self._counts: Counter[str] = Counter()
        self._turn = 0
        self._damaged: list[int] = []
        self._remarks: list[str] = []
        self._is_watched = watched
        self._header = self._read_header()
        self._origin = None if start is not None else self._find_origin()

    def close(self) -> None:
        """Let go of the journal."""
        if self._origin is not None:
            self._origin.close()

    def _read_header(self) -> dict[str, object]:

        name = to_one_line(format_path(self._path))
        try:
            header = next(read_records(self._path), None)
        except OSError as error:
            problem = f"cannot be read: {format_os_error(error)}"
            raise NotFound(f"{name} {problem}. Nothing was replayed.") from error
        if header is None:
            raise NotFound(f"{name} is not a session of memtui. Nothing was replayed.")
        return header if header["type"] == "session" else {}

    def _find_origin(self) -> RecordedJournal | None:
        """The journal of the folder in which the session was held, if it is the one."""

        recorded = self._header.get("folder")
        candidates = [self._path.resolve().parent.parent / memory_module.JOURNAL]
        if isinstance(recorded, str) and recorded:
            with contextlib.suppress(StateUnusable):
                candidates.append(fs_state.get_state_directory(recorded, self._options.state) / memory_module.JOURNAL)
        for candidate in candidates:
            with contextlib.suppress(StateUnusable):
                origin = RecordedJournal.from_file(candidate)
                if origin is not None and origin.has_session(read_records(self._path)):
                    return origin
                if origin is not None:
                    origin.close()
        return None

    def run(self, memory: Engine, wait: Callable[[float], object]) -> Iterator[ReplayedRecord]:
        """Replay it in a folder that was made for it."""

        self._print_introduction()
        if self._origin is not None:
            seq = self._header.get("seq")
            missing = restore_folder(memory, self._origin, seq if isinstance(seq, int) else 0)
            if missing:
                which = f"{len(missing):,} of the files at its start are not kept any more, such as {missing[0]}"
                self._print_remark(f"{which}: answers may differ.")
        records = read_records(self._path, self._damaged.append)
        for each in replay_session(records, memory, origin=self._origin, speed=self._speed, wait=wait):
            self._tally(each)
            yield each
        if self._damaged:
            self._print_remark(f"Line {self._damaged[0]} of this session is damaged and was skipped.")

    def _print_introduction(self) -> None:
        at = self._header.get("at")
        when = f" of {at[:16].replace('T', ' ')}" if isinstance(at, str) else ""
        begins = (
            f"It starts with a copy of {format_path(self._start)}."
            if self._start is not None
            else "It starts with the folder as it was then."
            if self._origin is not None
            else "The journal of its folder was not found, so it starts with an empty folder: --from DIR starts with "
            "a copy of another."
        )
        self._print_remark(f"Replaying session {self._path.stem}{when} in a temporary folder. {begins}")

    def _print_remark(self, sentence: str) -> None:
        if self._is_watched:
            self._remarks.append(sentence)
        elif not self._options.quiet:
            output.print_message(sentence)

    def _tally(self, each: ReplayedRecord) -> None:

        match each.outcome:
            case ReplayOutcome.OTHERS:
                self._counts["others"] += 1
            case _ if each.differs:
                self._counts["differ"] += 1
            case ReplayOutcome.EXECUTED | ReplayOutcome.EDITED | ReplayOutcome.UNDONE:
                self._counts["same"] += 1
            case _:
                self._counts["left"] += 1

    # Showing

    def print_command(self, each: ReplayedRecord) -> None:
        """Print one command with its answer."""
        if self._options.json:
            output.print_json_line(serialize_replayed(each))
        elif not (self._options.quiet and not each.differs):
            self._print_replayed(each)
        output.flush()

    def _print_replayed(self, each: ReplayedRecord) -> None:

        if each.turn and each.turn != self._turn:
            self._turn = each.turn
            output.print_line(colorize(f"turn {each.turn}", _BOLD))
        command, where = _describe_command(each)
        start = f"  {output.pad_cell(command, 11)}"
        if each.outcome is ReplayOutcome.OTHERS:
            actor = to_one_line(str((each.fields or {}).get("actor")))
            output.print_line(colorize(f"{start}  {to_one_line(where)}  by {actor}", _DIM))
            return
        is_run = each.now is not None
        verdict = "DIFFERS" if each.differs else "same" if is_run else "not run"
        if each.outcome in (ReplayOutcome.EDITED, ReplayOutcome.UNDONE) or not is_run:
            verdict += f": {each.outcome.value}"
        color = _RED if each.differs else _GREEN if is_run else _DIM
        output.print_line(f"{start}  {output.pad_cell(where, 40)}  {colorize(to_one_line(verdict), color)}")
        if each.differs:
            self._print_difference(each)
        elif each.outcome is not ReplayOutcome.UNDONE:
            _print_answer(each.now if each.now is not None else each.recorded or "")

    def _print_difference(self, each: ReplayedRecord) -> None:
        then, now = each.recorded or "", each.now or ""
        output.print_line(colorize("      - answer then   + answer now", _DIM))
        if then == now:
            words = {True: "a refusal", False: "an answer"}
            output.print_line(colorize(f"      -{words[each.was_error]}", _RED))
            output.print_line(colorize(f"      +{words[each.is_error]}", _GREEN))
        for line in diffs.format_unified(then, now, context=1):
            color = {"-": _RED, "+": _GREEN, "@": _CYAN}.get(line[:1])
            output.print_line("      " + colorize(visible(line, newline="\\n"), color))

    def print_summary(self) -> int:
        """Print the counts, and return the exit code."""
        self._is_watched = False
        for remark in self._remarks:
            self._print_remark(remark)
        same, differ, not_run, others = (self._counts[name] for name in ("same", "differ", "left", "others"))
        if self._options.json:
            output.print_json_line(
                {"schema": output.SCHEMA, "type": "summary", "same": same, "differ": differ}
                | {"not_carried_out": not_run, "others": others, "from_journal": self._origin is not None}
            )
        else:
            words = [f"{same:,} the same", format_count(differ, "differs", "differ")]
            if not_run:
                words.append(f"{not_run:,} not run, as then")
            if others:
                words.append(f"{format_count(others, 'change')} by others also made")
            total = same + differ + not_run
            output.print_line(f"{format_count(total, 'command')}: {', '.join(words)}.")
        return ExitCode.FINDINGS if differ else ExitCode.OK


def _describe_command(each: ReplayedRecord) -> tuple[str, str]:
    """The command and its paths."""
    fields = each.fields or {}
    is_ours = each.name == "memory"  # a tool of another program may have a field of that name
    command = str((fields.get("command") if is_ours else "") or each.name or "undo")
    named = (fields.get(name) for name in ("path", "old_path", "new_path"))
    return command, " -> ".join(str(name) for name in named if isinstance(name, str) and name)


def _print_answer(answer: str) -> None:
    lines = visible(answer).removesuffix("\n").split("\n")
    for line in lines[:_ANSWER_LINES]:
        output.print_line(colorize(f"      {line}", _DIM))
    if len(lines) > _ANSWER_LINES:
        output.print_line(colorize(f"      and {len(lines) - _ANSWER_LINES:,} more lines; --json prints all", _DIM))


def serialize_replayed(each: ReplayedRecord) -> dict[str, object]:
    """One command, for programs; keys may be added, none is taken away."""
    return {
        "schema": output.SCHEMA,
        "type": "replayed",
        "how": each.outcome.name.lower(),
        "turn": each.turn or None,
        "call_id": each.call_id or None,
        "tool": each.name or None,
        "input": each.fields,
        "recorded": each.recorded,
        "recorded_is_error": each.was_error,
        "now": each.now,
        "is_error": each.is_error,
        "differs": each.differs,
    }


REPLAY_VERB = Verb("replay", add_replay_options, run_replay, keeps_rights=True)
