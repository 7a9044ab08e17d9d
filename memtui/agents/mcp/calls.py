"""The memory's calls in threads: the loop never waits for a disk, a lock or a person.

A change that has begun is finished and recorded, even if its request ends. A change that waits for a person does not:
when its client gives up, the question ends.
"""

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import field
from typing import Any, TypeVar

from mcp.server import ServerRequestContext
from mcp.server.connection import Connection

from memtui.agents.gate import ApprovalGate
from memtui.core.approvals import ApprovalPolicy, Proposal, Stop, Unanswered, Verdict
from memtui.core.events import Agent, Answer
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.engine import Engine

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")

AskElsewhere = Callable[[Proposal, float, Callable[[], bool], bool], Verdict]
"""Shows a proposal to a person in another process, for some seconds at most, unless it is told to stop; the last
argument is whether it waits where no such process is there yet."""

_PROGRESS_SECONDS = 2.0
_POLL_SECONDS = 0.1


@dataclass(slots=True)
class ClientPrompt:
    """How the client of a call can be reached while a change waits for a person.

    Attributes:
        elicit: Asks in the client itself; `None` where it cannot.
        report: Tells the client how long it waits, of how many seconds.
    """

    elicit: Callable[[Proposal], Awaitable[Verdict]] | None
    report: Callable[[float, float, str], Awaitable[object]]
    is_asking: threading.Event = field(default_factory=threading.Event)


_LOOKING = 8
_CHANGING = 64
"""Threads for changes: while a person is asked, each takes one."""


class McpCallExecutor:
    """Executes the commands of clients.

    Args:
        memory: The open memory.
        policy: The approval policy.
        ask: Asks a person, where the policy is to ask.
        ask_seconds: How long a change may wait for the answer, from its arrival on.
    """

    def __init__(self, memory: Engine, policy: ApprovalPolicy, ask: AskElsewhere, ask_seconds: float) -> None:
        self.memory = memory
        self._asks = policy is ApprovalPolicy.ASK
        self._ask_elsewhere = ask
        self._ask_seconds = ask_seconds
        self._gate = ApprovalGate(memory, policy=policy, ask=self._ask_person)
        self._here = threading.local()
        """Of each thread that executes a command: since when, and whether its client gave up."""
        self._ending = threading.Event()
        self._looking = ThreadPoolExecutor(_LOOKING, "memtui-look")
        self._changing = ThreadPoolExecutor(_CHANGING, "memtui-call")

    async def run_read(self, function: Callable[[], _T]) -> _T:
        """Run a function that changes nothing."""
        return await asyncio.get_running_loop().run_in_executor(self._looking, function)

    async def execute(
        self, command: object, *, actor: Agent, call_id: str | None, arrived: float, prompt: ClientPrompt | None = None
    ) -> Answer:
        """Execute a command, if and as the person allows it.

        Args:
            command: As the client sent it.
            actor: The client.
            call_id: The id of the call.
            arrived: When it came, by `time.monotonic()`: its client's patience is counted from there.
            prompt: Its client, where a person may be asked.
        """
        given_up = threading.Event()
        loop = asyncio.get_running_loop()

        def work() -> Answer:
            with self._bind_call(arrived, given_up, prompt, loop):
                return self._gate.execute(command, actor=actor, call_id=call_id)

        is_view = isinstance(command, dict) and command.get("command") == "view"
        pool = self._looking if is_view else self._changing
        reporting = None
        if prompt is not None and not is_view:
            reporting = asyncio.create_task(self._report_waiting(prompt, arrived))
        try:
            return await loop.run_in_executor(pool, work)
        except asyncio.CancelledError:
            given_up.set()
            raise
        finally:
            if reporting is not None:
                reporting.cancel()

    async def _report_waiting(self, prompt: ClientPrompt, arrived: float) -> None:
        """Tell the client that a person is being asked, now and again, for as long as that lasts."""
        while not prompt.is_asking.is_set():
            await asyncio.sleep(_POLL_SECONDS)
        words = "Waiting for the user to approve it"
        words += "" if prompt.elicit is not None else ", in a memtui that shows this folder"
        with contextlib.suppress(Exception):  # a client that takes no progress is asked all the same
            while True:
                await prompt.report(time.monotonic() - arrived, self._ask_seconds, words)
                await asyncio.sleep(_PROGRESS_SECONDS)

    def can_overtake(self, command: object) -> bool:
        """Whether a command may run before earlier ones of its client: a view, while they wait for a person."""
        return self._asks and isinstance(command, dict) and command.get("command") == "view"

    def close(self) -> None:
        """Wait for the calls that have begun; questions are given up, and queued calls are dropped."""
        self._ending.set()
        self._changing.shutdown(cancel_futures=True)
        self._looking.shutdown(cancel_futures=True)

    @contextmanager
    def _bind_call(
        self,
        arrived: float,
        given_up: threading.Event,
        prompt: ClientPrompt | None,
        loop: asyncio.AbstractEventLoop,
    ) -> Iterator[None]:
        here = self._here
        here.arrived, here.given_up, here.prompt, here.loop = arrived, given_up, prompt, loop
        try:
            yield
        finally:
            del here.arrived, here.given_up, here.prompt, here.loop

    def _ask_person(self, proposal: Proposal) -> Verdict:
        """Ask a person, in the thread of the command."""
        given_up: threading.Event = self._here.given_up

        def stop() -> bool:
            return given_up.is_set() or self._ending.is_set()

        if stop():
            return Stop()
        remaining = self._here.arrived + self._ask_seconds - time.monotonic()
        if remaining <= 0:
            return Unanswered(self._ask_seconds)
        prompt: ClientPrompt | None = self._here.prompt
        if prompt is not None:
            prompt.is_asking.set()
        can_elicit = prompt is not None and prompt.elicit is not None
        verdict = self._ask_elsewhere(proposal, remaining, stop, not can_elicit)
        if can_elicit and isinstance(verdict, Unanswered) and not verdict.seconds:
            verdict = self._ask_in_client(proposal, stop)
            remaining = self._here.arrived + self._ask_seconds - time.monotonic()
            if isinstance(verdict, Unanswered) and not verdict.seconds and remaining > 0:  # it could not ask
                verdict = self._ask_elsewhere(proposal, remaining, stop, True)
        if isinstance(verdict, Unanswered) and verdict.seconds:
            return Unanswered(self._ask_seconds)  # as the client knows it: since it asked
        return verdict

    def _ask_in_client(self, proposal: Proposal, stop: Callable[[], bool]) -> Verdict:
        """Ask in the client: there is no memtui where the person could be asked."""
        prompt, loop, end = self._here.prompt, self._here.loop, self._here.arrived + self._ask_seconds
        asked = asyncio.run_coroutine_threadsafe(prompt.elicit(proposal), loop)
        while not stop():
            remaining = end - time.monotonic()
            if remaining <= 0:
                asked.cancel()
                return Unanswered(self._ask_seconds)
            try:
                verdict: Verdict = asked.result(min(_POLL_SECONDS, remaining))
            except TimeoutError:
                if asked.done():
                    return Unanswered()
                continue
            except Exception as error:  # whatever it is, nobody has said yes: it is never a consent
                _LOG.warning("The client could not be asked: %s: %s", type(error).__name__, to_one_line(str(error)))
                return Unanswered()
            return verdict
        asked.cancel()
        return Stop()


_NAMELESS = "mcp-client"
_LONGEST_NAME = 64
_LONGEST_ID = 200
_TOOL_USE = "claudecode/toolUseId"
"""Where Claude Code says which of its model's tool calls this is."""

Context = ServerRequestContext[Any, Any]


def get_actor(context: Context, name: str | None, session: str | None = None) -> Agent:
    """The actor of a request: `name`, or the client's own name, which is untrusted: sanitized, cut, and an agent's."""
    known = context.session.client_params
    given = name if name is not None else known.client_info.name if known is not None else ""
    return Agent(_sanitize_name(given, _LONGEST_NAME) or _NAMELESS, session=session or _get_session(context))


def get_call_id(context: Context) -> str | None:
    """The id of a call: the model's where the client tells it, else the request's number."""
    given = get_tool_use_id(context) or context.request_id
    return None if given is None else _sanitize_name(str(given), _LONGEST_ID) or None


def get_tool_use_id(context: Context) -> str | None:
    """The id of Claude Code's tool call; `None` for other clients."""
    meta = (context.params or {}).get("_meta")
    told = meta.get(_TOOL_USE) if isinstance(meta, Mapping) else None
    return told if isinstance(told, str) and told else None


def get_connection(context: Context) -> Connection:
    """The connection of a request; it lives as long as the client."""
    return context.session._connection  # the library hands it to no handler, and a subscription must end with it


def _get_session(context: Context) -> str | None:
    headers = getattr(context.request, "headers", None)
    given = headers.get("mcp-session-id") if headers is not None else None
    return _sanitize_name(given, _LONGEST_ID) or None if given else None


def _sanitize_name(text: str, limit: int) -> str:
    return " ".join(to_one_line(text).split())[:limit]
