"""What was learned afterwards of a change: an agent's own session file told that it had made it, and when.

It is recorded as an event that changed nothing, behind everything that was recorded by then, since the record is only
ever added to. What it tells happened long before it, and may be known from other events as well.
"""

from dataclasses import dataclass

from memtui.core.events import Agent, Event

IMPORTED = "imported"
"""The command of such an event. Its `viewed` is the text that stood there afterwards, where that is known."""
MAX_PROMPT = 2_000
"""Characters of a prompt that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One change as a session file tells it.

    Attributes:
        path: Relative to the folder.
        at_us: When it happened, in microseconds since 1970 (UTC); 0 if that is not told.
        agent: Who.
        call_id: The model's id of the tool call.
        tool: The tool's name, such as `Write`.
        prompt: What the person had asked for last; cut where it is long, empty if that is not told.
        source: The name of the session file, without its directory.
        line: In which line of it, from 1.
        after: The text that stood there afterwards; `None` if it cannot be told, or for nothing.
        before: The text that stood there before; `None` for nothing, or if it cannot be told.
        is_gone: Whether nothing stood there afterwards.
        moved_from: What it was called before, where it was moved here; relative to the folder.
        moved_to: What it is called since, where it was moved away within the folder.
    """

    path: str
    at_us: int
    agent: Agent
    call_id: str
    tool: str
    prompt: str = ""
    source: str = ""
    line: int = 0
    after: bytes | None = None
    before: bytes | None = None
    is_gone: bool = False
    moved_from: str = ""
    moved_to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What an imported event tells besides its text.

    Attributes:
        at_us: When it happened, in microseconds since 1970 (UTC); 0 if that is not told.
        tool: The tool's name.
        prompt: What the person had asked for last.
        source: The name of the session file.
        line: In which line of it.
        is_before: Whether its text is the one that stood there before the call, and not after it.
        is_gone: Whether nothing stood there afterwards.
        moved_from: What it was called before, where it was moved here; relative to the folder.
        moved_to: What it is called since, where it was moved away within the folder.
    """

    at_us: int
    tool: str = ""
    prompt: str = ""
    source: str = ""
    line: int = 0
    is_before: bool = False
    is_gone: bool = False
    moved_from: str = ""
    moved_to: str = ""


def arguments_of(told: Told, *, is_before: bool = False) -> str:
    """What is kept beside an imported event."""
    import json  # for start-up cost, as below: nobody waits for it before the first paint

    kept: dict[str, object] = {
        "at_us": told.at_us,
        "tool": told.tool,
        "prompt": told.prompt[:MAX_PROMPT],
        "source": told.source,
        "line": told.line,
        "is_before": is_before,
    }
    if not is_before:
        more = {"is_gone": told.is_gone, "moved_from": told.moved_from, "moved_to": told.moved_to}
        kept |= {name: value for name, value in more.items() if value}
    return json.dumps(kept, ensure_ascii=True, separators=(",", ":"))


def circumstances_of(event: Event) -> Circumstances | None:
    """What an imported event tells; `None` if it is none, or if that was redacted."""
    if event.command != IMPORTED or event.arguments is None:
        return None
    import json

    try:
        kept = json.loads(event.arguments)
        return Circumstances(
            at_us=int(kept["at_us"]),
            tool=str(kept["tool"]),
            prompt=str(kept["prompt"]),
            source=str(kept["source"]),
            line=int(kept["line"]),
            is_before=bool(kept["is_before"]),
            is_gone=bool(kept.get("is_gone")),
            moved_from=str(kept.get("moved_from", "")),
            moved_to=str(kept.get("moved_to", "")),
        )
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
