"""The way to the server: a client, once there can be one, and which models there are."""

import asyncio
from collections.abc import Callable
from typing import Any

from memtui.agents.chat.client import host_of, key_from
from memtui.agents.chat.events import FaultKind, Model
from memtui.agents.chat.faults import Judged, Place, judged
from memtui.agents.chat.models import models_of, priced
from memtui.agents.chat.options import ChatOptions

_LISTING_SECONDS = 15.0
_PAGE = 100
_MOST_MODELS = 1_000


class Connection:
    """Used in one thread, where a loop runs.

    Args:
        options: How the conversation is held.
        make: Makes a client.
    """

    def __init__(self, options: ChatOptions, make: Callable[[ChatOptions], Any]) -> None:
        self._options = options
        self._make = make
        self.client: Any = None
        self.host = ""
        self.models: tuple[Model, ...] = ()
        """Those that the server lists, the newest first; empty for not known."""
        self._key = ""

    def connect(self) -> Judged | None:
        """Have a client; why there is none, if there is none."""
        if self.client is not None:
            return None
        try:
            client = self._make(self._options)
        except Exception as error:  # of any kind: what it means is judged, and said
            return judged(error, Place(self._options.provider, provider=self._options.provider))
        self.client, self.host, self._key = client, host_of(client), key_from(client)
        return None

    def place(self, model: str = "") -> Place:
        """Where requests go, for sentences."""
        return Place(self.host, model, self._key, self._options.provider)

    async def list_models(self) -> Judged | None:
        """Ask which models there are; why that is not known, if it is not."""
        try:
            self.models = await asyncio.wait_for(self._listed(), _LISTING_SECONDS)
        except TimeoutError:
            return Judged(FaultKind.TIMEOUT, f"{self.host} does not say which models it has.")
        except Exception as error:  # of any kind: what it means is judged, and said
            fault = judged(error, self.place())
            if fault.kind in (FaultKind.BUG, FaultKind.BAD_REQUEST, FaultKind.UNKNOWN_MODEL):
                return self._no_list()
            return fault
        return None if self.models else self._no_list()

    def _no_list(self) -> Judged:
        return Judged(
            FaultKind.UNKNOWN_MODEL, f"{self.host} does not list its models.", "Name one: memtui chat --model NAME"
        )

    async def _listed(self) -> tuple[Model, ...]:
        infos: list[object] = []
        async for info in self.client.models.list(limit=_PAGE):
            infos.append(info)
            if len(infos) >= _MOST_MODELS:
                break
        return tuple(priced(model, self._options) for model in models_of(infos))

    def model(self, id: str) -> Model:
        """A model by its id, with all that is known of it."""
        found = next((model for model in self.models if model.id == id), None)
        return found or priced(Model(id), self._options)

    async def close(self) -> None:
        """Let go of connections."""
        if self.client is not None:
            await self.client.close()
