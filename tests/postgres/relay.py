"""What is between a program and its server, and goes wrong: a line that is cut, a pooler that keeps bells to itself."""

import contextlib
import socket
import threading
from pathlib import Path

_SOCKET = ".s.PGSQL.5432"
_NOTIFICATION, _READY = b"A", b"Z"


class Relay:
    """Passes on what programs and a server say to each other.

    Args:
        server: The directory of the server's socket.
        directory: That of the relay's.

    Attributes:
        keeps_bells: Whether notifications are kept back, as by a pooler in transaction mode.
        lost: A call, by a part of its statement, whose next answer is lost: the line is cut instead of passing it on.
        is_cut: Whether that has come to pass.
    """

    def __init__(self, server: Path, directory: Path) -> None:
        self.keeps_bells = False
        self.lost = b""
        self.is_cut = False
        self._server = str(server / _SOCKET)
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(directory / _SOCKET))
        self._listening.listen()
        self._open: list[socket.socket] = [self._listening]
        self._programs: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        for each in self._open:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def cut(self) -> None:
        """Cut the lines of all programs; the server does not notice while it has nothing to say."""
        for each in self._programs:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._programs.clear()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                program, _ = self._listening.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._open += [program, server]
                self._programs.append(program)
                is_lost = threading.Event()
                for work in (self._pass_calls, self._pass_answers):
                    threading.Thread(target=work, args=(program, server, is_lost), daemon=True).start()

    def _pass_calls(self, program: socket.socket, server: socket.socket, is_lost: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while data := program.recv(1 << 16):
                if self.lost and self.lost in data:
                    self.lost = b""
                    is_lost.set()
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)

    def _pass_answers(self, program: socket.socket, server: socket.socket, is_lost: threading.Event) -> None:
        with contextlib.suppress(OSError), server.makefile("rb") as answers:
            while kind := answers.read(1):
                length = answers.read(4)
                body = answers.read(int.from_bytes(length, "big") - 4)
                if is_lost.is_set():
                    if kind == _READY:
                        self.is_cut = True
                        break
                elif kind != _NOTIFICATION or not self.keeps_bells:
                    program.sendall(kind + length + body)
        with contextlib.suppress(OSError):
            program.shutdown(socket.SHUT_RDWR)
