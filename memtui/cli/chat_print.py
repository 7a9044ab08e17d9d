"""`memtui chat -p`: one turn of a conversation without a screen, for scripts and pipes.

The answer goes to standard output as it comes; what the model does to memory, and what goes wrong, goes beside it.
"""

import codecs
import contextlib
import os
import queue
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.agents.chat import events
from memtui.agents.chat.events import ChatEvent, ChatOptions, FaultKind, TurnOutcome
from memtui.agents.chat.serialization import event_to_json
from memtui.agents.chat.sessions.records import get_text
from memtui.agents.chat.sessions.store import ChatSession
from memtui.cli import output
from memtui.cli.context import open_chat_session, open_memory
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, UsageError, exit_on_signals
from memtui.core.paths import format_path
from memtui.core.unicode import to_one_line, visible
from memtui.fs import state as fs_state

if TYPE_CHECKING:
    from memtui.agents.acp.catalog import KnownAgent
    from memtui.agents.chat.conversation import ChatController


_ASK_SECONDS = 300.0
"""For how long a change waits for a person in a memtui that runs."""
_STOP_SECONDS = 5.0
"""For how long a stopped turn may take to come to its end."""
_MOST = 10_000_000
_READ_ONLY = ": read-only"
_NOBODY = "is not there to be asked"
"""Ends and parts of answers by which a policy refuses."""
_MODELS = " /model lists the models."
"""A hint that holds for the screen alone."""


def print_chat_answer(
    text: str, folder: str, chat_options: ChatOptions, options: Options, *, resume: str | None, fork: str | None,
    agent: "tuple[KnownAgent, tuple[str, ...]] | None" = None,
) -> int:  # fmt: skip
    """Send a message, print the answer, and return the exit code; `-` reads the message from stdin."""
    prompt = events.Prompt(_read_stdin() if text == "-" else text)
    if not prompt.text.strip():
        raise UsageError('memtui chat: the message is empty. Send one: memtui chat -p "…"')
    state = fs_state.get_state_directory(folder, options.state)
    with open_memory(folder, options) as memory:
        session = open_chat_session(memory, folder, chat_options, state=options.state, resume=resume, fork=fork)
        try:
            from memtui.agents.chat.conversation import ChatController  # noqa: PLC0415 - start-up: loads the client

            arrived: queue.SimpleQueue[ChatEvent] = queue.SimpleQueue()
            _warn_other_folder(session, folder, options)
            if agent is None:
                chat = ChatController(memory, chat_options, arrived.put, session=session)
            else:
                from memtui.agents.acp.start import create_agent_chat  # noqa: PLC0415 - start-up: only for an agent

                chat = create_agent_chat(
                    memory, chat_options, arrived.put, session, agent[0], folder, agent[1], can_ask=False
                )
            if options.json:
                output.print_json_line({"schema": output.SCHEMA, "type": "session", "id": session.id})
            turn = _PrintedTurn(chat, arrived, state, options, chat_options.format_resume_command())
            try:
                return turn.run(prompt)
            finally:
                chat.close()
                turn.cancel_pending()
        finally:
            session.close()
            if session.is_incomplete:
                _print_remark(f"The end of this conversation could not be saved in {format_path(session.path)}.")


def _warn_other_folder(session: ChatSession, folder: str, options: Options) -> None:
    """Warn where a session goes on over another folder than before."""
    header = next(session.iter_records(), None)
    before = get_text(header, "folder") if header is not None else ""
    if before and before != folder and not options.quiet:
        _print_remark(f"This session was about {format_path(before)}. It continues with {format_path(folder)}.")


def _print_remark(sentence: str) -> None:
    """Say something beside the answer. Where it cannot be said, such as to a full disk, the answer still can."""
    with contextlib.suppress(OSError):
        output.print_message(sentence)


def _read_stdin() -> str:
    data = sys.stdin.buffer.read(_MOST + 1)
    if len(data) > _MOST:
        raise UsageError("memtui chat: stdin is too long for one message. Nothing was sent.")
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError("memtui chat: stdin is not UTF-8. Nothing was sent.") from error


class _PrintedTurn:
    """One turn: sends a message, and prints its events until it is over."""

    def __init__(
        self, chat: "ChatController", arrived: "queue.SimpleQueue[ChatEvent]", state: Path, options: Options,
        resume: str,
    ) -> None:  # fmt: skip
        self._chat = chat
        self._events = arrived
        self._state = state
        self._options = options
        self._resume = resume
        self._stopped = threading.Event()
        self._is_running = False
        self._fault: events.ChatFault | None = None
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
            with exit_on_signals():
                self._chat.send(prompt)
                self._chat.start()
                while (code := self._handle_event(self._events.get())) is None:
                    pass
            return code
        except (KeyboardInterrupt, SystemExit):
            self._stop()
            raise

    def _stop(self) -> None:
        """Stop as Esc does; the session keeps the turn until now."""
        self._stopped.set()
        self._chat.stop()
        deadline = time.monotonic() + _STOP_SECONDS
        while self._is_running and (left := deadline - time.monotonic()) > 0:
            try:
                self._handle_event(self._events.get(timeout=left))
            except queue.Empty:
                break
        self._end_line()
        self._print_turn_remark(f"Stopped. The conversation so far is kept; to continue: {self._resume}")

    def cancel_pending(self) -> None:
        """Wait for no pending question any more."""
        self._stopped.set()

    def _handle_event(self, event: ChatEvent) -> int | None:
        """Print an event; the exit code once the turn is over."""
        if self._options.json:
            output.print_json_line(event_to_json(event))
            output.flush()
        match event:
            case events.TurnStarted():
                self._is_running = True
            case events.TextDelta():
                self._print_delta(event)
            case events.ApprovalNeeded():
                self._ask_person(event)
            case events.ModelsListed():
                self._models = tuple(model.id for model in event.models)
            case events.CallEnded():
                self._print_turn_remark(_format_call(event))
                self._advice = self._advice or _suggest_policy(event, self._options)
            case events.Notice():
                self._told_last = event.sentence
                self._print_turn_remark(event.sentence)
            case events.RetryScheduled():
                self._print_turn_remark(event.sentence)
            case events.ContextCleared():
                self._print_turn_remark(f"{event.calls:,} old tool results were cleared from the context to make room.")
            case events.ChatFault():
                self._fault = event
                self._end_line()
                _print_remark(self._list_models(event.sentence_without_hint))
                if event.kind is FaultKind.NO_KEY and self._chat.uses_sdk:
                    _offer_agent()
                if not self._is_running:
                    return _get_exit_code(event)
            case events.TurnEnded():
                self._is_running = False
                return self._finish_turn(event)
        return None

    def _print_delta(self, event: events.TextDelta) -> None:
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
        output.write_bytes(shown.encode("utf-8", "surrogatepass"))
        output.flush()

    def _end_line(self) -> None:
        if not self._at_margin:
            self._write("\n")

    def _print_turn_remark(self, sentence: str) -> None:
        """Say something beside the answer; on a terminal, not in the middle of one of its lines."""
        if self._options.quiet:
            return
        if self._is_one_stream:
            self._end_line()
        _print_remark(sentence)

    def _list_models(self, sentence: str) -> str:
        """The sentence of a fault with the models that there are, in place of the screen's hint at its command."""
        there = f" Available: {', '.join(self._models)}." if self._models else ""
        return sentence.replace(_MODELS, there)

    def _ask_person(self, event: events.ApprovalNeeded) -> None:
        """Ask the person in a memtui that runs; where none does, the change is refused with a sentence."""
        from memtui.agents.remote_approval import request_approval  # noqa: PLC0415 - start-up: only to ask

        def ask() -> None:
            verdict = request_approval(
                self._state, event.proposal, seconds=_ASK_SECONDS, wait_for_server=False, stop=self._stopped.is_set
            )
            self._chat.answer(event.number, verdict)

        threading.Thread(target=ask, name="memtui-ask", daemon=True).start()

    def _finish_turn(self, event: events.TurnEnded) -> int:
        self._end_line()
        for each in event.memory_changes:
            self._print_turn_remark(_format_remembered(each))
        if self._advice:
            self._print_turn_remark(self._advice)
        match event.end:
            case TurnOutcome.DONE:
                return ExitCode.OK
            case TurnOutcome.FAULT:
                return _get_exit_code(self._fault)
            case TurnOutcome.STOPPED:
                return ExitCode.INTERRUPTED
            case _ if self._fault is not None:
                return _get_exit_code(self._fault)
            case _:
                if self._options.quiet:  # else it was said
                    _print_remark(self._told_last or f"The turn ended early: {event.end.value}.")
                return ExitCode.FINDINGS


def _offer_agent() -> None:
    """Name an agent that is installed, in place of a key."""
    from memtui.agents.acp.catalog import suggest_installed  # noqa: PLC0415 - start-up: only without a key

    if words := suggest_installed():
        _print_remark(words)


def _get_exit_code(fault: events.ChatFault | None) -> ExitCode:
    match fault.kind if fault is not None else FaultKind.BUG:
        case FaultKind.BUG:
            return ExitCode.INTERNAL
        case FaultKind.MEMORY:
            return ExitCode.MISSING
        case _:
            return ExitCode.API


def _is_one_stream() -> bool:
    """Whether answer and remarks end up in one place, as on a terminal or with `2>&1`."""
    try:
        return os.path.samestat(os.fstat(1), os.fstat(2)) or (os.isatty(1) and os.isatty(2))
    except OSError:
        return False


def _suggest_policy(event: events.CallEnded, options: Options) -> str:
    """How to allow a change that a policy refused."""
    if not event.is_error or options.read_only:
        return ""
    if _NOBODY in event.text:
        return "To be asked, keep memtui open on the folder; to allow all writes: --policy allow"
    if event.text.endswith(_READ_ONLY):
        return "To allow writes: --policy allow; to be asked in a running memtui: --policy ask"
    return ""


def _format_call(event: events.CallEnded) -> str:
    """One tool call on one line."""
    fields = event.fields
    command = fields.get("command")
    if event.name != "memory" or not isinstance(command, str) or not command:
        command = event.name  # another tool, or a call without a command
    named = [each for name in ("path", "old_path", "new_path") if isinstance(each := fields.get(name), str)]
    words = f"{command} {' -> '.join(named)}".strip()
    done = event.event
    if event.is_error:
        words += f": {event.text}"
    elif event.edit is not None:
        words += ": edited by you first"
    elif done is not None and done.added is not None:
        words += f"  +{done.added} -{done.removed}"
    return to_one_line(words)


def _format_remembered(each: events.MemoryChange) -> str:
    words = f"Remembered: {each.how} {each.path}"
    if each.old_path is not None:
        words += f" (was {each.old_path})"
    if each.added is not None:
        words += f"  +{each.added} -{each.removed or 0}"
    return to_one_line(words)
