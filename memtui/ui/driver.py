"""The way to the terminal, for when the terminal goes away, and for what was typed before it was ours.

Textual's writer dies of the first error, and its queue then blocks the program for ever: a window that is closed
would leave a process behind that nobody sees. Nothing that is written to a terminal that has gone is missed.
"""

import codecs
import os
import select
from collections.abc import Iterable
from io import TextIOWrapper
from typing import IO, Any, cast

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from memtui.ui import background

_TICK_SECONDS = 0.1
_LETTING_GO_SECONDS = 2.0
"""How long a change that is being written is waited for before memtui is stopped."""
_CHUNK = 4_096


class BackgroundTold(Message):
    """The terminal says, later than it was waited for, whether it is light."""

    def __init__(self, light: bool) -> None:
        """Tell it.

        Args:
            light: Whether it is.
        """
        super().__init__()
        self.light = light


class TerminalDriver(LinuxDriver):
    """Textual's driver, over a file that bears the loss of the terminal."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if self._file is not None:
            self._file = cast("TextIOWrapper[Any]", _Lasting(self._file))

    def start_application_mode(self) -> None:
        """As Textual does; at the end the terminal is to be as it was before it was asked anything."""
        super().start_application_mode()  # type: ignore[no-untyped-call]
        question = background.asked()
        if question is not None and question.attributes is not None:
            self.attrs_before = question.attributes

    def _sigtstp_application(self, *_: object) -> None:
        """Stop, without the lock of the folder: agents go on writing meanwhile."""
        from memtui.store.locks import none_held  # deferred: not needed for the first paint

        with none_held(_LETTING_GO_SECONDS):
            super()._sigtstp_application()

    def _sigcont_application(self, *_: object) -> None:
        """Go on after having been stopped. A terminal that is lost wakes whoever runs in it as well (SIGHUP, SIGCONT):
        Textual would begin a second time, and its first two threads would never end."""
        if self._must_signal_resume:
            super()._sigcont_application()

    def run_input_thread(self) -> None:
        """Hand on what is typed: first what was typed while memtui was being loaded. Answers to us are left out."""
        parser = XTermParser(self._debug)
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        question = background.asked()
        typed = question.handed_on() if question is not None else b""
        was_told = question is None or question.is_light() is not None
        while True:
            self._process(parser.feed(text) if (text := decode(typed)) else ())
            self._process(parser.tick())
            if self.exit_event.is_set():
                break
            typed = b""
            if select.select([self.fileno], [], [], _TICK_SECONDS)[0]:
                typed = os.read(self.fileno, _CHUNK)
                if not typed:  # a pipe at its end
                    self.exit_event.wait(_TICK_SECONDS)
                elif question is not None:
                    typed = question.without_answers(typed)
                    if not was_told and (light := question.is_light()) is not None:
                        was_told = True
                        self._app.post_message(BackgroundTold(light))

    def _process(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)


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
