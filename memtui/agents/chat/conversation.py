"""A conversation without a screen: messages go in from any thread, and values come out that tell all that happens.

It has a thread of its own with its own loop. There the SDK is loaded, which takes two seconds, while the screen is
already up; there every event is told. What is asked of it returns at once.
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

from memtui.agents.chat import taking_back
from memtui.agents.chat.attachments import problem_with
from memtui.agents.chat.client import make_client
from memtui.agents.chat.events import (
    ChatEvent,
    End,
    Fault,
    FaultKind,
    Model,
    Prompt,
    QueueChanged,
    Remembered,
    Told,
    TurnEnded,
    Usage,
)
from memtui.agents.chat.exchange import Patience, Stopped, unless_stopped
from memtui.agents.chat.faults import Judged
from memtui.agents.chat.options import ChatOptions
from memtui.agents.chat.recording import Recorder, Unrecorded
from memtui.agents.chat.talk import Talk
from memtui.agents.chat.turn import Turn
from memtui.core.asking import Policy, Verdict
from memtui.engine import Engine

_CLOSING_SECONDS = 2.0
_HOLDS = frozenset({End.FAULT, End.REFUSED})
"""Ends of a turn after which what waits is not sent by itself: it would most likely end in the same way."""

_Act = Callable[[], Awaitable[None] | None]


class Chat:
    """One conversation. Every method may be called from any thread, and returns at once.

    Args:
        memory: The open memory. It is not closed here.
        options: How the conversation is held.
        tell: Told what happens, in the conversation's own thread.
        session: Keeps the conversation, and says what it begins with; closed when the conversation is.
        client: Makes a client of the SDK.
        patience: How long is waited for a server.
    """

    def __init__(
        self,
        memory: Engine,
        options: ChatOptions,
        tell: Callable[[ChatEvent], None],
        *,
        session: Recorder | None = None,
        client: Callable[[ChatOptions], Any] | None = None,
        patience: Patience | None = None,
    ) -> None:
        self._told = tell
        self._recorder = session or Unrecorded(f"{datetime.now(UTC):%Y%m%d-%H%M%S}")
        restored = self._recorder.restored()
        self.unanswered = restored.unanswered
        """What the person had said last in a conversation that is resumed, if nothing came back to it."""
        self._talk = Talk(
            memory, options, self._tell, self._recorder, restored, client or make_client, patience or Patience()
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._queue: deque[Prompt] = deque()
        self._acts: deque[_Act] = deque()
        self._early: list[Callable[[], None]] = []
        """What is to be done once the thread is there."""
        self._woken = asyncio.Event()
        self._is_held = False
        self._in_turn = False
        self._is_connecting = False
        self._taken = 0
        """How many messages were taken from those that wait: a stop is for the one that it was meant for."""
        self._is_closing = False

    # From any thread

    def start(self) -> None:
        """Begin: the SDK is loaded, and `Ready` or a `Fault` is told."""
        with self._lock:
            if self._thread is not None or self._is_closing:
                return
            self._thread = threading.Thread(target=self._run, name="memtui-chat", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End, as if stopped. A write that is under way comes to its end. Waits two seconds at most."""
        with self._lock:
            self._is_closing = True
            thread = self._thread
        if thread is None:
            self._recorder.close()
            return
        self._post(self._stop_now)
        if thread is not threading.current_thread():
            thread.join(_CLOSING_SECONDS)

    def send(self, prompt: Prompt) -> None:
        """Say something, or have it wait until the turn is over."""
        with self._lock:
            if self._is_held:  # it comes before what waits: that would have come after the message that failed
                self._queue.appendleft(prompt)
            else:
                self._queue.append(prompt)
            self._is_held = False
        self._post(self._say_queue)

    @property
    def queued(self) -> tuple[Prompt, ...]:
        """What waits, in order."""
        with self._lock:
            return tuple(self._queue)

    def take_back(self, index: int) -> Prompt | None:
        """Take a message out of those that wait; `None` if it is not there any more."""
        with self._lock:
            if not 0 <= index < len(self._queue):
                return None
            prompt = self._queue[index]
            del self._queue[index]
        self._post(self._say_queue)
        return prompt

    def stop(self) -> None:
        """Stop the turn. What was said until then is kept; what waits is sent."""
        if self._in_turn or (self._is_connecting and self._queue):
            self._post(self._stop_of(self._taken))

    def answer(self, number: int, verdict: Verdict) -> None:
        """Answer a question."""
        self._post(lambda: self._talk.questions.answer(number, verdict))

    def retry(self) -> None:
        """Send the last message again, in place of the turn that it began."""
        self._act(lambda: self._rewind("retry"), stops=True)

    def edit_last(self) -> None:
        """Take the last message back to edit it; see `Rewound`."""
        self._act(lambda: self._rewind("edit"), stops=True, holds=True)

    def undo_turn(self) -> None:
        """Take back what the last turn wrote to memory; see `TurnUndone`."""
        if self._in_turn:
            self._post(lambda: self._talk.tell(Told("Not undone: the turn is not over. Esc stops it.")))
            return
        self._act(lambda: taking_back.undo(self._talk))

    def clear(self) -> None:
        """Begin a new conversation, in the same session."""
        self._act(lambda: taking_back.clear(self._talk), stops=True, holds=True)

    def set_policy(self, policy: Policy, always: frozenset[str] | None = None) -> None:
        """Set what becomes of changes, at once."""
        self._talk.gate.policy = policy
        if always is not None:
            self._talk.gate.always = always
        self._post(self._talk.policy_changed)

    def set_model(self, id: str) -> None:
        """Have another model answer, from the next turn on."""
        self._act(lambda: self._talk.set_model(id))

    def set_effort(self, level: str | None) -> None:
        """Set the effort, from the next turn on."""
        self._act(lambda: self._talk.set_manner(effort=level))

    def set_thinking(self, thinking: bool | None) -> None:
        """Set whether the model may think, from the next turn on."""
        self._act(lambda: self._talk.set_manner(thinking=thinking))

    @property
    def is_busy(self) -> bool:
        """Whether a turn is under way, or about to be."""
        return self._in_turn or (bool(self._queue) and not self._is_held)

    @property
    def policy(self) -> Policy:
        """What becomes of changes."""
        return self._talk.gate.policy

    @property
    def always(self) -> frozenset[str]:
        """Below which paths the person need not be asked."""
        return self._talk.gate.always

    @property
    def model(self) -> Model | None:
        """Who answers; `None` where that is not known yet."""
        return self._talk.model

    @property
    def models(self) -> tuple[Model, ...]:
        """Those that the server lists, the newest first; empty where that is not known."""
        return self._talk.connection.models

    @property
    def turn(self) -> int:
        """The number of the last turn; 0 for none."""
        return self._talk.turn

    @property
    def session_id(self) -> str:
        """What the session is called."""
        return self._recorder.id

    @property
    def session_usage(self) -> Usage:
        """What the conversation used."""
        return self._talk.meter.session

    @property
    def effort(self) -> str | None:
        """The level of effort that was asked for."""
        return self._talk.manner.effort

    @property
    def thinking(self) -> bool | None:
        """Whether the model may think; `None` leaves it to the model."""
        return self._talk.manner.thinking

    def remembered(self) -> tuple[Remembered, ...]:
        """What became of memories since the conversation began or was resumed. This reads the journal.

        Raises:
            Closed: The memory was closed.
        """
        return self._talk.session_tally.remembered(self._talk.memory.history.text)

    # In the conversation's thread

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as error:  # the thread has nobody else who could say it
            self._tell(Fault(FaultKind.BUG, f"The chat ended because of a bug ({type(error).__name__}: {error})."))
            sys.excepthook(*sys.exc_info())
        finally:
            self._in_turn = False
            self._loop = None
            self._recorder.close()

    async def _main(self) -> None:
        talk = self._talk
        with self._lock:
            self._loop = asyncio.get_running_loop()
            early, self._early = self._early, []
        for do in early:
            do()
        self._recorder.listen(lambda sentence: self._post(lambda: talk.tell(Told(sentence))))
        try:
            if not self._is_closing:
                await self._connect_first()
            while not self._is_closing:
                if self._acts:
                    await self._do(self._acts.popleft())
                elif (prompt := self._next()) is not None:
                    await self._take_turn(prompt)
                else:
                    self._woken.clear()
                    if not (self._acts or self._is_closing or self._has_next()):
                        await self._woken.wait()
        finally:
            talk.pacer.flush()
            with contextlib.suppress(Exception, asyncio.CancelledError):  # we leave, whatever it says
                await asyncio.wait_for(talk.close(), _CLOSING_SECONDS / 2)

    async def _connect_first(self) -> None:
        talk = self._talk
        self._is_connecting = True
        try:
            fault = await unless_stopped(talk.connect(), talk.stopping)
        except Stopped:
            with self._lock:
                self._is_held = bool(self._queue)
            talk.tell(Told("Stopped before there was a connection. The next message tries again."))
            return
        finally:
            self._is_connecting = False
        if fault is not None:
            self._hold(fault, self._next())

    def _hold(self, fault: Judged, prompt: Prompt | None) -> None:
        """A message could not be sent: it and what waits behind it are the person's to send again."""
        with self._lock:
            self._is_held = True
        self._in_turn = False
        self._talk.fault(fault, prompt)

    async def _take_turn(self, prompt: Prompt) -> None:
        talk = self._talk
        talk.stopping.clear()
        try:
            try:
                fault = await unless_stopped(talk.connect(), talk.stopping) or self._problem_with(prompt)
            except Stopped:
                self._put_back(prompt)
                return
            if fault is not None:
                self._hold(fault, prompt)
                return
            try:
                ended = await Turn(talk, prompt).run()
            except Exception as error:  # the last resort: the thread must not end, or nothing can be said any more
                self._failed(error, "The turn ended")
                ended = TurnEnded(talk.turn, End.FAULT, 0.0, 0, 0, (), Usage())
            with self._lock:
                self._is_held = ended.end in _HOLDS and bool(self._queue)
            self._in_turn = False
            talk.tell(ended)
        finally:
            self._in_turn = False

    def _put_back(self, prompt: Prompt) -> None:
        """A message was stopped before it could be sent: it waits for the person."""
        with self._lock:
            self._queue.appendleft(prompt)
            self._is_held = True
        self._in_turn = False
        self._say_queue()
        self._talk.tell(Told("Stopped before it was sent. Your message waits."))

    def _problem_with(self, prompt: Prompt) -> Judged | None:
        problems = (problem_with(attachment, self._talk.model) for attachment in prompt.attachments)
        problem = next((each for each in problems if each), None)
        if problem is None and not prompt.text.strip() and not prompt.attachments:
            problem = "The message is empty."
        return None if problem is None else Judged(FaultKind.BAD_REQUEST, f"Not sent: {problem}")

    def _has_next(self) -> bool:
        with self._lock:
            return bool(self._queue) and not self._is_held

    def _next(self) -> Prompt | None:
        """The next message, which from now on is under way."""
        with self._lock:
            if not self._queue or self._is_held:
                return None
            self._in_turn = True
            self._taken += 1
            prompt = self._queue.popleft()
            left = tuple(self._queue)
        self._talk.tell(QueueChanged(left))
        return prompt

    async def _do(self, act: _Act) -> None:
        try:
            doing = act()
            if doing is not None:
                await doing
        except Exception as error:  # the last resort: it is said, and the conversation goes on
            self._failed(error, "That was not done")

    def _failed(self, error: Exception, what: str) -> None:
        """Something failed because of a bug of ours."""
        trace = "".join(traceback.format_exception(error))
        sentence = f"{what} because of a bug ({type(error).__name__}: {error})."
        self._talk.fault(Judged(FaultKind.BUG, sentence), None, trace=trace)

    def _rewind(self, why: str) -> None:
        prompt = taking_back.rewind(self._talk, why)
        if prompt is not None and why == "retry":
            with self._lock:
                self._queue.appendleft(prompt)
                self._is_held = False

    def _stop_of(self, taken: int) -> Callable[[], None]:
        return lambda: self._stop_now() if self._taken == taken else None

    def _stop_now(self) -> None:
        if self._in_turn or self._is_connecting:
            self._talk.stopping.set()
            self._talk.questions.stop()

    def _say_queue(self) -> None:
        self._talk.tell(QueueChanged(self.queued))

    def _act(self, act: _Act, *, stops: bool = False, holds: bool = False) -> None:
        """Have something done when no turn is under way, before anything else is sent.

        Args:
            act: What.
            stops: Whether the turn that is under way is stopped for it.
            holds: Whether what waits is not sent by itself any more.
        """
        with self._lock:
            self._acts.append(act)
            self._is_held = self._is_held or (holds and bool(self._queue))
        self._post(self._stop_of(self._taken) if stops else _nothing)

    def _post(self, do: Callable[[], None]) -> None:
        """Do something in the conversation's thread, and have it look around."""
        with self._lock:
            loop = self._loop
            if loop is None:
                if not self._is_closing:
                    self._early.append(do)
                return

        def done() -> None:
            do()
            self._woken.set()

        with contextlib.suppress(RuntimeError):  # the thread has ended
            loop.call_soon_threadsafe(done)

    def _tell(self, event: ChatEvent) -> None:
        try:
            self._told(event)
        except Exception:  # a listener's fault is its own: the conversation goes on, and what was said is kept
            sys.excepthook(*sys.exc_info())


def _nothing() -> None:
    """To be woken is enough."""
