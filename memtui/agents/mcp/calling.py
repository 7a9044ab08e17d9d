"""The memory's calls in threads: the loop never waits for a disk, a lock or a person.

A change that has begun comes to its end and is recorded, whatever becomes of the request for it. A change that waits
for a person does not: when its client gives up, nobody is asked any more.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from memtui.agents.gate import Gate
from memtui.core.asking import Policy, Proposal, Stop, Unanswered, Verdict
from memtui.core.events import Agent, Answer
from memtui.engine import Engine

_T = TypeVar("_T")

AskElsewhere = Callable[[Proposal, float, Callable[[], bool]], Verdict]
"""Shows a proposal to a person in another process, for some seconds at most, unless it is told to stop."""

_LOOKING = 8
_CHANGING = 64
"""Threads for changes: while a person is asked, each takes one."""


class Calls:
    """Executes what clients ask for.

    Args:
        memory: The open memory.
        policy: What becomes of changes.
        ask: Asks a person, where the policy is to ask.
        ask_seconds: How long a change may wait for the answer, from its arrival on.
    """

    def __init__(self, memory: Engine, policy: Policy, ask: AskElsewhere, ask_seconds: float) -> None:
        self.memory = memory
        self._asks = policy is Policy.ASK
        self._ask_elsewhere = ask
        self._ask_seconds = ask_seconds
        self._gate = Gate(memory, policy=policy, ask=self._ask)
        self._here = threading.local()
        """Of each thread that executes a command: since when, and whether its client gave up."""
        self._ending = threading.Event()
        self._looking = ThreadPoolExecutor(_LOOKING, "memtui-look")
        self._changing = ThreadPoolExecutor(_CHANGING, "memtui-call")

    async def look(self, function: Callable[[], _T]) -> _T:
        """Run what changes nothing."""
        return await asyncio.get_running_loop().run_in_executor(self._looking, function)

    async def execute(self, command: object, *, actor: Agent, call_id: str | None, arrived: float) -> Answer:
        """Execute a command, if and as the person lets it.

        Args:
            command: As the client sent it.
            actor: Who asks.
            call_id: Which call it is.
            arrived: When it came, by `time.monotonic()`: its client's patience is counted from there.
        """
        given_up = threading.Event()

        def work() -> Answer:
            with self._call(arrived, given_up):
                return self._gate.execute(command, actor=actor, call_id=call_id)

        is_view = isinstance(command, dict) and command.get("command") == "view"
        pool = self._looking if is_view else self._changing
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, work)
        except asyncio.CancelledError:
            given_up.set()
            raise

    def may_overtake(self, command: object) -> bool:
        """Whether a command may be done before earlier ones of its client: a view, while they wait for a person."""
        return self._asks and isinstance(command, dict) and command.get("command") == "view"

    def close(self) -> None:
        """Wait for what has begun; what waits for a person is given up, and what has not begun is not done."""
        self._ending.set()
        self._changing.shutdown(cancel_futures=True)
        self._looking.shutdown(cancel_futures=True)

    @contextmanager
    def _call(self, arrived: float, given_up: threading.Event) -> Iterator[None]:
        self._here.arrived, self._here.given_up = arrived, given_up
        try:
            yield
        finally:
            del self._here.arrived, self._here.given_up

    def _ask(self, proposal: Proposal) -> Verdict:
        """Ask a person; called by the gate, in the thread of the command."""
        given_up: threading.Event = self._here.given_up

        def stop() -> bool:
            return given_up.is_set() or self._ending.is_set()

        if stop():
            return Stop()
        left = self._here.arrived + self._ask_seconds - time.monotonic()
        if left <= 0:
            return Unanswered(self._ask_seconds)
        verdict = self._ask_elsewhere(proposal, left, stop)
        if isinstance(verdict, Unanswered) and verdict.seconds:
            return Unanswered(self._ask_seconds)  # as the client knows it: since it asked
        return verdict
