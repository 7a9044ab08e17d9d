"""Names that something has for a moment, and the token that tells them from all others."""

import contextlib
import os
import re
import secrets

from memtui.quiet import open_quietly
from memtui.store.confined import let_go
from memtui.store.locks import Locking, held
from memtui.store.nodes import write_all

_JUDGED, _UNJUDGED = "0", "f"
"""How the last part of a passing name begins: what is not whole yet or may go, and what nobody has looked at since
it was moved aside."""
_START = ".memtui-"
_NEW_TOKEN = "token."
"""What the name of a token begins with that is not whole yet."""
_TOKEN_SECONDS = 5.0
_RANDOM = re.compile("[0-9a-f]{16}")


def passing_start(state: int, locking: Locking | None) -> str:
    """What the passing names of a folder begin with.

    Args:
        state: The opened state directory, where the token is kept; it is made if missing.
        locking: How writers exclude each other.

    Raises:
        Busy: Somebody else has the lock for too long.
        OSError: The token can be neither read nor made.
    """
    return f"{_START}{_token(state, locking)}-"


def known_start(state: str) -> str:
    """What the passing names of a folder begin with, as far as somebody who only looks can know it; empty if not."""
    try:
        fd = os.open(state, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            token = _read_token(fd)
        finally:
            let_go(fd)
    except OSError:
        return ""
    return "" if token is None else f"{_START}{token}-"


def passing_name(start: str, *, judged: bool = True) -> str:
    """A name for a moment; it says whether what has it may be removed without being looked at."""
    return start + (_JUDGED if judged else _UNJUDGED) + secrets.token_hex(8)[1:]


def is_passing(name: str, start: str) -> bool:
    """Whether a name is one of ours for a moment. Nobody else can know one, so nothing can be hidden by it."""
    return bool(start) and name.startswith(start) and _RANDOM.fullmatch(name, len(start)) is not None


def is_judged(name: str) -> bool:
    """Whether what has a passing name may be removed without being looked at."""
    return name[-16] == _JUDGED


def _token(state: int, locking: Locking | None) -> str:
    """What the names of files on their way begin with: drawn by lot once, and kept where no agent can read it."""
    token = _read_token(state)
    if token is None:
        with held(state, _TOKEN_SECONDS, locking):  # so that one process makes it, and clears away what a dead one left
            token = _read_token(state) or _make_token(state)
    return token


def _read_token(state: int) -> str | None:
    """The token; `None` if there is none, or a damaged one."""
    try:
        fd = open_quietly("token", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW, directory=state)
    except FileNotFoundError:
        return None
    try:
        token = os.read(fd, 64).decode("ascii", "replace")
    finally:
        let_go(fd)
    return token if _RANDOM.fullmatch(token) else None


def _make_token(state: int) -> str:
    for name in os.listdir(state):
        if name.startswith(_NEW_TOKEN):
            os.unlink(name, dir_fd=state)
    token, passing = secrets.token_hex(8), _NEW_TOKEN + secrets.token_hex(8)
    fd = os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=state)
    try:
        write_all(fd, token.encode())
        os.rename(passing, "token", src_dir_fd=state, dst_dir_fd=state)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(passing, dir_fd=state)
        raise
    finally:
        let_go(fd)
    return token
