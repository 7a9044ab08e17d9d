"""A place in a note that somebody should look at, as a value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a note that is to be looked at.

    Attributes:
        flag: One of `memtui.scan.flags.FLAGS`: `secret`, `hidden`, `planted` or `broken`.
        words: For a person; never the secret itself.
        masked: The characters of the secret, from and to.
    """

    flag: str
    rule: str
    start: int
    end: int
    words: str
    masked: tuple[int, int] | None = None
