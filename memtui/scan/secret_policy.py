"""Secrets at the moment of writing: noted on the event, refused, or left out, as the settings say.

Judged is what is new in a text. What only the audit's weaker rules find, such as a password, is left to the audit.
"""

from collections.abc import Callable, Mapping

from memtui.core.errors import Refusal
from memtui.core.lazy_dataclass import dataclass
from memtui.core.messages import MessageKey
from memtui.core.paths import MemoryPath
from memtui.core.settings import SecretPolicy
from memtui.core.wording import SECRET_FOUND, SECRET_REDACTED


@dataclass(frozen=True, slots=True)
class ScreenedText:
    """A text that may be written.

    Attributes:
        note: For the event; empty where nothing was found.
        start: Where the first value was left out; `None` if none was.
    """

    text: str
    note: str = ""
    start: int | None = None


def screen_text(path: MemoryPath, before: str, after: str, policy: SecretPolicy) -> ScreenedText:
    """What may be written of a text that is to stand in place of another; raises `Refusal`."""
    from memtui.scan.secrets import find_new_secrets, redact_spots  # noqa: PLC0415 - start-up: only for what is written

    spots = find_new_secrets(before, after)
    if not spots:
        return ScreenedText(after)
    what = " and ".join(dict.fromkeys(spot.words for spot in spots))
    if policy == "block":
        raise Refusal(MessageKey.SECRET_BLOCKED, path=path, what=what)
    if policy == "redact":
        return ScreenedText(redact_spots(after, spots), f"{SECRET_REDACTED}{what}", min(spot.start for spot in spots))
    return ScreenedText(after, f"{SECRET_FOUND} {what}")


def describe_new_secrets(before: str | None, after: str | None) -> str:
    """What a text holds that another did not, such as `holds what looks like an AWS access key`; empty for nothing."""
    return "" if after is None else screen_text(MemoryPath(()), before or "", after, "flag").note


def conceal_secrets(value: object, policy: SecretPolicy) -> object:
    """A command's input as it may be recorded: without values where they may not be written."""
    if policy == "flag":
        return value
    from memtui.scan.secrets import find_new_secrets, redact_spots  # noqa: PLC0415 - start-up: only for what is written

    return _map_texts(value, lambda text: redact_spots(text, find_new_secrets("", text)), depth=8)


def conceal_bytes(data: bytes) -> bytes:
    """A text without its values."""
    text = conceal_secrets(data.decode("utf-8", "surrogateescape"), "redact")
    return str(text).encode("utf-8", "surrogateescape")


def _map_texts(value: object, change: Callable[[str], str], depth: int) -> object:
    if isinstance(value, str):
        return change(value)
    if depth and isinstance(value, Mapping):
        return {key: _map_texts(each, change, depth - 1) for key, each in value.items()}
    if depth and isinstance(value, list | tuple):
        return [_map_texts(each, change, depth - 1) for each in value]
    return f"[{type(value).__name__}]" if isinstance(value, Mapping | list | tuple) else value
