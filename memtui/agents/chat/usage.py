"""Counting what a conversation uses, as the API reports it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memtui.agents.chat.events import Model, Usage


class Meter:
    """Counts for a turn and for the whole conversation.

    Args:
        session: What was used before, of a conversation that is resumed.
    """

    def __init__(self, session: Usage | None = None) -> None:
        self._before = session or Usage()
        self._turn = Usage()
        self._request: dict[str, int] = {}
        self._iterations: list[dict[str, Any]] = []
        self._model = Model("")

    @property
    def turn(self) -> Usage:
        """What this turn used until now."""
        return _with_request(self._turn, self._request, self._iterations, self._model)

    @property
    def session(self) -> Usage:
        """What the conversation used until now."""
        turn = self.turn
        costs = [each.cost for each in (self._before, turn) if each.cost is not None]
        before = self._before
        return Usage(
            context=turn.context or before.context,
            input_tokens=before.input_tokens + turn.input_tokens,
            output_tokens=before.output_tokens + turn.output_tokens,
            cached_tokens=before.cached_tokens + turn.cached_tokens,
            requests=before.requests + turn.requests,
            memory_chars=before.memory_chars + turn.memory_chars,
            cost=sum(costs) if costs else None,
        )

    def begin_turn(self) -> None:
        """Another turn begins."""
        self._before, self._turn, self._request, self._iterations = self.session, Usage(), {}, []

    def begin_request(self, model: Model) -> None:
        """Another request of the turn is sent."""
        self._turn, self._request, self._iterations, self._model = self.turn, {}, [], model

    def report(self, usage: Mapping[str, object]) -> None:
        """The API said what the request used so far; each number is a total, and those left out stand."""
        for name in _FIELDS:
            value = usage.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                self._request[name] = value
        iterations = usage.get("iterations")
        if isinstance(iterations, list):
            self._iterations = [each for each in iterations if isinstance(each, dict)]

    def viewed(self, text: str) -> None:
        """The model was shown memory."""
        self._turn = replace(self._turn, memory_chars=self._turn.memory_chars + len(text))

    def cleared(self) -> None:
        """The conversation begins anew: the next request holds nothing of what was said."""
        self._before, self._turn = replace(self.session, context=0), Usage()
        self._request, self._iterations = {}, []


_FIELDS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def _with_request(before: Usage, request: Mapping[str, int], iterations: list[dict[str, Any]], model: Model) -> Usage:
    if not request:
        return before
    sent, written, cached = _counted(request)
    context = sent + written
    if any(each.get("type") == "compaction" for each in iterations):
        # What the compaction itself took is in no total; and the context is what the last answer was made from.
        last = next((each for each in reversed(iterations) if each.get("type") == "message"), request)
        context = sum(_counted(last)[:2])
        for each in iterations:
            if each.get("type") == "compaction":
                more_sent, more_written, more_cached = _counted(each)
                sent, written, cached = sent + more_sent, written + more_written, cached + more_cached
    cost = before.cost
    if model.input_price is not None and model.output_price is not None:
        cost = (cost or 0.0) + (sent * model.input_price + written * model.output_price) / 1e6
    return Usage(
        context=context,
        input_tokens=before.input_tokens + sent,
        output_tokens=before.output_tokens + written,
        cached_tokens=before.cached_tokens + cached,
        requests=before.requests + 1,
        memory_chars=before.memory_chars,
        cost=cost,
    )


def _counted(usage: Mapping[str, Any]) -> tuple[int, int, int]:
    """Tokens sent, those from and for the cache included; tokens written; tokens from the cache."""
    sent, written, cached, kept = (_number(usage.get(name)) for name in _FIELDS)
    return sent + cached + kept, written, cached


def _number(value: object) -> int:
    """A number of tokens; 0 for whatever else a gateway says."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
