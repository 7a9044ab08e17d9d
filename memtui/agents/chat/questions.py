"""Questions to the person, one at a time: whether a change may be made."""

import asyncio
from collections.abc import Callable

from memtui.agents.chat.events import Answered, Asked, ChatEvent
from memtui.core.asking import Proposal, Stop, Verdict


class Questions:
    """Asks, and waits for the answer. Used in one thread, where a loop runs.

    Args:
        tell: Told of each question, and when it is settled.
    """

    def __init__(self, tell: Callable[[ChatEvent], None]) -> None:
        self._tell = tell
        self._number = 0
        self._open: asyncio.Future[Verdict] | None = None

    async def ask(self, turn: int, call_id: str, proposal: Proposal) -> Verdict:
        """Ask, and wait."""
        self._number += 1
        self._open = asyncio.get_running_loop().create_future()
        self._tell(Asked(turn, call_id, self._number, proposal))
        try:
            return await self._open
        finally:
            self._open = None
            self._tell(Answered(self._number))

    def answer(self, number: int, verdict: Verdict) -> None:
        """The person answers; an answer to a question that is settled is nothing."""
        if number == self._number and self._open is not None and not self._open.done():
            self._open.set_result(verdict)

    def stop(self) -> None:
        """The person wants it all to stop."""
        self.answer(self._number, Stop())
