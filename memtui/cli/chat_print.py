"""`memtui chat -p`: one turn of a conversation without a screen, for scripts and pipes.

The answer goes to standard output as it comes; what the model does to memory, and what goes wrong, goes beside it.
"""

import codecs
import contextlib
import os
import queue
import re
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from memtui import opening
from memtui.agents.chat import events
from memtui.agents.chat.as_json import event_as_json
from memtui.agents.chat.events import ChatEvent, End, FaultKind
from memtui.agents.chat.options import ChatOptions
from memtui.agents.chat.sessions.records import text_in
from memtui.agents.chat.sessions.session import CHATS, NoSession, Session
from memtui.cli import output
from memtui.cli.exits import Exit, Failure
from memtui.cli.opened import opened
from memtui.cli.signals import ended_in_order
from memtui.cli.verb import Options
from memtui.core.visible import one_line, visible
from memtui.places import short

if TYPE_CHECKING:
    from memtui.agents.chat.conversation import Chat

_ASK_SECONDS = 300.0
"""For how long a change waits for a person in a memtui that runs."""
_STOP_SECONDS = 5.0
"""For how long a stopped turn may take to come to its end."""
_MOST = 10_000_000
_READ_ONLY = ": read-only"
_NOBODY = "is not there to be asked"
"""How the answers end, or what is in them, that a policy refused with."""
_KEPT = re.compile(r" Your message is kept(?:; Enter tries again)?\.\Z")
"""What is so on a screen: here the message is the caller's."""
_MODELS = " /model shows those there are."
"""What there is on a screen to find a model with."""


def answer(text: str, folder: str, held: ChatOptions, options: Options, *, resume: str | None, fork: str | None) -> int:
    """Say something, and print the answer.

    Args:
        text: What is said; `-` for what comes from standard input.
        folder: The memory folder.
        held: How the conversation is held.
        options: Those that all verbs take.
        resume: Which session goes on; `None` for none.
        fork: Of which session a copy goes on; `None` for none.

    Returns:
        The exit code.
    """
    prompt = events.Prompt(_read_stdin() if text == "-" else text)
    if not prompt.text.strip():
        raise Failure(Exit.USAGE, 'memtui chat: there is nothing to say. Say it: memtui chat -p "…"')
    state = opening.state_directory(folder, options.state)
    with opened(folder, options) as memory:
        kept = not options.read_only
        try:
            if resume is not None:
                session = Session.resume(state / CHATS, resume, kept=kept)
            elif fork is not None:
                session = Session.fork(state / CHATS, fork, kept=kept)
            else:
                session = Session.new(state / CHATS, folder=folder, options=held, seq=memory.head()[0], kept=kept)
        except NoSession as error:
            raise Failure(Exit.MISSING, str(error)) from error
        try:
            from memtui.agents.chat.conversation import Chat  # for start-up cost: what is wrong so far is said at once

            told: queue.SimpleQueue[ChatEvent] = queue.SimpleQueue()
            _say_where_it_was(session, folder, options)
            chat = Chat(memory, held, told.put, session=session)
            if options.json:
                output.json_line({"schema": output.SCHEMA, "type": "session", "id": session.id})
            turn = _Turn(chat, told, state, options)
            try:
                return turn.run(prompt)
            finally:
                chat.close()
                turn.settle()
        finally:
            session.close()
            if session.lacks:
                _beside(
                    f"Not all that was said could be saved in {short(session.path)}: the end of this conversation is "
                    "not in it."
                )


def _say_where_it_was(session: Session, folder: str, options: Options) -> None:
    """Say so where a session goes on over another folder than before: what it remembers is not here."""
    header = next(session.records(), None)
    before = text_in(header, "folder") if header is not None else ""
    if before and before != folder and not options.quiet:
        _beside(f"This session was held over {short(before)}. It goes on over {short(folder)}.")


def _beside(sentence: str) -> None:
    """Say something beside the answer. Where it cannot be said, such as to a full disk, the answer still can."""
    with contextlib.suppress(OSError):
        output.message(sentence)


def _read_stdin() -> str:
    data = sys.stdin.buffer.read(_MOST + 1)
    if len(data) > _MOST:
        raise Failure(Exit.USAGE, "memtui chat: what came from stdin is too long to be said in one message.")
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Failure(Exit.USAGE, "memtui chat: what came from stdin is not UTF-8. Nothing was said.") from error


class _Turn:
    """One turn: says something, and prints what comes back until it is over."""

    def __init__(self, chat: "Chat", told: "queue.SimpleQueue[ChatEvent]", state: Path, options: Options) -> None:
        self._chat = chat
        self._told = told
        self._state = state
        self._options = options
        self._stopped = threading.Event()
        self._is_running = False
        self._fault: events.Fault | None = None
        self._told_last = ""
        self._block: int | None = None
        self._at_margin = True
        self._wrote = False
        self._is_one_stream = _is_one_stream()
        self._models: tuple[str, ...] = ()
        self._advice = ""

    def run(self, prompt: events.Prompt) -> int:
        """Say it, and wait for the end of the turn."""
        try:
            with ended_in_order():
                self._chat.send(prompt)
                self._chat.start()
                while (code := self._take(self._told.get())) is None:
                    pass
            return code
        except (KeyboardInterrupt, SystemExit):
            self._stop()
            raise

    def _stop(self) -> None:
        """Stop as Esc does: what was said until now is kept."""
        self._stopped.set()
        self._chat.stop()
        deadline = time.monotonic() + _STOP_SECONDS
        while self._is_running and (left := deadline - time.monotonic()) > 0:
            try:
                self._take(self._told.get(timeout=left))
            except queue.Empty:
                break
        self._end_line()
        self._say("Stopped. What was said until then is kept; to go on: memtui chat --resume")

    def settle(self) -> None:
        """What is still waited for is not waited for any more."""
        self._stopped.set()

    def _take(self, event: ChatEvent) -> int | None:
        """Print what was told; the exit code once the turn is over."""
        if self._options.json:
            output.json_line(event_as_json(event))
            output.flush()
        match event:
            case events.TurnBegan():
                self._is_running = True
            case events.TextDelta():
                self._print(event)
            case events.Asked():
                self._ask(event)
            case events.ModelsKnown():
                self._models = tuple(model.id for model in event.models)
            case events.CallEnded():
                self._say(_call(event))
                self._advice = self._advice or _advice(event, self._options)
            case events.Told():
                self._told_last = event.sentence
                self._say(event.sentence)
            case events.Waiting():
                self._say(event.sentence)
            case events.ContextCleared():
                self._say(f"{event.calls:,} old tool results were left out of what the model sees, to make room.")
            case events.Fault():
                self._fault = event
                self._end_line()
                _beside(self._said_here(event.sentence))
                if not self._is_running:
                    return _code(event)
            case events.TurnEnded():
                self._is_running = False
                return self._ended(event)
        return None

    def _print(self, event: events.TextDelta) -> None:
        if self._options.json or not event.text:
            return
        if self._block is not None and event.block != self._block and self._wrote:
            self._write("\n" if self._at_margin else "\n\n")
        self._block = event.block
        self._write(event.text)

    def _write(self, text: str) -> None:
        shown = visible(text) if output.is_terminal(sys.stdout) else text
        self._wrote = True  # before it is: Ctrl+C may come as soon as somebody can read it
        self._at_margin = text.endswith("\n")
        output.exact(shown.encode("utf-8", "surrogatepass"))
        output.flush()

    def _end_line(self) -> None:
        if not self._at_margin:
            self._write("\n")

    def _say(self, sentence: str) -> None:
        """Say something beside the answer; on a terminal, not in the middle of one of its lines."""
        if self._options.quiet:
            return
        if self._is_one_stream:
            self._end_line()
        _beside(sentence)

    def _said_here(self, sentence: str) -> str:
        """The sentence of a fault, without what there is on a screen only."""
        there = f" There are: {', '.join(self._models)}." if self._models else ""
        return _KEPT.sub("", sentence.replace(_MODELS, there))

    def _ask(self, event: events.Asked) -> None:
        """Ask the person in a memtui that runs; where none does, the change is refused with a sentence."""
        from memtui.agents.waiting import ask_elsewhere  # for start-up cost

        def ask() -> None:
            verdict = ask_elsewhere(
                self._state,
                event.proposal,
                seconds=_ASK_SECONDS,
                wait_for_somebody=False,
                stop=self._stopped.is_set,
            )
            self._chat.answer(event.number, verdict)

        threading.Thread(target=ask, name="memtui-ask", daemon=True).start()

    def _ended(self, event: events.TurnEnded) -> int:
        self._end_line()
        for each in event.remembered:
            self._say(_remembered(each))
        if self._advice:
            self._say(self._advice)
        match event.end:
            case End.DONE:
                return Exit.OK
            case End.FAULT:
                return _code(self._fault)
            case End.STOPPED:
                return Exit.INTERRUPTED
            case _ if self._fault is not None:
                return _code(self._fault)
            case _:
                if self._options.quiet:  # else it was said
                    _beside(self._told_last or f"The turn ended before its end: {event.end.value}.")
                return Exit.FINDINGS


def _code(fault: events.Fault | None) -> Exit:
    match fault.kind if fault is not None else FaultKind.BUG:
        case FaultKind.BUG:
            return Exit.INTERNAL
        case FaultKind.MEMORY:
            return Exit.MISSING
        case _:
            return Exit.API


def _is_one_stream() -> bool:
    """Whether answer and remarks end up in one place, as on a terminal or with `2>&1`."""
    try:
        return os.path.samestat(os.fstat(1), os.fstat(2)) or (os.isatty(1) and os.isatty(2))
    except OSError:
        return False


def _advice(event: events.CallEnded, options: Options) -> str:
    """What to do for a change to go through, where it was refused for how this was called."""
    if not event.is_error or options.read_only:
        return ""
    if _NOBODY in event.text:
        return "To be asked, keep a memtui open that shows the folder; to let it write unasked: --policy allow"
    if event.text.endswith(_READ_ONLY):
        return "To let it write: --policy allow; to be asked in a memtui that runs: --policy ask"
    return ""


def _call(event: events.CallEnded) -> str:
    """One tool call on one line."""
    fields = event.fields
    command = fields.get("command") if event.name == "memory" else event.name
    named = [each for name in ("path", "old_path", "new_path") if isinstance(each := fields.get(name), str)]
    words = f"{command} {' -> '.join(named)}".strip()
    done = event.event
    if event.is_error:
        words += f": {event.text}"
    elif event.edit is not None:
        words += ": edited by you first"
    elif done is not None and done.added is not None:
        words += f"  +{done.added} -{done.removed}"
    return one_line(words)


def _remembered(each: events.Remembered) -> str:
    words = f"Remembered: {each.how} {each.path}"
    if each.old_path is not None:
        words += f" (was {each.old_path})"
    if each.added is not None:
        words += f"  +{each.added} -{each.removed or 0}"
    return one_line(words)
