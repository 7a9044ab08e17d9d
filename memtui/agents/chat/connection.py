"""The connection to the server: a client, once there can be one, and the list of models."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from memtui.agents.chat.client import describe_key_source, get_host
from memtui.agents.chat.events import ChatOptions, FaultKind, Model
from memtui.agents.chat.faults import ClassifiedFault, Endpoint, classify_error
from memtui.config.settings import EFFORTS
from memtui.core.unicode import to_one_line

# Models are known as the API lists them: knowledge in the code would be wrong next month.

_KINDS_OF_THINKING = ("adaptive", "enabled", "disabled")


def parse_model(info: object) -> Model:
    """A model as the API describes it. A gateway may leave out any field: its value is `None` then.

    Args:
        info: An object with the attributes of the SDK's `ModelInfo`, or some of them.
    """
    able = _get(info, "capabilities")
    effort, thinking, management = _get(able, "effort"), _get(able, "thinking"), _get(able, "context_management")
    return Model(
        id=str(_get(info, "id") or ""),
        name=to_one_line(str(_get(info, "display_name") or "")),
        context=_parse_number(_get(info, "max_input_tokens")),
        max_tokens=_parse_number(_get(info, "max_tokens")),
        efforts=tuple(level for level in EFFORTS if _supports(_get(effort, level))) if _supports(effort) else (),
        thinking=tuple(kind for kind in _KINDS_OF_THINKING if _supports(_get(_get(thinking, "types"), kind))),
        clears_tools=_supports(_get(management, "clear_tool_uses_20250919")),
        compacts=_supports(_get(management, "compact_20260112")),
        sees_images=_supports(_get(able, "image_input")),
        reads_pdf=_supports(_get(able, "pdf_input")),
    )


def parse_models(infos: Iterable[object]) -> tuple[Model, ...]:
    """The usable models of a list, the newest active one first."""

    def age(info: object) -> tuple[bool, float]:
        created = _get(info, "created_at")
        stamp = getattr(created, "timestamp", None)
        return _is_active(info), float(stamp()) if callable(stamp) else 0.0

    usable = [info for info in infos if _get(info, "id") and _get(info, "lifecycle") != "retired"]
    return tuple(parse_model(info) for info in sorted(usable, key=age, reverse=True))


def apply_prices(model: Model, options: ChatOptions) -> Model:
    """The model with the prices of the person's settings."""
    return replace(model, input_price=options.input_price, output_price=options.output_price)


def _is_active(info: object) -> bool:
    return _get(info, "lifecycle") in ("active", None)  # gateways that know no lifecycle list what can be used


def _supports(value: object) -> bool | None:
    if value is None:
        return None
    found = _get(value, "supported")
    return found if isinstance(found, bool) else None


def _parse_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _get(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


_LISTING_SECONDS = 15.0
_PAGE = 100
_MOST_MODELS = 1_000


class ApiConnection:
    """A client and the models of its server. Used in one thread, where a loop runs."""

    def __init__(self, options: ChatOptions, make: Callable[[ChatOptions], Any]) -> None:
        self._options = options
        self._make = make
        self.client: Any = None
        self.host = ""
        self.models: tuple[Model, ...] = ()
        """Those that the server lists, the newest first; empty for not known."""
        self._key = ""

    def connect(self) -> ClassifiedFault | None:
        """Make a client; the fault, if there can be none."""
        if self.client is not None:
            return None
        try:
            client = self._make(self._options)
        except Exception as error:  # of any kind: it is classified, and reported
            return classify_error(error, Endpoint(self._options.provider, provider=self._options.provider))
        self.client, self.host, self._key = client, get_host(client), describe_key_source(client)
        return None

    def get_endpoint(self, model: str = "") -> Endpoint:
        """The endpoint of requests, for sentences."""
        return Endpoint(self.host, model, self._key, self._options.provider)

    async def list_models(self) -> ClassifiedFault | None:
        """Fetch the list of models; the fault, if it is not to be had."""
        try:
            self.models = await asyncio.wait_for(self._fetch_models(), _LISTING_SECONDS)
        except TimeoutError:
            return ClassifiedFault(
                FaultKind.TIMEOUT, f"{self.host} did not list its models within {_LISTING_SECONDS:g} seconds."
            )
        except Exception as error:  # of any kind: it is classified, and reported
            fault = classify_error(error, self.get_endpoint())
            if fault.kind not in (FaultKind.BUG, FaultKind.BAD_REQUEST, FaultKind.UNKNOWN_MODEL):
                return fault
        else:
            if self.models:
                return None
        sentence = f"{self.host} does not list its models."
        return ClassifiedFault(FaultKind.UNKNOWN_MODEL, sentence, "Name one: memtui chat --model NAME")

    async def _fetch_models(self) -> tuple[Model, ...]:
        infos: list[object] = []
        async for info in self.client.models.list(limit=_PAGE):
            infos.append(info)
            if len(infos) >= _MOST_MODELS:
                break
        return tuple(apply_prices(model, self._options) for model in parse_models(infos))

    def find_model(self, id: str) -> Model:
        """A model by its id, as far as it is known."""
        found = next((model for model in self.models if model.id == id), None)
        return found or apply_prices(Model(id), self._options)

    async def close(self) -> None:
        """Close the client."""
        if self.client is not None:
            await self.client.close()
