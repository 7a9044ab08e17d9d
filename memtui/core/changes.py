"""What became of one file last, ready to be shown."""

from dataclasses import dataclass

from memtui.core.events import Event


@dataclass(frozen=True, slots=True)
class LastChange:
    """The last change of a file.

    Attributes:
        event: What happened.
        diff: The change as a unified diff; empty where there are no two texts to compare.
        lines: Numbers (from 1) of the lines that are new or changed; empty for a file that was new.
    """

    event: Event
    diff: tuple[str, ...] = ()
    lines: frozenset[int] = frozenset()
