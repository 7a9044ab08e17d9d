"""A running memtui answers the questions of other processes: may this agent change that memory?

`memtui mcp --ask`, `memtui hook --ask` and a chat without a screen have nobody to ask; a memtui that shows the folder
has. It listens on a socket in the folder's state directory, where no command of an agent leads. One process asks on
one connection, and the answer goes back on that connection only: nothing that comes in is ever taken for an answer.

Of several windows on one folder one has the desk, by a lock that the system takes back when its process dies; the
others take over within a second. Whoever asks while nobody is there may wait for somebody.
"""

import contextlib
import fcntl
import os
import selectors
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable

from memtui.agents import sockets, wire
from memtui.core.asking import Proposal, Stop, Unanswered, Verdict
from memtui.core.errors import StateUnusable

LOCK = "asked.lock"
_TAKE_OVER_SECONDS = 0.25
_TURN_SECONDS = 0.1
"""How soon an asker notices that it is to stop, or that somebody has come."""
_READ_SECONDS = 10.0
"""How long an asker may take to say its question, and to take its answer."""
_AT_ONCE = 64
"""Askers that are heard at a time; who comes then is sent away, and may come again."""
_HELD = 4 * wire.LIMIT
"""Bytes of unfinished questions that are held at a time."""
_CHUNK = 1 << 18
_GRACE_SECONDS = 2.0
"""How long an asker waits beyond its limit for the desk to say so, and for another window to take a desk over."""


class Question:
    """A question of another process, until it is answered. May be used from any thread.

    Attributes:
        proposal: What is asked about.
        until: When its asker stops waiting, by `time.monotonic()`.
    """

    def __init__(self, proposal: Proposal, until: float, send: Callable[[Verdict], bool]) -> None:
        self.proposal = proposal
        self.until = until
        self._send = send
        self._lock = threading.Lock()
        self._answered = False
        self._gone = ""

    @property
    def gone(self) -> str:
        """Why it needs no answer any more, as a sentence: its asker went away, or has waited long enough."""
        return self._gone

    def answer(self, verdict: Verdict) -> bool:
        """Answer it; tells whether the answer is on its way. A second one does nothing."""
        with self._lock:
            if self._answered or self._gone:
                return False
            self._answered = True
        return self._send(verdict)

    def _end(self, why: str) -> bool:
        """It needs no answer any more; tells whether it needed one until now."""
        with self._lock:
            if self._answered or self._gone:
                return False
            self._gone = why
            return True


class _Caller:
    """One connection to the desk."""

    def __init__(self, peer: socket.socket, now: float) -> None:
        self.peer = peer
        self.heard = bytearray()
        self.to_say = b""
        self.until = now + _READ_SECONDS
        self.question: Question | None = None


class Desk:
    """Where other processes ask, as long as a memtui is there.

    Args:
        state: The folder's state directory; it must exist.
        asked: Takes a question, in the desk's thread; it must return soon.
        ended: Told of a question that needs no answer any more, in the desk's thread.
        failed: Told why nobody can ask here, as a sentence.
    """

    def __init__(
        self,
        state: str | os.PathLike[str],
        asked: Callable[[Question], object],
        *,
        ended: Callable[[Question], object] = lambda _: None,
        failed: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._state = os.fspath(state)
        self._asked = asked
        self._ended = ended
        self._failed = failed
        self._stopping = threading.Event()
        self._owns = threading.Event()
        self._callers: dict[socket.socket, _Caller] = {}
        self._answers: deque[tuple[_Caller, Verdict]] = deque()
        self._ring, self._bell = socket.socketpair()
        self._ring.setblocking(False)
        self._bell.setblocking(False)
        self._thread = threading.Thread(target=self._run, name="memtui-desk", daemon=True)

    def start(self) -> None:
        """Begin, in a thread of its own: listen, or wait until the window that listens is gone."""
        self._thread.start()

    def close(self) -> None:
        """End. Who still waits for an answer is left to another window, or to its limit."""
        self._stopping.set()
        self._wake()
        if self._thread.ident is None:  # it never began
            self._ring.close()
            self._bell.close()
        elif self._thread is not threading.current_thread():
            self._thread.join()

    @property
    def is_open(self) -> bool:
        """Whether it is this process that is asked."""
        return self._owns.is_set()

    def wait_until_open(self, seconds: float) -> bool:
        """Wait until it is this process that is asked."""
        return self._owns.wait(seconds)

    def _run(self) -> None:
        try:
            lock = self._locked()
            if lock is None:
                return
            try:
                self._serve()
            finally:
                self._owns.clear()
                with contextlib.suppress(OSError):  # under the lock still: it is ours
                    os.unlink(os.path.join(self._state, sockets.NAME))
                os.close(lock)
        except (OSError, StateUnusable) as error:
            words = str(error) if isinstance(error, StateUnusable) else os.strerror(error.errno or 0).lower() + "."
            self._failed(f"Agents that ask first cannot ask here: {words}")
        finally:
            self._ring.close()
            self._bell.close()

    def _locked(self) -> int | None:
        """The descriptor that holds the lock of whoever is asked; `None` if it was closed first."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        lock = os.open(os.path.join(self._state, LOCK), flags, 0o600)
        try:
            while not self._stopping.is_set():
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    self._stopping.wait(_TAKE_OVER_SECONDS)
                else:
                    return lock
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)
        return None

    def _serve(self) -> None:
        with (
            sockets.listening(self._state, _AT_ONCE) as door,
            selectors.DefaultSelector() as selector,
        ):
            self._selector = selector
            selector.register(door, selectors.EVENT_READ, self._let_in)
            selector.register(self._ring, selectors.EVENT_READ, self._take_answers)
            self._owns.set()
            try:
                while not self._stopping.is_set():
                    for key, _ in selector.select(self._pause()):
                        key.data(key.fileobj)
                    self._send_late_ones_away()
            finally:
                for caller in tuple(self._callers.values()):
                    self._leave(caller, "memtui was closed.")

    def _pause(self) -> float | None:
        """How long nothing has to be done, in seconds."""
        if not self._callers:
            return None
        return max(min(caller.until for caller in self._callers.values()) - time.monotonic(), 0.0)

    def _let_in(self, door: socket.socket) -> None:
        try:
            peer, _ = door.accept()
        except OSError:
            return  # gone already; or no descriptor is left, and it may come again
        if len(self._callers) >= _AT_ONCE or not sockets.is_ours(peer):
            peer.close()
            return
        peer.setblocking(False)
        self._callers[peer] = _Caller(peer, time.monotonic())
        self._selector.register(peer, selectors.EVENT_READ, self._hear)

    def _hear(self, peer: socket.socket) -> None:
        """Take what a caller says, or what is to be said to it."""
        caller = self._callers.get(peer)
        if caller is None:
            return  # it was left a moment ago, in the same look at who is ready
        if caller.to_say:
            self._say(caller)
            return
        try:
            said = peer.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            said = b""
        if not said:
            self._leave(caller, "Whoever asked is gone: nothing was written.")
            return
        if caller.question is not None:  # one question a connection: whatever else it says is not listened to
            self._leave(caller, "Whoever asked did not keep to what was agreed: it was sent away.")
            return
        caller.heard += said
        if len(caller.heard) > wire.LIMIT or sum(len(each.heard) for each in self._callers.values()) > _HELD:
            self._leave(caller)
        elif b"\n" in said:
            self._take_question(caller)

    def _take_question(self, caller: _Caller) -> None:
        try:
            asked = wire.read_question(bytes(caller.heard))
        except ValueError:
            self._leave(caller)
            return
        caller.heard.clear()
        caller.until = time.monotonic() + asked.seconds
        caller.question = Question(asked.proposal, caller.until, lambda verdict: self._send(caller, verdict))
        self._told(self._asked, caller.question)

    def _send(self, caller: _Caller, verdict: Verdict) -> bool:
        """Have the desk's thread send an answer."""
        if caller.peer not in self._callers:
            return False
        self._answers.append((caller, verdict))
        return self._wake()

    def _wake(self) -> bool:
        try:
            self._bell.send(b"\0")
        except BlockingIOError:
            return True  # it rings already
        except OSError:
            return False
        return True

    def _take_answers(self, ring: socket.socket) -> None:
        with contextlib.suppress(OSError):
            ring.recv(_CHUNK)
        while self._answers:
            caller, verdict = self._answers.popleft()
            if caller.peer in self._callers:
                caller.to_say = wire.answer(verdict)
                caller.until = time.monotonic() + _READ_SECONDS
                self._say(caller)

    def _say(self, caller: _Caller) -> None:
        """Say as much of an answer as the caller takes now."""
        try:
            caller.to_say = caller.to_say[caller.peer.send(caller.to_say) :]
        except BlockingIOError:
            pass
        except OSError:
            caller.to_say = b""
        if caller.to_say:
            self._selector.modify(caller.peer, selectors.EVENT_WRITE, self._hear)
        else:
            self._leave(caller)

    def _send_late_ones_away(self) -> None:
        now = time.monotonic()
        for caller in tuple(self._callers.values()):
            if caller.until > now:
                continue
            if caller.question is not None and not caller.to_say and caller.question._end(_TOO_LATE):
                self._told(self._ended, caller.question)
                caller.to_say = wire.answer(Unanswered())
                caller.until = now + _READ_SECONDS
                self._say(caller)
            elif not self._answers:  # else its answer is on its way
                self._leave(caller)

    def _leave(self, caller: _Caller, why: str = "") -> None:
        """End a connection; a question that was not answered is gone."""
        if self._callers.pop(caller.peer, None) is None:
            return
        self._selector.unregister(caller.peer)
        caller.peer.close()
        if caller.question is not None and caller.question._end(why):
            self._told(self._ended, caller.question)

    def _told(self, callback: Callable[[Question], object], question: Question) -> None:
        try:
            callback(question)
        except Exception:  # the window's fault is its own: others may go on asking
            sys.excepthook(*sys.exc_info())


_TOO_LATE = "Nobody answered in time: the change was refused."


def somebody_is_there(state: str | os.PathLike[str]) -> bool:
    """Whether a running memtui would be asked now. It takes no longer than a look at the directory."""
    try:
        peer = sockets.connected(os.fspath(state))
    except StateUnusable:
        return False
    if peer is None:
        return False
    peer.close()
    return True


def ask_elsewhere(
    state: str | os.PathLike[str],
    proposal: Proposal,
    *,
    seconds: float,
    wait_for_somebody: bool = True,
    stop: Callable[[], bool] = lambda: False,
) -> Verdict:
    """Ask the person at a running memtui, and wait for the answer. May be called from any thread.

    Args:
        state: The folder's state directory.
        proposal: What is asked about.
        seconds: How long to wait at most.
        wait_for_somebody: Whether to wait while no memtui is there. One that goes away is waited for a moment anyway,
            since another window may take over.
        stop: Asked again and again; once it says so, nobody is asked any more.

    Returns:
        What the person said; `Unanswered(0)` where nobody was there, `Unanswered(seconds)` at the limit and where who
        was asked went away, `Stop()`.
    """
    seconds = min(seconds, wire.LONGEST_SECONDS)
    began = time.monotonic()
    end = began + seconds
    somebody_until = end if wait_for_somebody else 0.0
    asked = False
    while not stop():
        try:
            peer = sockets.connected(os.fspath(state))
        except StateUnusable:
            return Unanswered()
        now = time.monotonic()
        if peer is not None:
            with peer:
                message = wire.question(proposal, max(end - now, 0.0))
                if len(message) > wire.LIMIT:
                    return Unanswered()  # more than anybody could look through
                verdict = _heard(peer, message, end + _GRACE_SECONDS, stop)
            if isinstance(verdict, Unanswered):
                return Unanswered(seconds)
            if verdict is not None:
                return verdict
            asked, now = True, time.monotonic()
            if not wait_for_somebody and not somebody_until:
                somebody_until = min(end, now + _GRACE_SECONDS)
        if now >= end:
            return Unanswered(seconds) if asked or wait_for_somebody else Unanswered()
        if now >= somebody_until:
            return Unanswered(now - began) if asked else Unanswered()
        time.sleep(max(min(_TURN_SECONDS, end - now), 0.0))
    return Stop()


def _heard(peer: socket.socket, message: bytes, end: float, stop: Callable[[], bool]) -> Verdict | None:
    """What is answered on a connection; `None` if it ends before, or if that is no answer."""
    heard = bytearray()
    rest = memoryview(message)
    with selectors.DefaultSelector() as selector:
        selector.register(peer, selectors.EVENT_READ | selectors.EVENT_WRITE)
        while (now := time.monotonic()) < end:
            if stop():
                return Stop()
            for _, ready in selector.select(min(_TURN_SECONDS, end - now)):
                try:
                    if rest and ready & selectors.EVENT_WRITE:
                        rest = rest[peer.send(rest[:_CHUNK]) :]
                        if not rest:
                            selector.modify(peer, selectors.EVENT_READ)
                    if ready & selectors.EVENT_READ:
                        said = peer.recv(_CHUNK)
                        heard += said
                        if b"\n" in said:
                            return wire.read_answer(bytes(heard))
                        if not said or len(heard) > wire.LIMIT:
                            return None
                except BlockingIOError:
                    continue
                except (OSError, ValueError):
                    return None
    return Unanswered()
