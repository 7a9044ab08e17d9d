"""A conversation without a screen: messages go in from any thread, and events come out.

It has a thread with a loop. There the SDK is loaded, which takes two seconds, while the screen is already up; there
every event is emitted. Each method returns at once.
"""

import asyncio
import contextlib
import sys
import threading
import traceback
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from memtui.agents.chat import events
from memtui.agents.chat.client import make_client
from memtui.agents.chat.faults import ClassifiedFault
from memtui.agents.chat.request import RetryPolicy, StoppedByPerson, wait_unless_stopped
from memtui.agents.chat.responder import MakeResponder, SdkResponder
from memtui.agents.chat.sessions.store import ChatSession
from memtui.agents.chat.state import ChatState
from memtui.core.approvals import ApprovalPolicy, Proposal, Verdict
from memtui.core.errors import MemtuiError
from memtui.core.history import ActionResult
from memtui.core.unicode import to_one_line
from memtui.engine import Engine

_CLOSING_SECONDS = 2.0
_MOST_NAMES = 5
_HOLDS = frozenset({events.TurnOutcome.FAULT, events.TurnOutcome.REFUSED})
"""Outcomes after which the queue is held: the next message would most likely end in the same way."""

_Act = Callable[[], Awaitable[None] | None]


async def undo_turn(state: ChatState) -> None:
    """Undo the writes of the last turn, those of the person in its place included, as one event."""
    turn, seqs = state.writes
    if not seqs:
        words = "the last turn wrote nothing to memory" if turn else "nothing was written to memory yet"
        state.emit(events.Notice(f"Nothing to undo: {words}."))
        return

    def undo() -> ActionResult:
        pending = [seq for seq in seqs if state.memory.history.find_undoing_event(seq) is None]
        if not pending:
            return ActionResult(problem="Nothing to undo: the last turn is already undone.")
        return state.memory.undo(pending)

    try:
        result = await state.worker.run(undo)
    except MemtuiError as error:
        state.emit(events.Notice(f"Not undone: {error}"))
        return
    event = result.event
    if event is None:
        state.emit(events.Notice(result.problem or "Nothing to undo: the files are already as they were before."))
        return
    paths = [to_one_line(change.path) for change in event.changes]
    more = len(paths) - _MOST_NAMES
    names = ", ".join(paths[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
    note = f"The user took back what you wrote to memory in your last turn ({names}): it is as it was before that turn."
    state.notes.append(note)
    state.session.write("undone", turn=turn, seq=event.seq, note=note)
    state.emit(events.TurnUndone(turn, event, f"Undid what this turn wrote: {names}. {result.problem}".rstrip()))


def rewind_turn(state: ChatState, reason: str) -> events.Prompt | None:
    """Take the last turn out of the conversation for a `retry` or an `edit`; its writes to memory stay.

    Returns:
        The message of that turn; `None` where there is none.
    """
    if state.last is None:
        state.emit(events.Notice("No message to edit or send again."))
        return None
    turn, prompt = state.last
    state.drop_turn(turn)
    state.last, state.unanswered = None, None
    state.session.write("rewound", turn=turn, why=reason)
    state.emit(events.ConversationRewound(turn, prompt, reason))
    if state.writes[0] == turn and state.writes[1]:
        state.emit(events.Notice("What that turn wrote to memory is kept."))
    return prompt


def clear_conversation(state: ChatState) -> None:
    """Begin a new conversation in the same session. Memory stays as it is."""
    state.history.rewind(0)
    state.notes, state.sent_notes = [], {}
    state.last, state.unanswered = None, None
    state.meter.reset_context()
    state.session.write("rewound", turn=1, why="clear")
    state.emit(events.ConversationRewound(1, None, "clear"))


class ChatController:
    """One conversation. Every method may be called from any thread, and returns at once.

    Args:
        memory: The open memory. It is not closed here.
        options: The person's choices.
        listener: Takes the events, in the conversation's own thread.
        session: Records the conversation, and restores an earlier one; closed with the conversation.
        client: Makes a client of the SDK.
        retries: How long is waited for a server.
        now: The local time, which the model is told with each message; `None` to tell none.
        responder: Makes what answers the messages; by default the model that the SDK reaches.
    """

    def __init__(
        self,
        memory: Engine,
        options: events.ChatOptions,
        listener: Callable[[events.ChatEvent], None],
        *,
        session: ChatSession,
        client: Callable[[events.ChatOptions], Any] | None = None,
        retries: RetryPolicy | None = None,
        now: Callable[[], datetime] | None = lambda: datetime.now(UTC).astimezone(),
        responder: MakeResponder = SdkResponder,
    ) -> None:
        self._listener = listener
        self._session = session
        restored = session.restore()
        self.unanswered = restored.unanswered
        """The last message of a conversation that is resumed, if nothing came back to it."""
        self._state = ChatState(
            memory, options, self._emit, session, restored, client or make_client, retries or RetryPolicy(), now
        )
        self._responder = responder(self._state)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._queue: deque[events.Prompt] = deque()
        self._acts: deque[_Act] = deque()
        self._early: list[Callable[[], None]] = []
        """Jobs for the thread, until its loop runs."""
        self._woken = asyncio.Event()
        self._is_held = False
        self._in_turn = False
        self._has_failed = False
        """Whether a fault of the turn under way has been reported, though the turn is not over yet."""
        self._goes_on = False
        """Whether a message was sent since then: the queue is not held at the end of the turn."""
        self._is_connecting = False
        self._taken = 0
        """Messages taken from the queue so far: a stop is for the message that it was meant for."""
        self._is_closing = False

    # From any thread

    def start(self) -> None:
        """Begin: the SDK is loaded, and `Ready` or a `ChatFault` is emitted."""
        with self._lock:
            if self._thread is not None or self._is_closing:
                return
            self._thread = threading.Thread(target=self._run, name="memtui-chat", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End, as if stopped, within two seconds. A write that is under way comes to its end."""
        with self._lock:
            self._is_closing = True
            thread = self._thread
        if thread is None:
            self._session.close()
            return
        self._post(self._stop_now)
        if thread is not threading.current_thread():
            thread.join(_CLOSING_SECONDS)

    def send(self, prompt: events.Prompt) -> None:
        """Send a message, or queue it until the turn is over."""
        with self._lock:
            failed = self._has_failed and not self._goes_on
            if self._is_held or failed:  # before the queue, which would have come after the message that failed
                self._queue.appendleft(prompt)
                self._goes_on = self._goes_on or failed
            else:
                self._queue.append(prompt)
            self._is_held = False
        self._post(self._emit_queue)

    @property
    def queued(self) -> tuple[events.Prompt, ...]:
        """The messages that wait, in order."""
        with self._lock:
            return tuple(self._queue)

    def remove_queued(self, index: int) -> events.Prompt | None:
        """Take a message out of the queue; `None` if it is not there any more."""
        with self._lock:
            if not 0 <= index < len(self._queue):
                return None
            prompt = self._queue[index]
            del self._queue[index]
        self._post(self._emit_queue)
        return prompt

    def stop(self) -> None:
        """Stop the turn. What was said until then is kept; the queue is sent."""
        if self._in_turn or (self._is_connecting and self._queue):
            self._post(self._make_stop(self._taken))

    def answer(self, number: int, verdict: Verdict) -> None:
        """Answer an `ApprovalNeeded`."""
        self._post(lambda: self._state.questions.answer(number, verdict))

    def decide(self, proposal: Proposal, answer: Callable[[Verdict], object]) -> None:
        """Decide on a change that the agent asks for from another process, as on one that it asks for here.

        Args:
            proposal: The change.
            answer: Takes the verdict, in the conversation's thread.
        """
        self._post(lambda: self._responder.decide(proposal, answer))

    def retry(self) -> None:
        """Send the last message again, in place of its turn."""
        self._schedule_action(lambda: self._rewind("retry"), stops=True)

    def edit_last(self) -> None:
        """Take the last message back to edit it; see `ConversationRewound`."""
        self._schedule_action(lambda: self._rewind("edit"), stops=True, holds=True)

    def undo_turn(self) -> None:
        """Undo the last turn's writes to memory; see `TurnUndone`."""
        if self._in_turn:
            self._post(lambda: self._state.emit(events.Notice("Not undone: the turn is still running. Esc stops it.")))
            return
        self._schedule_action(lambda: undo_turn(self._state))

    def clear(self) -> None:
        """Begin a new conversation, in the same session."""
        self._schedule_action(lambda: clear_conversation(self._state), stops=True, holds=True)

    def set_policy(self, policy: ApprovalPolicy, always: frozenset[str] | None = None) -> None:
        """Set the approval policy, at once."""
        self._state.gate.policy = policy
        if always is not None:
            self._state.gate.always = always
        self._post(self._state.record_policy_change)

    def set_model(self, id: str) -> None:
        """Have another model answer, from the next turn on."""
        self._schedule_action(lambda: self._responder.set_model(id))

    def set_mode(self, id: str) -> None:
        """Have the agent work in another of its modes."""
        self._schedule_action(lambda: self._responder.set_mode(id))

    def set_effort(self, level: str | None) -> None:
        """Set the effort, from the next turn on."""
        self._schedule_action(lambda: self._responder.set_effort(level))

    def set_thinking(self, thinking: bool | None) -> None:
        """Set whether the model may think, from the next turn on."""
        self._schedule_action(lambda: self._responder.set_thinking(thinking))

    @property
    def uses_sdk(self) -> bool:
        """Whether a model that the SDK reaches answers, and no agent's own program."""
        return isinstance(self._responder, SdkResponder)

    @property
    def is_busy(self) -> bool:
        """Whether a turn is under way, or about to be."""
        return self._in_turn or (bool(self._queue) and not self._is_held)

    @property
    def policy(self) -> ApprovalPolicy:
        """The approval policy."""
        return self._state.gate.policy

    @property
    def always(self) -> frozenset[str]:
        """The paths below which no approval is needed."""
        return self._state.gate.always

    @property
    def model(self) -> events.Model | None:
        """The model that answers; `None` where that is not known yet."""
        return self._state.model

    @property
    def models(self) -> tuple[events.Model, ...]:
        """The models that the server lists, the newest first; empty where that is not known."""
        return self._state.connection.models

    @property
    def turn(self) -> int:
        """The number of the last turn; 0 for none."""
        return self._state.turn

    @property
    def session_id(self) -> str:
        """The id of the session."""
        return self._session.id

    @property
    def session_usage(self) -> events.Usage:
        """The usage of the conversation."""
        return self._state.meter.session

    @property
    def effort(self) -> str | None:
        """The level of effort; `None` leaves it to the model."""
        return self._state.request_options.effort

    @property
    def thinking(self) -> bool | None:
        """Whether the model may think; `None` leaves it to the model."""
        return self._state.request_options.thinking

    # In the conversation's thread

    def _run(self) -> None:
        try:
            asyncio.run(self._run_loop())
        except BaseException as error:  # the end of the thread: nothing else reports it
            self._emit(
                events.ChatFault(
                    events.FaultKind.BUG, f"The chat ended because of a bug ({type(error).__name__}: {error})."
                )
            )
            sys.excepthook(*sys.exc_info())
        finally:
            self._in_turn = False
            self._loop = None
            self._session.close()

    async def _run_loop(self) -> None:
        state = self._state
        with self._lock:
            self._loop = asyncio.get_running_loop()
            early, self._early = self._early, []
        for do in early:
            do()
        self._session.listen(lambda sentence: self._post(lambda: state.emit(events.Notice(sentence))))
        try:
            if not self._is_closing:
                await self._connect_first()
            while not self._is_closing:
                if self._acts:
                    await self._run_action(self._acts.popleft())
                elif (prompt := self._pop_next()) is not None:
                    await self._run_turn(prompt)
                else:
                    self._woken.clear()
                    if not (self._acts or self._is_closing or self._has_next()):
                        await self._woken.wait()
        finally:
            state.pacer.flush()
            with contextlib.suppress(Exception, asyncio.CancelledError):  # the thread ends, whatever it raises
                await asyncio.wait_for(self._responder.close(), _CLOSING_SECONDS / 2)

    async def _connect_first(self) -> None:
        state = self._state
        self._is_connecting = True
        try:
            fault = await wait_unless_stopped(self._responder.connect(), state.stopping)
        except StoppedByPerson:
            with self._lock:
                self._is_held = bool(self._queue)
            state.emit(events.Notice("Stopped while connecting. The next message tries again."))
            return
        finally:
            self._is_connecting = False
        if fault is not None:
            self._hold(fault, self._pop_next())

    def _hold(self, fault: ClassifiedFault, prompt: events.Prompt | None) -> None:
        """Report a message that could not be sent, and hold the queue: the person sends both again."""
        with self._lock:
            self._is_held = True
        self._in_turn = False
        self._state.report_fault(fault, prompt)

    async def _run_turn(self, prompt: events.Prompt) -> None:
        state = self._state
        state.stopping.clear()
        try:
            try:
                fault = await wait_unless_stopped(self._responder.connect(), state.stopping)
                fault = fault or self._validate_prompt(prompt)
            except StoppedByPerson:
                self._requeue(prompt)
                return
            if fault is not None:
                self._hold(fault, prompt)
                return
            try:
                ended = await self._responder.run_turn(prompt)
            except Exception as error:  # the last resort: the thread must not end
                self._report_bug(error, "The turn ended")
                ended = events.TurnEnded(state.turn, events.TurnOutcome.FAULT, 0.0, 0, 0, (), events.Usage())
            with self._lock:
                self._is_held = ended.end in _HOLDS and bool(self._queue) and not self._goes_on
                self._has_failed = False
            self._in_turn = False
            state.emit(ended)
        finally:
            self._in_turn = False

    def _requeue(self, prompt: events.Prompt) -> None:
        """Hold a message that was stopped before it could be sent."""
        with self._lock:
            self._queue.appendleft(prompt)
            self._is_held = True
        self._in_turn = False
        self._emit_queue()
        self._state.emit(events.Notice("Stopped before your message was sent. It waits in the queue."))

    def _validate_prompt(self, prompt: events.Prompt) -> ClassifiedFault | None:
        problems = (self._responder.validate_attachment(attachment) for attachment in prompt.attachments)
        problem = next((each for each in problems if each), None)
        if problem is None and not prompt.text.strip() and not prompt.attachments:
            problem = "The message is empty."
        return None if problem is None else ClassifiedFault(events.FaultKind.BAD_REQUEST, f"Not sent: {problem}")

    def _has_next(self) -> bool:
        with self._lock:
            return bool(self._queue) and not self._is_held

    def _pop_next(self) -> events.Prompt | None:
        """Take the next message; its turn is under way from now on."""
        with self._lock:
            if not self._queue or self._is_held:
                return None
            self._in_turn, self._has_failed, self._goes_on = True, False, False
            self._taken += 1
            prompt = self._queue.popleft()
        self._emit_queue()
        return prompt

    async def _run_action(self, act: _Act) -> None:
        try:
            if (pending := act()) is not None:
                await pending
        except Exception as error:  # the last resort: it is reported, and the conversation goes on
            self._report_bug(error, "The action failed")

    def _report_bug(self, error: Exception, what: str) -> None:
        sentence = f"{what} because of a bug ({type(error).__name__}: {error})."
        trace = "".join(traceback.format_exception(error))
        self._state.report_fault(ClassifiedFault(events.FaultKind.BUG, sentence), None, trace=trace)

    def _rewind(self, reason: str) -> None:
        prompt = rewind_turn(self._state, reason)
        if prompt is not None and reason == "retry":
            with self._lock:
                self._queue.appendleft(prompt)
                self._is_held = False

    def _make_stop(self, taken: int) -> Callable[[], None]:
        return lambda: self._stop_now() if self._taken == taken else None

    def _stop_now(self) -> None:
        if self._in_turn or self._is_connecting:
            self._state.stopping.set()
            self._state.questions.stop()

    def _emit_queue(self) -> None:
        self._state.emit(events.QueueChanged(self.queued))

    def _schedule_action(self, act: _Act, *, stops: bool = False, holds: bool = False) -> None:
        """Run an action when no turn is under way, before the queue is sent.

        Args:
            act: The action.
            stops: Whether to stop the turn that is under way.
            holds: Whether to hold the queue.
        """
        with self._lock:
            self._acts.append(act)
            self._is_held = self._is_held or (holds and bool(self._queue))
        self._post(self._make_stop(self._taken) if stops else lambda: None)

    def _post(self, do: Callable[[], None]) -> None:
        """Run a job in the conversation's thread, and wake it."""
        with self._lock:
            loop = self._loop
            if loop is None:
                if not self._is_closing:
                    self._early.append(do)
                return

        def run() -> None:
            do()
            self._woken.set()

        with contextlib.suppress(RuntimeError):  # the thread has ended
            loop.call_soon_threadsafe(run)

    def _emit(self, event: events.ChatEvent) -> None:
        if isinstance(event, events.ChatFault):
            with self._lock:
                self._has_failed = self._in_turn
        try:
            self._listener(event)
        except Exception:  # a listener's fault must not end the conversation
            sys.excepthook(*sys.exc_info())
