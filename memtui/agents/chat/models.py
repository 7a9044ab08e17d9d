"""What is known of models: as the API lists them, and nothing from memory, which would be wrong next month."""

from collections.abc import Iterable
from dataclasses import replace

from memtui.agents.chat.events import Model
from memtui.agents.chat.options import EFFORTS, ChatOptions
from memtui.core.visible import one_line

_KINDS_OF_THINKING = ("adaptive", "enabled", "disabled")


def model_of(info: object) -> Model:
    """A model as the API describes it. A gateway may leave out what it likes: that is not known then.

    Args:
        info: An object with the attributes of the SDK's `ModelInfo`, or some of them.
    """
    able = _get(info, "capabilities")
    effort, thinking, management = _get(able, "effort"), _get(able, "thinking"), _get(able, "context_management")
    return Model(
        id=str(_get(info, "id") or ""),
        name=one_line(str(_get(info, "display_name") or "")),
        context=_number(_get(info, "max_input_tokens")),
        max_tokens=_number(_get(info, "max_tokens")),
        efforts=tuple(level for level in EFFORTS if _supports(_get(effort, level))) if _supports(effort) else (),
        thinking=tuple(kind for kind in _KINDS_OF_THINKING if _supports(_get(_get(thinking, "types"), kind))),
        clears_tools=_supports(_get(management, "clear_tool_uses_20250919")),
        compacts=_supports(_get(management, "compact_20260112")),
        sees_images=_supports(_get(able, "image_input")),
        reads_pdf=_supports(_get(able, "pdf_input")),
    )


def models_of(infos: Iterable[object]) -> tuple[Model, ...]:
    """The models of a list that can be used, the newest active one first."""

    def age(info: object) -> tuple[bool, float]:
        created = _get(info, "created_at")
        stamp = getattr(created, "timestamp", None)
        return _is_active(info), float(stamp()) if callable(stamp) else 0.0

    usable = [info for info in infos if _get(info, "id") and _get(info, "lifecycle") != "retired"]
    return tuple(model_of(info) for info in sorted(usable, key=age, reverse=True))


def priced(model: Model, options: ChatOptions) -> Model:
    """The model with the prices that the person gave."""
    return replace(model, input_price=options.input_price, output_price=options.output_price)


def _is_active(info: object) -> bool:
    return _get(info, "lifecycle") in ("active", None)  # gateways that know no lifecycle list what can be used


def _supports(value: object) -> bool | None:
    if value is None:
        return None
    found = _get(value, "supported")
    return found if isinstance(found, bool) else None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _get(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)
