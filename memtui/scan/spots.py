"""A place in a note that somebody should look at, as a value."""

from memtui.core.lazy_dataclass import dataclass

Span = tuple[int, int]
"""Characters of a text, from and to."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a note that is to be looked at.

    Attributes:
        flag: One of `memtui.scan.flags.FLAGS`: `secret`, `hidden`, `planted` or `broken`.
        words: For a person; never the secret itself.
        masked: The characters of the secret, from and to.
        is_certain: Whether it has its issuer's own shape: a fixed beginning, a checksum, or the issuer's name for it.
    """

    flag: str
    rule: str
    start: int
    end: int
    words: str
    masked: tuple[int, int] | None = None
    is_certain: bool = False
