"""`memtui replay`: the commands of a chat once more, through the real engine, on a folder made for it."""

import argparse
import contextlib
import math
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from memtui import opening
from memtui.cli import output, places
from memtui.cli.configured import configured
from memtui.cli.exits import Exit, Failure
from memtui.cli.signals import ended_in_order
from memtui.cli.verb import Options, Parser, Verb
from memtui.core import diffs
from memtui.core.errors import StateUnusable
from memtui.core.visible import one_line, visible
from memtui.places import short

if TYPE_CHECKING:
    from memtui.agents.chat.sessions.replaying import Origin, Replayed
    from memtui.engine import Engine

_ANSWER_LINES = 8
"""Lines of an answer that are shown of one that does not differ."""
_RED, _GREEN, _CYAN, _DIM, _BOLD = "31", "32", "36", "2", "1"


def _arguments(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="a session: its file, its id or a beginning of it, or last")
    parser.add_argument("--speed", metavar="X", type=_speed, default=1.0, help="times as fast; 0 does not wait at all")
    parser.add_argument("--from", metavar="DIR", dest="start", help="begin with a copy of DIR")
    parser.add_argument("--watch", action="store_true", help="see it in the browser, as it happens")


def _speed(given: str) -> float:
    try:
        speed = float(given)
    except ValueError:
        speed = -1.0
    if not (math.isfinite(speed) and speed >= 0):
        raise argparse.ArgumentTypeError(f"{given!r} is no number of 0 or more")
    return speed


def _run(options: Options, arguments: argparse.Namespace) -> int:
    if arguments.watch:
        from memtui.cli.browse import insist_on_terminal, terminal_asked  # for start-up cost

        insist_on_terminal("Leave --watch out, and the replay is printed.")
    path = session_path(arguments.file, options)
    start = places.existing(arguments.start) if arguments.start is not None else None
    with ended_in_order(), tempfile.TemporaryDirectory(prefix="memtui-replay-") as temporary:
        folder, state = os.path.join(temporary, "memories"), os.path.join(temporary, "state")
        if start is None:
            os.mkdir(folder)
        else:
            _copy(start, folder)
        replaying = _Replay(path, options, arguments.speed, start, watched=arguments.watch)
        with contextlib.closing(replaying):
            if not arguments.watch:
                with opening.open(folder, state=state) as memory:
                    for each in replaying.run(memory, time.sleep):
                        replaying.show(each)
            else:
                loaded = configured(options)
                with terminal_asked(loaded):
                    from memtui.ui.replay import watch  # for start-up cost: plain verbs never load Textual

                    code = watch(folder, state, f"replay of {path.stem}", replaying.run, loaded=loaded)
                if code:
                    return code
            return replaying.sum_up()


def session_path(given: str, options: Options) -> Path:
    """The file of a session that somebody names.

    Raises:
        Failure: There is none.
    """
    from memtui.agents.chat.sessions.finding import NoSession, find  # for start-up cost
    from memtui.agents.chat.sessions.session import CHATS

    try:
        if os.path.isfile(given):
            return Path(given)
        if os.sep in given:
            return find(Path(), given)
        folder = places.folder(options)
        return find(opening.state_directory(folder, options.state) / CHATS, given)
    except NoSession as error:
        raise Failure(Exit.MISSING, str(error)) from error


def _copy(start: str, folder: str) -> None:
    try:
        shutil.copytree(start, folder, symlinks=True)
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno else "not all of it can be read"
        raise Failure(
            Exit.MISSING, f"{one_line(short(start))} cannot be copied: {reason}. Nothing was replayed."
        ) from error


class _Replay:
    """One replay: where it begins, what is shown of it, and what it comes to."""

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
        from memtui.agents.chat.sessions.finding import records_in

        try:
            header = next(records_in(self._path), None)
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            raise Failure(
                Exit.MISSING, f"{one_line(short(self._path))} cannot be read: {reason}. Nothing was replayed."
            ) from error
        if header is None:
            raise Failure(Exit.MISSING, f"{one_line(short(self._path))} is no session of memtui. Nothing was replayed.")
        return header if header["type"] == "session" else {}

    def _find_origin(self) -> "Origin | None":
        """The journal of the folder in which the session was held, if it is the one."""
        from memtui.agents.chat.sessions.finding import records_in
        from memtui.agents.chat.sessions.replaying import Origin

        recorded = self._header.get("folder")
        candidates = [self._path.resolve().parent.parent / opening.JOURNAL]
        if isinstance(recorded, str) and recorded:
            with contextlib.suppress(StateUnusable):
                candidates.append(opening.state_directory(recorded, self._options.state) / opening.JOURNAL)
        for candidate in candidates:
            with contextlib.suppress(StateUnusable):
                origin = Origin.at(candidate)
                if origin is not None and origin.is_of(records_in(self._path)):
                    return origin
                if origin is not None:
                    origin.close()
        return None

    def run(self, memory: "Engine", wait: Callable[[float], object]) -> Iterator["Replayed"]:
        """Replay it in a folder that was made for it."""
        from memtui.agents.chat.sessions.finding import records_in
        from memtui.agents.chat.sessions.replaying import replay, set_out

        self._say_beginning()
        if self._origin is not None:
            seq = self._header.get("seq")
            left = set_out(memory, self._origin, seq if isinstance(seq, int) else 0)
            if left:
                self._say(
                    f"{len(left):,} of the files of then are not kept any more, such as {left[0]}: answers may differ."
                )
        records = records_in(self._path, self._damaged.append)
        for each in replay(records, memory, origin=self._origin, speed=self._speed, wait=wait):
            self._count(each)
            yield each
        if self._damaged:
            self._say(f"Line {self._damaged[0]} of this session is damaged and is left out.")

    def _say_beginning(self) -> None:
        at = self._header.get("at")
        when = f" of {at[:16].replace('T', ' ')}" if isinstance(at, str) else ""
        begins = (
            f"It begins with a copy of {short(self._start)}."
            if self._start is not None
            else "It begins as the folder stood then."
            if self._origin is not None
            else "The journal of its folder is not here, so it begins with an empty folder: --from DIR begins with "
            "a copy of another."
        )
        self._say(f"Replaying session {self._path.stem}{when} in a folder of its own. {begins}")

    def _say(self, sentence: str) -> None:
        if self._is_watched:
            self._remarks.append(sentence)
        elif not self._options.quiet:
            output.message(sentence)

    def _count(self, each: "Replayed") -> None:
        from memtui.agents.chat.sessions.replaying import How

        match each.how:
            case How.OTHERS:
                self._counts["others"] += 1
            case _ if each.differs:
                self._counts["differ"] += 1
            case How.EXECUTED | How.EDITED | How.UNDONE:
                self._counts["same"] += 1
            case _:
                self._counts["left"] += 1

    # Showing

    def show(self, each: "Replayed") -> None:
        """Print one command with its answer."""
        if self._options.json:
            output.json_line(record(each))
        elif not (self._options.quiet and not each.differs):
            self._print(each)
        output.flush()

    def _print(self, each: "Replayed") -> None:
        from memtui.agents.chat.sessions.replaying import How

        if each.turn and each.turn != self._turn:
            self._turn = each.turn
            output.line(_colored(f"turn {each.turn}", _BOLD))
        fields = each.fields or {}
        is_ours = each.name == "memory"  # a tool of somebody else's may have a field of that name
        command = str((fields.get("command") if is_ours else "") or each.name or "undo")
        named = (fields.get(name) for name in ("path", "old_path", "new_path"))
        where = " -> ".join(str(name) for name in named if isinstance(name, str) and name)
        if each.how is How.OTHERS:
            who = one_line(str(fields.get("actor")))
            output.line(_colored(f"  {output.cell(command, 11)}  {one_line(where)}  by {who}, meanwhile", _DIM))
            return
        verdict = "DIFFERS" if each.differs else "same" if each.now is not None else "not carried out"
        if each.how in (How.EDITED, How.UNDONE) or each.now is None:
            verdict += f": {each.how.value}"
        color = _RED if each.differs else _GREEN if each.now is not None else _DIM
        output.line(f"  {output.cell(command, 11)}  {output.cell(where, 40)}  {_colored(one_line(verdict), color)}")
        if each.differs:
            self._print_difference(each)
        elif each.how is not How.UNDONE:
            _print_answer(each.now if each.now is not None else each.recorded or "")

    def _print_difference(self, each: "Replayed") -> None:
        then, now = each.recorded or "", each.now or ""
        output.line(_colored("      - as it was answered then   + as it is answered now", _DIM))
        if then == now:
            words = {True: "a refusal", False: "an answer"}
            output.line(_colored(f"      -{words[each.was_error]}", _RED))
            output.line(_colored(f"      +{words[each.is_error]}", _GREEN))
        for line in diffs.unified(then, now, context=1):
            color = {"-": _RED, "+": _GREEN, "@": _CYAN}.get(line[:1])
            output.line("      " + _colored(visible(line, newline="\\n"), color))

    def sum_up(self) -> int:
        """Print what it came to, and return the exit code."""
        self._is_watched = False
        for remark in self._remarks:
            self._say(remark)
        same, differ, left, others = (self._counts[name] for name in ("same", "differ", "left", "others"))
        if self._options.json:
            output.json_line(
                {"schema": output.SCHEMA, "type": "summary", "same": same, "differ": differ}
                | {"not_carried_out": left, "others": others, "from_journal": self._origin is not None}
            )
        else:
            words = [f"{same:,} as it was then", f"{differ:,} {'differs' if differ == 1 else 'differ'}"]
            if left:
                words.append(f"{left:,} not carried out, as then")
            if others:
                words.append(f"{others:,} {'change' if others == 1 else 'changes'} by others done as well")
            total = same + differ + left
            output.line(f"{total:,} {'command' if total == 1 else 'commands'}: {', '.join(words)}.")
        return Exit.FINDINGS if differ else Exit.OK


def _print_answer(answer: str) -> None:
    lines = visible(answer).removesuffix("\n").split("\n")
    for line in lines[:_ANSWER_LINES]:
        output.line(_colored(f"      {line}", _DIM))
    if len(lines) > _ANSWER_LINES:
        output.line(_colored(f"      and {len(lines) - _ANSWER_LINES:,} more lines; --json prints all", _DIM))


def _colored(text: str, color: str | None) -> str:
    return f"\x1b[{color}m{text}\x1b[m" if color and output.is_colored() else text


def record(each: "Replayed") -> dict[str, object]:
    """One command, for programs; keys may be added, none is taken away."""
    return {
        "schema": output.SCHEMA,
        "type": "replayed",
        "how": each.how.name.lower(),
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


VERB = Verb(
    "replay",
    "run a chat's calls again",
    (
        ("memtui replay last --speed 2", "twice as fast as it was"),
        ("memtui replay chat.jsonl --speed 0 --json", "for programs"),
        ("memtui replay last --watch", "in the browser"),
    ),
    _arguments,
    _run,
    (
        "The commands run through the real engine, in a temporary folder that begins as",
        "the recorded one stood. What you declined is left out, what you edited is as",
        "you wrote it, pauses over 10 s are cut. Exit codes: 0 all as then; 1 not.",
    ),
    keeps_rights=True,
)
