"""A process that gives up its own right to write, so that the kernel keeps what our code promises.

Landlock (Linux 5.13) takes rights away from a thread and from all that it starts from then on, for good, and asks no
privilege for it. Every right to write that the kernel knows is given up everywhere; what was open before stays open,
such as the terminal. What Landlock does not judge are modes, owners and times: those nobody here asks for.

Source of all numbers: the Linux manual, "Landlock: unprivileged access control", and `linux/landlock.h`.
"""

import contextlib
import ctypes
import errno
import os
import resource
import stat
import struct
import sys
import threading
from collections.abc import Iterable

from memtui.core.lazy_dataclass import dataclass

# The calls' numbers are the same on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38

_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_WRITE_FILE = 1 << 1
_TRUNCATE = 1 << 14
_IOCTL_DEV = 1 << 15
_TRUNCATE_SINCE = 3
_OF_A_FILE = _READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV
"""What can be allowed for one file; all else is about what is in a directory."""
_RIGHTS = (
    # Write a file; remove a directory and a file; make a device, a directory, a file, a socket, a FIFO, a block device
    # and a link.
    (1, _WRITE_FILE | sum(1 << bit for bit in range(4, 13))),
    (2, 1 << 13),  # move or link a file to another directory
    (_TRUNCATE_SINCE, _TRUNCATE),
    (5, _IOCTL_DEV),
)
"""The rights to write, each with the first version of Landlock that knows it."""
_BIND_AND_CONNECT = 3
_NET_SINCE, _SCOPES_SINCE = 4, 6
_ALWAYS = ("/dev/null", "/dev/tty")
"""What writing to changes nothing on the disk."""
_ABSENT = (errno.ENOSYS, errno.EOPNOTSUPP)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


@dataclass(frozen=True, slots=True)
class SandboxStatus:
    """The rights that a process has given up.

    Attributes:
        version: The version of Landlock that enforces it; 0 if the kernel enforces nothing.
        has_network: Whether connections can still be made.
        reason: Why the kernel enforces nothing, as a sentence; empty if it does.
        exceptions: The files that can still be written, such as `its own temporary ones`; empty for none.
    """

    version: int
    has_network: bool = True
    reason: str = ""
    exceptions: str = ""

    @property
    def sentence(self) -> str:
        if not self.version:
            return f"{self.reason} memtui itself opens everything read-only."
        written = "writing files" if self.version >= _TRUNCATE_SINCE else "opening files for writing"
        written += f", but for {self.exceptions}," if self.exceptions else ""
        network = "" if self.has_network else " and from making TCP connections"
        return f"The kernel keeps this process from {f'{written}{network}'.rstrip(',')} (Landlock {self.version})."


def get_landlock_version() -> int:
    """The version of Landlock that the kernel offers; 0 for none. Nothing is given up."""
    return max(_query_version(), 0)


def restrict_writes(
    *, but: Iterable[str] = (), exceptions: str = "", network: bool = False, readable: Iterable[str] | None = None
) -> SandboxStatus:
    """Give up the right to write anywhere, for this process and all that it starts, until its end.

    Open files stay open, and `/dev/null` and the terminal can still be written to. Core dumps are disabled as well.

    Args:
        but: Files and directories below which writing stays allowed; one that is not there is left out.
        exceptions: What they are, for `SandboxStatus.sentence`.
        network: Whether TCP connections stay allowed; before Landlock 4 they cannot be given up.
        readable: Files and directories below which reading stays allowed; then nothing else can be read, and no program
            started. `None` leaves both as they are.

    Raises:
        RuntimeError: The process has other threads already: those would keep the right.
    """
    sys.dont_write_bytecode = True
    disable_core_dumps()
    version = _query_version()
    if version <= 0:
        return SandboxStatus(0, reason=_explain_unavailable(-version))
    others = count_threads() - 1
    if others > 0:
        count = "another thread" if others == 1 else f"{others} other threads"
        raise RuntimeError(f"{count} would keep the right to write: drop it earlier")
    try:
        no_network = not network and version >= _NET_SINCE
        _apply_ruleset(version, but, readable, no_network=no_network)
    except OSError as error:
        return SandboxStatus(0, reason=_explain_unavailable(error.errno or 0))
    return SandboxStatus(version, has_network=not no_network, exceptions=exceptions)


def disable_core_dumps() -> None:
    """Have the kernel write no image of this process's memory when it crashes: it holds what was read."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _apply_ruleset(version: int, but: Iterable[str], readable: Iterable[str] | None, *, no_network: bool) -> None:
    rights = sum(right for since, right in _RIGHTS if version >= since)
    reading = 0 if readable is None else _READ_FILE | _READ_DIR
    handled = rights | (reading and reading | _EXECUTE)
    asked = _Ruleset(handled, _BIND_AND_CONNECT if no_network else 0, 0)
    size = 8 if version < _NET_SINCE else 16 if version < _SCOPES_SINCE else 24
    ruleset = _call_syscall(_CREATE_RULESET, ctypes.byref(asked), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for path in (*_ALWAYS, *but):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                _add_path_rule(ruleset, path, rights | reading)
        for path in readable or ():
            with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                _add_path_rule(ruleset, path, reading)
        _call_prctl(_NO_NEW_PRIVS)
        _call_syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _add_path_rule(ruleset: int, path: str, rights: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        of = rights if stat.S_ISDIR(os.fstat(fd).st_mode) else rights & _OF_A_FILE
        rule = ctypes.create_string_buffer(struct.pack("=Qi", of, fd))  # `struct landlock_path_beneath_attr`, packed
        _call_syscall(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0))
    finally:
        os.close(fd)


def _query_version() -> int:
    """The version of Landlock; where there is none, the error's number, negative."""
    if sys.platform != "linux":
        return -errno.ENOSYS
    try:
        return _call_syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION))
    except OSError as error:
        return -(error.errno or errno.ENOSYS)


def _explain_unavailable(code: int) -> str:
    if sys.platform != "linux":
        return "This system has no Landlock:"
    if code in _ABSENT:
        return "This kernel has no Landlock:"
    return f"This process may not use Landlock ({os.strerror(code).lower()}):"


def count_threads() -> int:
    """How many threads this process has, also such as Python does not know."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return threading.active_count()


def _call_syscall(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    done = int(libc.syscall(ctypes.c_long(number), *arguments))
    if done < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return done


def _call_prctl(option: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    if libc.prctl(ctypes.c_int(option), ctypes.c_ulong(1), zero, zero, zero) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
