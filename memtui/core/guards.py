"""What guards a memory, and of what a person is told: by name, as events set it.

An event that sets one names its whole value (`Event.noted`), and what holds now is what the last one said. So it is
derived from the chain of events, like everything else that stands. What a journal keeps by other names is for
convenience only: how far a person has looked (`seen`), the folder's disk (`device`), and the day of the last pruning
(`pruned`). Without them more is looked at.
"""

PROTECTED = "protected"
"""The paths that no agent may change."""
PINS = "pins"
"""The paths on top of the tree, which pruning spares."""
DISMISSED = "loss_dismissed"
"""The number of the event up to which the person knows of losses."""
GUARDS = {PROTECTED: "what is protected", PINS: "what is pinned", DISMISSED: "which losses are dismissed"}
"""In words, by name."""
LOOKED_AT = "looked_at"
"""When the first look was over, in microseconds since 1970; absent before. What comes later was not *found*."""
FOUND_UNTIL = "found_until"
"""The number of the last event of that look: behind it nothing was *found* any more."""
SEEN = "seen"
"""The number of the last event that the person has seen; kept beside the events."""
POSITIONS = {LOOKED_AT: "when the first look was over", FOUND_UNTIL: "what the first look found"}
"""What is noted by the next event that is recorded, whichever that is: the first look may find nothing to record."""
IMPORTED_UNTIL = "imported_until"
"""The number up to which there may be imported events; absent if there are none. An index: it can be made again."""


def decode_guard(value: str) -> object:
    """A value as an object for a program; as it is where it cannot be read."""
    import json  # noqa: PLC0415 - start-up: not before the first paint

    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
