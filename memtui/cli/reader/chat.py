"""A conversation with an agent, line by line: its text, the calls, and the questions."""

import contextlib
import math
import queue
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.agents.chat import events
from memtui.agents.chat.events import ChatEvent, ChatOptions, Prompt, TurnOutcome
from memtui.cli.context import open_chat_session
from memtui.cli.reader.approvals import ask_verdict
from memtui.cli.reader.session import ReaderSession
from memtui.core.approvals import Stop
from memtui.core.events import Agent
from memtui.core.unicode import to_one_line
from memtui.core.wording import SPOKEN, format_changed_lines, format_event_clause
from memtui.flows.approvals import describe_request, describe_verdict

if TYPE_CHECKING:
    from memtui.agents.chat.conversation import ChatController
    from memtui.agents.chat.sessions.store import ChatSession
    from memtui.agents.remote_approval import ApprovalQuestion
    from memtui.engine import Engine

    MakeChat = Callable[[Engine, ChatOptions, Callable[[ChatEvent], None], ChatSession], ChatController]


_PAUSE = 0.2
_CHANGE_SECONDS = 10.0
"""For an agent to change its mode or model."""
_PROGRAM_COMMANDS = "/mode and /model choose one of its modes and models."
_COMMANDS = "/again sends the last message again, /undo undoes the last turn, /new starts a new chat, /back ends."


def run_reader_chat(
    session: ReaderSession,
    chat_options: ChatOptions,
    *,
    state: str | None = None,
    resume: str | None = None,
    fork: str | None = None,
    make: "MakeChat | None" = None,
) -> None:
    """Talk until the person ends it.

    Args:
        session: The visit.
        chat_options: Of the conversation.
        state: The state directory, where it is not the usual one.
        resume: A session to go on with.
        fork: A session to go on with a copy of.
        make: Makes the conversation; by default one with a model that the SDK reaches.
    """
    from memtui.agents.chat.conversation import ChatController  # noqa: PLC0415 - start-up: loads the client

    record = open_chat_session(session.engine, session.folder, chat_options, state=state, resume=resume, fork=fork)
    arrived: queue.SimpleQueue[ChatEvent] = queue.SimpleQueue()
    if make is None:
        chat = ChatController(session.engine, chat_options, arrived.put, session=record)
    else:
        chat = make(session.engine, chat_options, arrived.put, record)

    def decide(question: "ApprovalQuestion") -> bool:
        actor = question.proposal.actor
        is_own = isinstance(actor, Agent) and actor.session == record.id
        if is_own:
            chat.decide(question.proposal, question.answer)
        return is_own

    session.decide_elsewhere = decide
    try:
        _ReaderConversation(session, chat, arrived, chat_options.agent).run()
    finally:
        session.decide_elsewhere = None
        chat.close()
        record.close()


class _ReaderConversation:
    """One conversation."""

    def __init__(
        self, session: ReaderSession, chat: "ChatController", arrived: queue.SimpleQueue[ChatEvent], agent: str
    ) -> None:
        self._session = session
        self._dialog = session.dialog
        self._chat = chat
        self._events = arrived
        self._agent = to_one_line(agent)
        self._offers = events.OffersChanged()
        self._line = ""
        self._last = chat.unanswered
        self._is_running = False

    def run(self) -> None:
        """Take a message, have it answered, and so on."""
        more = "" if self._chat.uses_sdk else f" {_PROGRAM_COMMANDS}"
        self._dialog.say(f"Talking with {self._agent}. Ctrl+C stops an answer; {_COMMANDS}{more}")
        if self._last is not None:
            self._dialog.say(f"Your last message got no answer: {self._last.text}")
        self._chat.start()
        while True:
            try:
                words = self._dialog.ask("You:").strip()
            except KeyboardInterrupt:
                self._dialog.say("", "The conversation has ended.")
                return
            match words:
                case "":
                    continue
                case "/back" | "/quit" | "/exit":
                    return
                case "/again" if self._last is not None:
                    self._send_prompt(self._last)
                case "/again":
                    self._dialog.say("There is no message yet.")
                case "/undo":
                    self._chat.undo_turn()
                    self._read_events(events.TurnUndone, events.Notice)
                case "/new":
                    self._chat.clear()
                    self._read_events(events.ConversationRewound, events.Notice)
                    self._dialog.say("Started a new conversation.")
                case "/mode" | "/model" if not self._chat.uses_sdk:
                    self._choose(words[1:])
                case _ if words.startswith("/") and " " not in words and not self._is_offered(words[1:]):
                    self._dialog.say(f"Unknown command {words}. {_COMMANDS}")
                case _:
                    self._send_prompt(Prompt(words))

    def _is_offered(self, name: str) -> bool:
        """Whether a slash command is the agent's own, which takes it as a message."""
        self._handle_waiting()
        return any(each.id == name for each in self._offers.commands)

    def _handle_waiting(self) -> None:
        """Handle the events that came while nothing was waited for."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._handle_event(self._events.get_nowait())

    def _choose(self, what: str) -> None:
        """Have the person choose a mode or a model of the agent's."""
        self._handle_waiting()
        modes = [(each.words or each.id, each.id) for each in self._offers.modes]
        models = [(each.name or each.id, each.id) for each in self._chat.models]
        choices = modes if what == "mode" else models
        if not choices:
            self._dialog.say(f"{self._agent} has offered no {what}s so far.")
            return
        model = self._chat.model.id if self._chat.model is not None else ""
        now = self._offers.mode if what == "mode" else model
        chosen = self._dialog.choose(f"The {what} is {to_one_line(now)}.", [*choices, ("Back", "")])
        if not chosen or chosen == now:
            return
        if what == "mode":
            self._chat.set_mode(chosen)
            self._read_events(events.OffersChanged, events.Notice, seconds=_CHANGE_SECONDS)
        else:
            self._chat.set_model(chosen)
            self._read_events(events.ModelChanged, events.Notice, seconds=_CHANGE_SECONDS)

    def _send_prompt(self, prompt: Prompt) -> None:
        self._last = prompt
        self._chat.send(prompt)
        self._read_events(events.TurnEnded)

    def _read_events(self, *ends: type[ChatEvent], seconds: float = math.inf) -> None:
        """Handle events up to one of the types `ends`, or for so many seconds; Ctrl+C stops the turn."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                self._dialog.raise_pending_interrupt()
                event = self._events.get(timeout=_PAUSE)
            except queue.Empty:
                continue
            except KeyboardInterrupt:
                self._chat.stop()
                if not self._is_running:
                    self._dialog.say("", "Stopped waiting.")
                    return
                continue
            try:
                self._handle_event(event)
            except KeyboardInterrupt:
                self._chat.stop()
            if isinstance(event, ends) or (isinstance(event, events.ChatFault) and not self._is_running):
                return

    def _handle_event(self, event: ChatEvent) -> None:
        say = self._dialog.say
        match event:
            case events.TurnStarted():
                self._is_running = True
                say(f"{self._agent}:")
            case events.TextDelta():
                self._say_text(event.text)
            case events.ApprovalNeeded():
                self._end_line()
                self._ask_person(event)
            case events.CallEnded():
                self._end_line()
                say(_format_call(event, self._agent))
            case events.Notice() | events.RetryScheduled():
                self._end_line()
                say(event.sentence)
            case events.TurnUndone():
                say(event.sentence)
            case events.OffersChanged():
                if self._offers.mode and event.mode != self._offers.mode:
                    say(f"Mode: {event.mode}.")
                self._offers = event
            case events.ModelChanged() if not self._chat.uses_sdk:
                say(f"Model: {event.model.name or event.model.id}.")
            case events.ChatFault():
                self._end_line()
                say(f"{event.sentence_without_hint} /again sends it again.")
            case events.TurnEnded():
                self._is_running = False
                self._end_line()
                self._say_turn_end(event)

    def _say_text(self, text: str) -> None:
        """Whole lines only: a screen reader would spell the pieces."""
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            if line.strip():
                self._dialog.say(line)

    def _end_line(self) -> None:
        line, self._line = self._line, ""
        if line.strip():
            self._dialog.say(line)

    def _ask_person(self, event: events.ApprovalNeeded) -> None:
        self._dialog.say(f"{describe_request(event.proposal)}.")
        try:
            verdict = ask_verdict(self._session, event.proposal, away=f"Stop {self._agent}") or Stop()
        except BaseException:
            self._chat.answer(event.number, Stop())
            raise
        self._chat.answer(event.number, verdict)
        if not isinstance(verdict, Stop):
            self._dialog.say(describe_verdict(verdict, event.proposal))

    def _say_turn_end(self, event: events.TurnEnded) -> None:
        for each in event.memory_changes:
            was = f", was {each.old_path}" if each.old_path is not None else ""
            self._dialog.say(
                f"Remembered: {each.how} {each.path}{was}{format_changed_lines(each.added, each.removed, SPOKEN)}."
            )
        match event.end:
            case TurnOutcome.STOPPED:
                self._dialog.say("Stopped. The conversation so far is kept.")
            case TurnOutcome.CUT:
                self._dialog.say("The answer ended early.")
            case TurnOutcome.REFUSED:
                self._dialog.say(f"{self._agent} declined to continue.")
            case TurnOutcome.TOO_MANY_CALLS:
                self._dialog.say("The turn was stopped: it had too many calls.")


def _format_call(event: events.CallEnded, agent: str) -> str:
    """One tool call, in a sentence."""
    if event.event is not None:
        return f"{format_event_clause(event.edit or event.event, SPOKEN)}."
    first = event.text.split("\n", 1)[0][:400]
    return f"{agent} called {event.name}{f', which failed: {first}' if event.is_error else ''}."
