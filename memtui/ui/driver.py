"""The way to the terminal, for when the terminal goes away.

Textual's writer dies of the first error, and its queue then blocks the program for ever: a window that is closed
would leave a process behind that nobody sees. Nothing that is written to a terminal that has gone is missed.
"""

from io import TextIOWrapper
from typing import IO, Any, cast

from textual.drivers.linux_driver import LinuxDriver


class TerminalDriver(LinuxDriver):
    """Textual's driver, over a file that bears the loss of the terminal."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if self._file is not None:
            self._file = cast("TextIOWrapper[Any]", _Lasting(self._file))


class _Lasting:
    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        try:
            self._file.write(text)
        except OSError:
            return

    def flush(self) -> None:
        try:
            self._file.flush()
        except OSError:
            return

    def fileno(self) -> int:
        return self._file.fileno()
