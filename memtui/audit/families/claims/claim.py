"""What a note says of a repository, and no file of it bears out: as long as it is not known whether it ever was so."""

from enum import Enum, auto
from typing import NamedTuple

from memtui.audit.repository import Removal


class Kind(Enum):
    """What a claim is of."""

    PATH = auto()
    SYMBOL = auto()
    COMMIT = auto()
    ADDRESS = auto()


class Claim(NamedTuple):
    """A claim that is in doubt.

    Attributes:
        kind: What it is of.
        note: Where it stands, relative to the folder.
        start: Its first character in the note.
        name: What is named, as it is written.
        sought: The word that the history is asked for; empty where it need not be.
        removal: When it left the repository, where that is known already.
        now: Where what is named is now; empty if that is not known.
        beside: The file that it is named beside; empty for none.
        only_once: Whether it is no claim at all of what the repository never had.
        only_defined: Whether it is one only if its definition was taken out.
    """

    kind: Kind
    note: str
    start: int
    name: str
    sought: str = ""
    removal: Removal | None = None
    now: str = ""
    beside: str = ""
    only_once: bool = False
    only_defined: bool = False
