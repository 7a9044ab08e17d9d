"""The terminal: its background color, its driver, and a filter for what is written to it.

Textual's writer dies of the first error, and its queue then blocks the program for ever: a closed window would leave a
process behind. Here errors of a terminal that has gone are ignored.
"""

import asyncio
import codecs
import contextlib
import os
import re
import select
import signal
import termios
import time
from collections.abc import Callable, Iterable
from io import TextIOWrapper
from typing import IO, Any, cast

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key
from textual.filter import LineFilter
from textual.message import Message

from memtui.core.lazy_regex import compile_lazily
from memtui.core.unicode import UNSAFE
from memtui.ui.startup import get_query, parse_background
from memtui.ui.textual_private import XTermParser

# Answers of a terminal are taken out of the input for as long as the program runs: one may come late, behind another,
# in pieces, or to a question of a program that ended before. What Textual itself asks for (modes, sizes) is left in.

_TEXT = rb"[^\x07\x1b]{0,65536}"
_STRING = rb"\x1b(?:\][0-9]{1,4};|P(?:>\||[01][+$]r|!\|)|_G)" + _TEXT
"""The start of a string that only a terminal sends: of a color, a clipboard, a version, a capability, a picture."""
_REPORT = rb"\x1b\[[?>=][0-9;:]*"
"""The start of a report: attributes, keyboard, color scheme."""
_ANSWER = compile_lazily(rb"(?:" + _STRING + rb"(?:\x07|\x1b\\)|" + _REPORT + rb"[cnuRSx]|\x1b\[[0-9;]*n)")
_UNFINISHED = compile_lazily(rb"(?:" + _STRING + rb"\x1b?|" + _REPORT + rb"\$?)\Z")
_BEGUN = re.compile(rb"\x1b(?:\][0-9]{0,4}|\[[0-9;]*|P[01>!]?[+$]?|_)\Z")
"""What may be the start of an answer, or a key with Alt."""
_PASTE, _PASTE_END = b"\x1b[200~", b"\x1b[201~"
_BEGUN_SECONDS = 1.0
"""How long a possible start is held; then it is keys."""
_CUT_SECONDS = 0.1
"""How soon the rest follows where what a terminal sends is cut behind its escape; a person is slower."""
_UNFINISHED_SECONDS = 5.0
"""How long an answer may take to end; then its start is dropped."""


class AnswerFilter:
    """Takes the answers of a terminal out of the input, however late, and in whatever pieces, they come."""

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._held = b""
        self._held_at = 0.0
        self._is_pasting = False
        self._ended_with_escape = False
        self._kept_at = 0.0
        self._is_borrowed = False
        """Whether what is held begins with an escape that was handed on as a key already."""

    def feed(self, data: bytes) -> tuple[bytes, list[bytes]]:
        """The input that is none, and the answers."""
        data, self._held = self._held + data, b""
        if self._ended_with_escape and self._continues_escape(b"\x1b" + data):
            data, self._is_borrowed = b"\x1b" + data, True
        whole = data
        kept, answers = b"", []
        while data:
            if self._is_pasting:
                end = data.find(_PASTE_END)
                if end < 0:
                    kept, data = kept + self._hold(data, _find_start(data, _PASTE_END)), b""
                else:
                    end += len(_PASTE_END)
                    kept, data, self._is_pasting = kept + data[:end], data[end:], False
                continue
            start = data.find(_PASTE)
            typed, data = (data, b"") if start < 0 else (data[:start], data[start + len(_PASTE) :])
            answers += _ANSWER.findall(typed)
            typed = _ANSWER.sub(b"", typed)
            if start >= 0:
                kept, self._is_pasting = kept + typed + _PASTE, True
            else:
                begun = _UNFINISHED.search(typed) or _BEGUN.search(typed)
                kept += self._hold(typed, begun.start() if begun is not None else len(typed))
        if self._is_borrowed and self._held != whole:
            self._is_borrowed = False
            if not _ANSWER.match(whole):
                kept = kept.removeprefix(b"\x1b")
        if kept or answers:
            self._ended_with_escape, self._kept_at = kept.endswith(b"\x1b") and not answers, self._now()
        return kept, answers

    def _continues_escape(self, data: bytes) -> bool:
        """Whether an escape that was handed on begins an answer; or, right behind it, perhaps one or a paste."""
        if _ANSWER.match(data) or _UNFINISHED.match(data):
            return True
        return self._now() - self._kept_at < _CUT_SECONDS and bool(data.startswith(_PASTE) or _BEGUN.match(data))

    def tick(self) -> bytes:
        """The input that was held for an answer, and is none."""
        waited = self._now() - self._held_at
        if not self._held or self._is_pasting:
            return b""
        if _UNFINISHED.match(self._held):
            if waited > _UNFINISHED_SECONDS:
                self._held, self._is_borrowed = b"", False
        elif waited > _BEGUN_SECONDS:
            held, self._held = self._held.removeprefix(b"\x1b" if self._is_borrowed else b""), b""
            self._is_borrowed = False
            return held
        return b""

    def _hold(self, data: bytes, at: int) -> bytes:
        """Keep the end of the input from a byte on; returns what is before it."""
        if at < len(data):
            self._held, self._held_at = data[at:], self._now()
        return data[:at]


def _find_start(data: bytes, marker: bytes) -> int:
    """Where the end of the data begins that may be the start of a marker; its length if there is none."""
    lengths = range(min(len(marker) - 1, len(data)), 0, -1)
    return next((len(data) - length for length in lengths if data.endswith(marker[:length])), len(data))


_TICK_SECONDS = 0.1
_TICKS = int(2 * _UNFINISHED_SECONDS / _TICK_SECONDS)
"""For so many ticks after the last input something may be held that is to be let go; then nothing is."""
_LETTING_GO_SECONDS = 2.0
"""How long a write in progress is waited for before memtui is stopped."""
_CHUNK = 4_096
_STUCK_SECONDS = 3.0
"""How long the program may draw on after it was asked to end."""
_LEAVE = b"".join(b"\x1b[?%dl" % mode for mode in (2026, 1000, 1003, 1015, 1006, 2004, 2048))
_LEAVE += b"\x1b[?7h\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l\x1b[m"
"""What takes back the modes of a terminal that Textual sets."""


class BackgroundDetected(Message):
    """The terminal says, later than it was waited for, whether it is light."""

    def __init__(self, light: bool) -> None:
        """Tell it.

        Args:
            light: Whether it is.
        """
        super().__init__()
        self.light = light


class TerminalDriver(LinuxDriver):
    """Textual's driver, over a file that survives the loss of the terminal."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._running_loop: asyncio.AbstractEventLoop | None = None
        self._code = 0
        self._waking: tuple[int, int] | None = None
        """The ends of a pipe on which the input thread waits as well: it need not ask whether it is to end."""
        if self._file is not None:
            self._file = cast("TextIOWrapper[Any]", _HangupSafeFile(self._file))

    def start_application_mode(self) -> None:
        """As Textual does; the attributes to restore are those from before the query."""
        self._waking = os.pipe()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        question = get_query()
        if question is not None and question.attributes is not None:
            self.attrs_before = question.attributes
        self._running_loop = asyncio.get_running_loop()
        signal.signal(signal.SIGALRM, self._end_stuck)

    def disable_input(self) -> None:
        """As Textual does, for a thread that is asleep."""
        waking, self._waking = self._waking, None
        if waking is not None:
            os.write(waking[1], b"x")
        super().disable_input()
        if waking is not None:
            for fd in waking:
                os.close(fd)

    def stop_application_mode(self) -> None:
        """As Textual does; what takes the terminal now, such as an editor, may take as long as it wants."""
        self._running_loop = None
        signal.setitimer(signal.ITIMER_REAL, 0)
        super().stop_application_mode()

    def end_if_stuck(self, code: int) -> None:
        """End the process with this code unless the loop, which was asked to end it, goes on soon.

        A handler of a signal runs between two steps of Python, so it ends what draws without an end.
        """
        if self._running_loop is not None:
            self._code = code
            signal.setitimer(signal.ITIMER_REAL, _STUCK_SECONDS)
            self._running_loop.call_soon_threadsafe(signal.setitimer, signal.ITIMER_REAL, 0)

    def _end_stuck(self, *_: object) -> None:
        """End at once: what was typed is in a draft, and a write that is cut short is finished later."""
        with contextlib.suppress(OSError, termios.error):
            if self.attrs_before is not None:
                termios.tcsetattr(self.fileno, termios.TCSANOW, self.attrs_before)
            if self._file is not None and select.select([], [self._file.fileno()], [], _TICK_SECONDS)[1]:
                os.write(self._file.fileno(), _LEAVE)
        os._exit(self._code)

    def _sigtstp_application(self, *_: object) -> None:
        """Stop, without the lock of the folder: agents go on writing meanwhile."""
        from memtui.fs.locks import suspend_locking  # noqa: PLC0415 - start-up: only for Ctrl+Z

        with suspend_locking(_LETTING_GO_SECONDS):
            super()._sigtstp_application()

    def _sigcont_application(self, *_: object) -> None:
        """Continue after a stop only: a lost terminal sends SIGCONT too, and Textual would start its threads twice."""
        if self._must_signal_resume:
            super()._sigcont_application()

    def run_input_thread(self) -> None:
        """Process the input, first what was typed during start-up, without answers to the query."""
        parser = XTermParser(self._debug)
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        question = get_query()
        answers = AnswerFilter()
        waits_for = [self.fileno] if self._waking is None else [self.fileno, self._waking[0]]
        ticks = _TICKS
        typed = question.hand_over() if question is not None else b""
        if question is not None and question.late_answer is not None:
            self._app.post_message(BackgroundDetected(question.late_answer))
        while True:
            typed, found = answers.feed(typed)
            for light in filter(lambda light: light is not None, map(parse_background, found)):
                self._app.post_message(BackgroundDetected(bool(light)))
            typed += answers.tick()
            self._process(parser.feed(text) if (text := decode(typed)) else ())
            self._process(parser.tick())
            if self.exit_event.is_set():
                break
            typed = b""
            ticks -= 1
            if self.fileno in select.select(waits_for, [], [], _TICK_SECONDS if ticks > 0 else None)[0]:
                ticks = _TICKS
                typed = os.read(self.fileno, _CHUNK)
                if not typed:  # a pipe at its end
                    self.exit_event.wait(_TICK_SECONDS)

    def _process(self, messages: Iterable[Message]) -> None:
        for message in messages:
            if isinstance(message, Key) and message.key == "ctrl+q":
                self.end_if_stuck(0)
            self.process_message(message)


class _HangupSafeFile:
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


# The second wall: a filter over every line on its way to the terminal.
#
# Textual hands control codes from text straight to the terminal: a note could write the clipboard (OSC 52) or
# the window title. `memtui.ui.theme` keeps them out of our own widgets; this gate catches what a dialog, a
# library or a mistake lets through, so that no byte of a note can ever drive the terminal.
#
# `add_line_filter` puts one `TerminalSanitizer()` behind the filters of Textual.

_UNSAFE = re.compile(f"[{UNSAFE}]")


class TerminalSanitizer(LineFilter):
    """Removes control, bidi, invisible and tag characters and terminal hyperlinks from every segment."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same list when nothing was wrong, else a cleaned copy of the same width in cells."""
        del background
        search = _UNSAFE.search
        for text, style, control in segments:
            if control is None and (search(text) or (style is not None and style.link)):
                return [_sanitize_segment(segment) for segment in segments]
        return segments


def _sanitize_segment(segment: Segment) -> Segment:
    if segment.control is not None:
        return segment
    text, style, _ = segment
    if style is not None and style.link:
        style = _strip_link(style)
    if not _UNSAFE.search(text):
        return Segment(text, style)
    width = cell_len(text)
    cleaned = _UNSAFE.sub(lambda match: "?" * cell_len(match.group()), text)
    return Segment(cleaned + " " * (width - cell_len(cleaned)), style)


def _strip_link(style: Style) -> Style:
    """The style without its terminal hyperlink; the meta that Textual needs for the mouse stays."""
    unlinked = style.update_link(None)
    return unlinked + Style.from_meta(style.meta) if style.meta and not unlinked.meta else unlinked
