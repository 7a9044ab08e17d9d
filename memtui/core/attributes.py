"""Permissions and times of files and directories: what a version holds besides its content.

Two versions are the same if their content is: a file that was only touched, or given another mode, has not changed. But
what comes back is given what it had when it went, so that another user's access, ages and "stale" are as before.
"""

from typing import NamedTuple

PERMISSIONS = 0o777
"""The bits of a mode that are kept: never setuid, setgid or sticky."""
_END_NS = (1 << 63) * 1_000_000_000
"""The first time, in nanoseconds since 1970, that no system has."""
_STAMP = 5
"""How many numbers the stamp of a file or a link has; see `memtui.store.base.Stamp`."""
_DIRECTORY_STAMP = 2


class Attributes(NamedTuple):
    """Attributes of a file, a directory or a link; `None` where they are not known, as in older events.

    Attributes:
        mode: Permission bits, at most 0o777; `None` for a link.
        mtime_ns: When it was last written, in nanoseconds since 1970.
    """

    mode: int | None = None
    mtime_ns: int | None = None

    def fill(self, other: "Attributes") -> "Attributes":
        """These, and those of another one where these are not known."""
        mode = other.mode if self.mode is None else self.mode
        return Attributes(mode, other.mtime_ns if self.mtime_ns is None else self.mtime_ns)


UNKNOWN = Attributes()
_make_tuple = tuple.__new__
"""What the class itself calls."""


def make_attributes(mode: object, mtime_ns: object) -> Attributes:
    """Attributes from a record that anybody may have written: what cannot be is not known."""
    return _make_tuple(
        Attributes,
        (
            mode if type(mode) is int and 0 <= mode <= PERMISSIONS else None,
            mtime_ns if type(mtime_ns) is int and -_END_NS <= mtime_ns < _END_NS else None,
        ),
    )


def read_stamp(kind: str, stamp: tuple[int, ...]) -> Attributes:
    """The attributes that a stamp tells of a thing of a kind: of a directory only the mode, as its time is none of its
    stamp's. Older stamps tell none."""
    if kind == "directory":
        return make_attributes(stamp[0], None) if len(stamp) == _DIRECTORY_STAMP else UNKNOWN
    if kind == "other" or len(stamp) != _STAMP:
        return UNKNOWN
    return make_attributes(stamp[3] if kind == "file" else None, stamp[2])


def is_same_stamp(recorded: tuple[int, ...], now: tuple[int, ...]) -> bool:
    """Whether a recorded stamp is the one of now, as far as it tells: older ones had no mode."""
    return recorded == now or (len(recorded) == _STAMP - 1 and recorded == (*now[:3], *now[4:]))
