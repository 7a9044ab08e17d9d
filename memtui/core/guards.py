"""What guards a memory, and of what a person is told: by name, as events set it.

An event that sets one names its whole value (`Event.noted`), and what holds now is what the last one said. So it is
derived from the chain of events, like everything else that stands. What a journal keeps by other names is for
convenience only: how far a person has looked (`seen`), when the first look was over and which events it made
(`looked_at`, `found_until`), where imported events are (`imported_until`), the folder's disk (`device`), and the day of
the last pruning (`pruned`). Without them more is looked at, or shown as new.
"""

PROTECTED = "protected"
"""The paths that no agent may change."""
PINS = "pins"
"""The paths on top of the tree, which pruning spares."""
DISMISSED = "loss_dismissed"
"""The number of the event up to which the person knows of losses."""
GUARDS = {PROTECTED: "what is protected", PINS: "what is pinned", DISMISSED: "which losses are left as they are"}
"""In words, by name."""


def decode_guard(value: str) -> object:
    """A value as an object for a program; as it is where it cannot be read."""
    import json  # noqa: PLC0415 - start-up: not before the first paint

    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
