"""Approval by a person at another process: a running memtui answers the questions of others.

`memtui mcp --ask`, `memtui hook --ask` and a chat without a screen have nobody to ask; a memtui that shows the folder
has. It listens on a socket in the folder's state directory, where no command of an agent leads. One process asks on
one connection, and the answer goes back on that connection only: no input is ever taken for an answer.

Of several windows on one folder one is the server, by a lock that the system releases when its process dies; the
others take over within a second. An asker may wait for a server to start.
"""

import contextlib
import errno
import math
import os
import selectors
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable

from memtui.agents import ipc
from memtui.core.approvals import Proposal, Stop, Unanswered, Verdict
from memtui.core.errors import LockTimeout, StateUnusable
from memtui.fs.locks import lock_file
from memtui.fs.state import APPROVAL_SOCKET

LOCK = "asked.lock"
_TAKE_OVER_SECONDS = 0.25
_TURN_SECONDS = 0.1
"""How soon an asker notices that it is to stop, or that a server has started."""
_READ_SECONDS = 10.0
"""How long a client may take to send its question, and to read its answer."""
_AT_ONCE = 64
"""Clients at a time; a further one is disconnected, and may connect again."""
_HELD = 4 * ipc.LIMIT
"""Bytes of unfinished questions that are held at a time."""
_CHUNK = 1 << 18
_GRACE_SECONDS = 2.0
"""How long an asker waits beyond its limit for the server's refusal, and for another window to become the server."""


class ApprovalQuestion:
    """A question of another process, until it is answered. May be used from any thread.

    Attributes:
        proposal: The change.
        until: When its asker stops waiting, by `time.monotonic()`; infinite for never.
    """

    def __init__(self, proposal: Proposal, until: float, send: Callable[[Verdict], bool]) -> None:
        self.proposal = proposal
        self.until = until
        self._send = send
        self._lock = threading.Lock()
        self._answered = False
        self.closed_reason = ""
        """Why it needs no answer any more, as a sentence: its asker went away, or has waited long enough."""

    @property
    def waits_forever(self) -> bool:
        """Whether it never ends by itself."""
        return math.isinf(self.until)

    def answer(self, verdict: Verdict) -> bool:
        """Answer it; whether the answer is on its way. A second one does nothing."""
        with self._lock:
            if self._answered or self.closed_reason:
                return False
            self._answered = True
        return self._send(verdict)

    def _close(self, why: str) -> bool:
        """Close it; whether it needed an answer until now."""
        with self._lock:
            if self._answered or self.closed_reason:
                return False
            self.closed_reason = why
            return True


class _ApprovalClient:
    """One connection to the server."""

    def __init__(self, peer: socket.socket, now: float) -> None:
        self.peer = peer
        self.received = bytearray()
        self.outgoing = b""
        self.until = now + _READ_SECONDS
        self.question: ApprovalQuestion | None = None


class ApprovalServer:
    """Receives the questions of other processes.

    Args:
        state: The folder's state directory; it must exist.
        asked: Takes a question, in the server's thread; it must return soon.
        ended: Takes a question that needs no answer any more, in the server's thread.
        failed: Takes the reason why no questions can be received, as a sentence.
    """

    def __init__(
        self,
        state: str | os.PathLike[str],
        asked: Callable[[ApprovalQuestion], object],
        *,
        ended: Callable[[ApprovalQuestion], object] = lambda _: None,
        failed: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._state = os.fspath(state)
        self._asked = asked
        self._ended = ended
        self._failed = failed
        self._stopping = threading.Event()
        self._owns = threading.Event()
        self._clients: dict[socket.socket, _ApprovalClient] = {}
        self._answers: deque[tuple[_ApprovalClient, Verdict]] = deque()
        self._ring, self._bell = socket.socketpair()
        self._ring.setblocking(False)
        self._bell.setblocking(False)
        self._thread = threading.Thread(target=self._run, name="memtui-desk", daemon=True)

    def start(self) -> None:
        """Start a thread that listens, or waits until the window that listens is gone."""
        self._thread.start()

    def close(self) -> None:
        """End. Open questions are left to another window, or to their limit."""
        self._stopping.set()
        self._wake()
        if self._thread.ident is None:  # it never began
            self._ring.close()
            self._bell.close()
        elif self._thread is not threading.current_thread():
            self._thread.join()

    @property
    def is_open(self) -> bool:
        """Whether this process receives the questions."""
        return self._owns.is_set()

    def wait_until_open(self, seconds: float) -> bool:
        """Wait until this process receives the questions."""
        return self._owns.wait(seconds)

    def _run(self) -> None:
        try:
            lock = self._acquire_lock()
            if lock is None:
                return
            try:
                self._serve()
            finally:
                self._owns.clear()
                with contextlib.suppress(OSError):  # under the lock still: it is ours
                    os.unlink(os.path.join(self._state, APPROVAL_SOCKET))
                os.close(lock)
        except (OSError, StateUnusable) as error:
            words = str(error) if isinstance(error, StateUnusable) else os.strerror(error.errno or 0).lower() + "."
            self._failed(f"Agents cannot ask for approval here: {words}")
        finally:
            self._ring.close()
            self._bell.close()

    def _acquire_lock(self) -> int | None:
        """The descriptor that holds the server's lock; `None` if it was closed first."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        lock = os.open(os.path.join(self._state, LOCK), flags, 0o600)
        try:
            while not self._stopping.is_set():
                try:
                    if not lock_file(lock):
                        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
                    return lock
                except LockTimeout:
                    self._stopping.wait(_TAKE_OVER_SECONDS)
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)
        return None

    def _serve(self) -> None:
        with ipc.open_listener(self._state, _AT_ONCE) as door, selectors.DefaultSelector() as selector:
            self._selector = selector
            selector.register(door, selectors.EVENT_READ, self._accept)
            selector.register(self._ring, selectors.EVENT_READ, self._drain_answers)
            self._owns.set()
            try:
                while not self._stopping.is_set():
                    for key, _ in selector.select(self._compute_timeout()):
                        key.data(key.fileobj)
                    self._expire_clients()
            finally:
                for caller in tuple(self._clients.values()):
                    self._disconnect(caller, "memtui was closed.")

    def _compute_timeout(self) -> float | None:
        """Seconds until the next limit; `None` without a client."""
        if not self._clients:
            return None
        return max(min(caller.until for caller in self._clients.values()) - time.monotonic(), 0.0)

    def _accept(self, door: socket.socket) -> None:
        try:
            peer, _ = door.accept()
        except OSError:
            return  # gone already; or no descriptor is left, and it may come again
        if len(self._clients) >= _AT_ONCE or not ipc.is_same_user(peer):
            peer.close()
            return
        peer.setblocking(False)
        self._clients[peer] = _ApprovalClient(peer, time.monotonic())
        self._selector.register(peer, selectors.EVENT_READ, self._read_client)

    def _read_client(self, peer: socket.socket) -> None:
        """Read a client's message, or go on with the answer."""
        caller = self._clients.get(peer)
        if caller is None:
            return  # it was left a moment ago, in the same look at who is ready
        if caller.outgoing:
            self._write_client(caller)
            return
        try:
            data = peer.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._disconnect(caller, "The agent that asked has ended. Nothing was written.")
            return
        if caller.question is not None:  # one question a connection: whatever else it says is not listened to
            self._disconnect(
                caller, "The agent that asked broke the protocol and was disconnected. Nothing was written."
            )
            return
        caller.received += data
        if len(caller.received) > ipc.LIMIT or sum(len(each.received) for each in self._clients.values()) > _HELD:
            self._disconnect(caller)
        elif b"\n" in data:
            self._handle_question(caller)

    def _handle_question(self, caller: _ApprovalClient) -> None:
        try:
            asked = ipc.decode_question(bytes(caller.received))
        except ValueError:
            self._disconnect(caller)
            return
        caller.received.clear()
        caller.until = time.monotonic() + asked.seconds
        caller.question = ApprovalQuestion(
            asked.proposal, caller.until, lambda verdict: self._queue_answer(caller, verdict)
        )
        self._notify(self._asked, caller.question)

    def _queue_answer(self, caller: _ApprovalClient, verdict: Verdict) -> bool:
        """Have the server's thread send an answer."""
        if caller.peer not in self._clients:
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

    def _drain_answers(self, ring: socket.socket) -> None:
        with contextlib.suppress(OSError):
            ring.recv(_CHUNK)
        while self._answers:
            caller, verdict = self._answers.popleft()
            if caller.peer in self._clients:
                caller.outgoing = ipc.encode_answer(verdict)
                caller.until = time.monotonic() + _READ_SECONDS
                self._write_client(caller)

    def _write_client(self, caller: _ApprovalClient) -> None:
        """Send as much of an answer as the client takes now."""
        try:
            caller.outgoing = caller.outgoing[caller.peer.send(caller.outgoing) :]
        except BlockingIOError:
            pass
        except OSError:
            caller.outgoing = b""
        if caller.outgoing:
            self._selector.modify(caller.peer, selectors.EVENT_WRITE, self._read_client)
        else:
            self._disconnect(caller)

    def _expire_clients(self) -> None:
        now = time.monotonic()
        for caller in tuple(self._clients.values()):
            if caller.until > now:
                continue
            if caller.question is not None and not caller.outgoing and caller.question._close(_TOO_LATE):
                self._notify(self._ended, caller.question)
                caller.outgoing = ipc.encode_answer(Unanswered())
                caller.until = now + _READ_SECONDS
                self._write_client(caller)
            elif not self._answers:  # else its answer is on its way
                self._disconnect(caller)

    def _disconnect(self, caller: _ApprovalClient, why: str = "") -> None:
        """Close a connection; an open question is closed."""
        if self._clients.pop(caller.peer, None) is None:
            return
        self._selector.unregister(caller.peer)
        caller.peer.close()
        if caller.question is not None and caller.question._close(why):
            self._notify(self._ended, caller.question)

    def _notify(self, callback: Callable[[ApprovalQuestion], object], question: ApprovalQuestion) -> None:
        try:
            callback(question)
        except Exception:  # the window's fault is its own: others may go on asking
            sys.excepthook(*sys.exc_info())


_TOO_LATE = "No answer in time: the change was refused. Nothing was written."


def has_approval_server(state: str | os.PathLike[str]) -> bool:
    """Whether a running memtui would be asked now. It takes no longer than a look at the directory."""
    try:
        peer = ipc.connect_socket(os.fspath(state))
    except StateUnusable:
        return False
    if peer is None:
        return False
    peer.close()
    return True


def request_approval(
    state: str | os.PathLike[str],
    proposal: Proposal,
    *,
    seconds: float,
    wait_for_server: bool = True,
    stop: Callable[[], bool] = lambda: False,
) -> Verdict:
    """Ask the person at a running memtui, and wait for the answer. May be called from any thread.

    Args:
        state: The folder's state directory.
        proposal: The change.
        seconds: How long to wait at most.
        wait_for_server: Whether to wait while no memtui is there. One that goes away is waited for a moment anyway,
            since another window may take over.
        stop: Polled; once it is true, the question is given up.

    Returns:
        The person's verdict; `Unanswered(0)` where no memtui was there, `Unanswered(seconds)` at the limit and where it
        went away, `Stop()`.
    """
    seconds = min(seconds, ipc.LONGEST_SECONDS)
    began = time.monotonic()
    end = began + seconds
    server_until = end if wait_for_server else 0.0
    asked = False
    while not stop():
        try:
            peer = ipc.connect_socket(os.fspath(state))
        except StateUnusable:
            return Unanswered()
        now = time.monotonic()
        if peer is not None:
            with peer:
                message = ipc.encode_question(proposal, max(end - now, 0.0))
                if len(message) > ipc.LIMIT:
                    return Unanswered()  # too large for a person to review
                verdict = _exchange_messages(peer, message, end + _GRACE_SECONDS, stop)
            if isinstance(verdict, Unanswered):
                return Unanswered(seconds)
            if verdict is not None:
                return verdict
            asked, now = True, time.monotonic()
            if not wait_for_server and not server_until:
                server_until = min(end, now + _GRACE_SECONDS)
        if now >= end:
            return Unanswered(seconds) if asked or wait_for_server else Unanswered()
        if now >= server_until:
            return Unanswered(now - began) if asked else Unanswered()
        time.sleep(max(min(_TURN_SECONDS, end - now), 0.0))
    return Stop()


def _exchange_messages(peer: socket.socket, message: bytes, end: float, stop: Callable[[], bool]) -> Verdict | None:
    """The answer on a connection; `None` if it ends before, or if that is no answer."""
    received = bytearray()
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
                        data = peer.recv(_CHUNK)
                        received += data
                        if b"\n" in data:
                            return ipc.decode_answer(bytes(received))
                        if not data or len(received) > ipc.LIMIT:
                            return None
                except BlockingIOError:
                    continue
                except (OSError, ValueError):
                    return None
    return Unanswered()
