"""Runs a piece of work in a forked child and stops it at its system calls: to count, to kill, or to fail one.

All of a process's calls pass here, SQLite's as well as Python's, which no stand-in for `os` could promise.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import platform
import signal
import struct
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

_TRACEME, _PEEKDATA, _POKEUSER, _CONT, _SYSCALL = 0, 2, 6, 7, 24
_SETOPTIONS, _GETREGSET, _SETREGSET, _GET_SYSCALL_INFO = 0x4200, 0x4204, 0x4205, 0x420E
_TRACESYSGOOD, _EXITKILL = 0x01, 0x100000
_SET_LOCK = (fcntl.F_SETLK, fcntl.F_SETLKW, 37, 38)
_PRSTATUS, _ARM_SYSTEM_CALL = 1, 0x404
_SYSCALL_STOP = signal.SIGTRAP | 0x80
_ENTRY = 1
_INFO_BYTES = 88
_NOTHING = 2**64 - 1
_ALL = 0x40000000
"""Wait for a child of any sort (`__WALL`)."""

# Numbers of the calls that touch files, by architecture. The others (memory, time, signals) change nothing that lasts.
_NAMES: dict[str, dict[int, str]] = {
    "x86_64": {
        0: "read",
        1: "write",
        2: "open",
        3: "close",
        4: "stat",
        5: "fstat",
        6: "lstat",
        8: "lseek",
        17: "pread64",
        18: "pwrite64",
        20: "writev",
        21: "access",
        32: "dup",
        40: "sendfile",
        72: "fcntl",
        73: "flock",
        74: "fsync",
        75: "fdatasync",
        76: "truncate",
        77: "ftruncate",
        82: "rename",
        83: "mkdir",
        84: "rmdir",
        85: "creat",
        86: "link",
        87: "unlink",
        88: "symlink",
        89: "readlink",
        91: "fchmod",
        93: "fchown",
        217: "getdents64",
        257: "openat",
        258: "mkdirat",
        262: "newfstatat",
        263: "unlinkat",
        264: "renameat",
        265: "linkat",
        266: "symlinkat",
        267: "readlinkat",
        269: "faccessat",
        285: "fallocate",
        316: "renameat2",
        326: "copy_file_range",
        332: "statx",
        437: "openat2",
        439: "faccessat2",
    },
    "aarch64": {
        23: "dup",
        25: "fcntl",
        32: "flock",
        34: "mkdirat",
        35: "unlinkat",
        36: "symlinkat",
        37: "linkat",
        38: "renameat",
        45: "truncate",
        46: "ftruncate",
        47: "fallocate",
        48: "faccessat",
        52: "fchmod",
        55: "fchown",
        56: "openat",
        57: "close",
        61: "getdents64",
        62: "lseek",
        63: "read",
        64: "write",
        66: "writev",
        67: "pread64",
        68: "pwrite64",
        71: "sendfile",
        78: "readlinkat",
        79: "newfstatat",
        80: "fstat",
        82: "fsync",
        83: "fdatasync",
        276: "renameat2",
        285: "copy_file_range",
        291: "statx",
        437: "openat2",
        439: "faccessat2",
    },
}
_LENGTHS = ("write", "pwrite64")
"""Calls whose third argument is a count of bytes, of which the system may take fewer."""
_DONE_ALL_THE_SAME = ("close",)
"""Calls that do their work also when they report a fault."""
CHANGING = frozenset(
    {"write", "pwrite64", "writev", "fsync", "fdatasync", "ftruncate", "truncate", "fallocate", "fchmod", "fchown"}
    | {"mkdirat", "mkdir", "linkat", "link", "symlinkat", "symlink", "renameat", "renameat2", "rename"}
    | {"unlinkat", "unlink", "rmdir"}
)
"""Calls that change something, or confirm it; a disk that fails fails these, and an `openat` that makes a file."""
_MAKING = os.O_CREAT | os.O_TRUNC | getattr(os, "O_TMPFILE", 0) & ~os.O_DIRECTORY

_NAMELESS_CALLS = ("mkdir", "link", "symlink", "rename", "unlink", "rmdir", "truncate")
"""Those of `CHANGING` that take no descriptor."""
_NO_DESCRIPTOR = 1 << 20

Work = Callable[[Callable[[bytes], object]], object]

_libc = ctypes.CDLL(None, use_errno=True)
_ptrace = _libc.ptrace
_ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
_ptrace.restype = ctypes.c_long


class How(Enum):
    """What happens at a call."""

    COUNT = "count"
    KILL = "kill"
    FAIL = "fail"
    """It is not made, and an error is reported."""
    FAIL_ON = "fail on"
    """As `FAIL`, and all that change something from there on fail as well."""
    SHORT = "short"
    """A write takes only half of its bytes."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens where.

    Attributes:
        how: What happens.
        at: At which call between the two marks, from 1 on.
        code: With which error it fails.
        below: The directory on whose disk calls go on failing; that of SQLite's own calls is the journal's. Empty for
            all disks.
        journal: Whether the journal lies there.
    """

    how: How
    at: int = 0
    code: int = 0
    below: str = ""
    journal: bool = True

    def __str__(self) -> str:
        words = f"{self.how.value} at {self.at}"
        words += f" below {os.path.basename(self.below)}" if self.below else ""
        return f"{words} with {errno.errorcode[self.code]}" if self.code else words


@dataclass(frozen=True, slots=True)
class Run:
    """What came of one run.

    Attributes:
        calls: The names of the calls that were seen between the marks, in order.
        hit: Whether the fault was met.
        said: What the work wrote to its pipe until it ended.
        status: How the process ended, as `os.waitstatus_to_exitcode` says it.
    """

    calls: tuple[str, ...]
    hit: bool
    said: bytes
    status: int


class Refused(Exception):
    """Processes cannot be traced here."""


def mark() -> None:
    """Begin or end what is counted; called by the work itself."""
    os.kill(os.getpid(), signal.SIGSTOP)


def refusal() -> str | None:
    """Why nothing can be traced here; `None` if it can."""
    if platform.system() != "Linux":
        return "system calls are stopped by ptrace, which only Linux has as we use it"
    if platform.machine() not in _NAMES:
        return f"the registers of {platform.machine()} are not known here"

    def work(say: Callable[[bytes], object]) -> None:
        mark()
        say(str(os.access("/", os.F_OK)).encode())
        mark()

    try:
        seen = run(work, Fault(How.FAIL, 1, errno.EACCES))
    except Refused as error:
        return str(error)
    return None if seen.said == b"False" else "calls can be seen here, but not be failed"


def run(work: Work, fault: Fault, *, between: Callable[[], object] = lambda: None) -> Run:
    """Run something in a child, which marks the begin and the end of what is counted.

    Args:
        work: What to do; it is given a function that sends bytes here at once. What it raises ends the child.
        fault: What happens to it.
        between: Called once the end is marked, while the child stands still; what comes after is not counted.

    Raises:
        Refused: The child cannot be traced.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _be_traced(work, reading, writing)
    os.close(writing)
    following = _Following(pid, fault, writing)
    try:
        status = following.end(between)
        said = b""
        while more := os.read(reading, 1 << 16):
            said += more
    finally:
        os.close(reading)
    return Run(tuple(following.calls), following.hit, said, status)


def _be_traced(work: Work, reading: int, writing: int) -> None:
    try:
        os.close(reading)
        if _ptrace(_TRACEME, 0, None, None) != 0:
            os._exit(77)
        os.kill(os.getpid(), signal.SIGSTOP)
        work(lambda words: os.write(writing, words))
        os._exit(0)
    except BaseException as error:
        with contextlib.suppress(OSError):
            where = traceback.extract_tb(error.__traceback__)[-3:]
            frames = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(where))
            os.write(writing, f"\nRAISED {error!r} in {frames}".encode())
    finally:
        os._exit(70)


class _Gone(Exception):
    """The child has ended.

    Attributes:
        status: How, as `os.waitstatus_to_exitcode` says it.
    """

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class _Following:
    """Goes along with one child."""

    def __init__(self, pid: int, fault: Fault, pipe: int) -> None:
        self._pid = pid
        self._fault = fault
        self._pipe = pipe
        self.calls: list[str] = []
        self.hit = False

    def end(self, between: Callable[[], object]) -> int:
        """Follow it to its end; returns how it ended."""
        try:
            self._wait()
            if _ptrace(_SETOPTIONS, self._pid, None, _TRACESYSGOOD | _EXITKILL) != 0:
                raise Refused("this process may not set how its children are traced")
            self._resume(_CONT)
            self._count()
            between()
            while True:
                self._resume(_CONT)
        except _Gone as gone:
            return gone.status
        except BaseException:
            with contextlib.suppress(OSError, _Gone):
                os.kill(self._pid, signal.SIGKILL)
                self._wait()
            raise

    def _count(self) -> None:
        """Stop at every call that touches files, as it is about to be made, until the second mark."""
        names = _NAMES[platform.machine()]
        info = ctypes.create_string_buffer(_INFO_BYTES)
        fault = self._fault
        while (signalled := self._resume(_SYSCALL)) != signal.SIGSTOP:
            if signalled != _SYSCALL_STOP:
                continue
            if _ptrace(_GET_SYSCALL_INFO, self._pid, _INFO_BYTES, ctypes.addressof(info)) <= 0:
                raise Refused("the kernel does not tell about calls (before Linux 5.3)")
            number, first, _, third = struct.unpack_from("=4Q", info.raw, 24)
            name = names.get(number) if info.raw[0] == _ENTRY else None
            if name is None:
                continue
            self.calls.append(name)
            here = len(self.calls) == fault.at
            if here and fault.how is How.KILL:
                self.hit = True
                os.kill(self._pid, signal.SIGKILL)
                self._wait()
            if first == self._pipe and name == "write":
                continue  # it is ours, and no part of what is tried
            if name == "fcntl" and self._gives_a_lock_back(*struct.unpack_from("=2Q", info.raw, 40)):
                continue
            if here and fault.how is How.SHORT and name in _LENGTHS and third > 1:
                self.hit = True
                _set_length(self._pid, third // 2)
            elif (here and fault.how in (How.FAIL, How.FAIL_ON)) or self._fails_on(name, first, third):
                self._fail(name)

    def _gives_a_lock_back(self, command: int, address: int) -> bool:
        """Whether it is an unlocking, which no system refuses. Whoever asks for it has no other way to go."""
        if command & 0xFFFFFFFF not in _SET_LOCK:
            return False
        ctypes.set_errno(0)
        return _ptrace(_PEEKDATA, self._pid, address, None) & 0xFFFF == fcntl.F_UNLCK

    def _fails_on(self, name: str, first: int, third: int) -> bool:
        """Whether the disk, which has failed once, fails this call as well."""
        if self._fault.how is not How.FAIL_ON or len(self.calls) <= self._fault.at:
            return False
        if name not in CHANGING and not (name == "openat" and third & _MAKING):
            return False
        return not self._fault.below or self._is_below(name, first)

    def _is_below(self, name: str, first: int) -> bool:
        """Whether a call is for the disk that fails: by its descriptor, or it is SQLite's, which has none."""
        if name in _NAMELESS_CALLS or first >= _NO_DESCRIPTOR:
            return self._fault.journal
        try:
            return os.readlink(f"/proc/{self._pid}/fd/{first}").startswith(self._fault.below)
        except OSError:
            return False

    def _fail(self, name: str) -> None:
        """Have a call that is about to be made report an error, undone."""
        self.hit = True
        if name not in _DONE_ALL_THE_SAME:
            _set_number(self._pid, _NOTHING)
        self._resume(_SYSCALL)
        _set_result(self._pid, 2**64 - self._fault.code)

    def _resume(self, how: int) -> int:
        if _ptrace(how, self._pid, None, None) != 0 and ctypes.get_errno() != errno.ESRCH:
            raise Refused(os.strerror(ctypes.get_errno()))
        return self._wait()

    def _wait(self) -> int:
        """Wait until it stops; returns at which signal."""
        status = os.waitpid(self._pid, _ALL)[1]
        if not os.WIFSTOPPED(status):
            raise _Gone(os.waitstatus_to_exitcode(status))
        return os.WSTOPSIG(status)


if platform.machine() == "aarch64":

    def _set_number(pid: int, number: int) -> None:
        word = ctypes.c_int(-1 if number == _NOTHING else number)
        vector = (ctypes.c_size_t * 2)(ctypes.addressof(word), ctypes.sizeof(word))
        _ptrace(_SETREGSET, pid, _ARM_SYSTEM_CALL, ctypes.addressof(vector))

    def _set_register(pid: int, index: int, value: int) -> None:
        registers = (ctypes.c_uint64 * 34)()
        vector = (ctypes.c_size_t * 2)(ctypes.addressof(registers), ctypes.sizeof(registers))
        _ptrace(_GETREGSET, pid, _PRSTATUS, ctypes.addressof(vector))
        registers[index] = value
        _ptrace(_SETREGSET, pid, _PRSTATUS, ctypes.addressof(vector))

    def _set_result(pid: int, value: int) -> None:
        _set_register(pid, 0, value)

    def _set_length(pid: int, value: int) -> None:
        _set_register(pid, 2, value)

else:

    def _set_number(pid: int, number: int) -> None:
        _ptrace(_POKEUSER, pid, 15 * 8, number)

    def _set_result(pid: int, value: int) -> None:
        _ptrace(_POKEUSER, pid, 10 * 8, value)

    def _set_length(pid: int, value: int) -> None:
        _ptrace(_POKEUSER, pid, 12 * 8, value)
