"""Places in a note that somebody should look at, as values. What finds them is in the modules beside this one."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a note that is to be looked at.

    Attributes:
        flag: One of `FLAGS`: `secret`, `hidden`, `planted` or `broken`.
        rule: What exactly it is, such as `anthropic-key`.
        start: The first character of it in the text.
        end: The one behind the last.
        words: What it is, for a person; never the secret itself.
        masked: The characters, from and to, that are never shown to anybody who did not ask: the secret itself.
    """

    flag: str
    rule: str
    start: int
    end: int
    words: str
    masked: tuple[int, int] | None = None
