"""Saying sentences and asking for lines, one after the other: all that this mode does with a terminal.

A line is read as the terminal has it, so that what is typed is heard as everywhere, and nothing is ever drawn over.
Ctrl+C is taken only while a person is waited for or spoken to, never in the midst of a change.
"""

import os
import select
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from types import FrameType
from typing import TypeVar

from memtui.cli import output
from memtui.core.unicode import to_one_line, visible

T = TypeVar("T")

PAGE = 20
"""Choices, or lines of a text, that are said at a time."""
BACK, QUIT, AGAIN = "b", "q", "?"
_CUT = 4_095
"""Bytes of a line of which a terminal keeps no more than these."""


class Quit(Exception):
    """The person ends the session, or there is no more input."""


class Prompter:
    """Says sentences and reads lines. `is_interrupted` is set by Ctrl+C during work; long work asks it now and then."""

    def __init__(self, fd: int = 0) -> None:
        self.is_interrupted = False
        self._fd = fd
        self._notices: deque[str] = deque()
        self._is_terminal = os.isatty(fd)
        self._typed = b""
        self._has_ended = False
        self._is_listening = False
        self._heard: set[int] = set()
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_reader, False)
        os.set_blocking(self._wake_writer, False)

    @contextmanager
    def open(self) -> Iterator[None]:
        """Handle Ctrl+C meanwhile, and release everything afterwards."""
        is_main = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, self._interrupt) if is_main else None
        try:
            yield
        finally:
            if is_main:
                signal.signal(signal.SIGINT, before)
            os.close(self._wake_reader)
            os.close(self._wake_writer)

    def wake(self) -> None:
        """Interrupt a wait for input, from any thread."""
        with suppress(OSError):  # it rings already, or nobody listens any more
            os.write(self._wake_writer, b"\0")

    def notify(self, sentence: str) -> None:
        """Have a sentence said before the next question, from any thread."""
        self._notices.append(sentence)
        self.wake()

    # Speaking

    def say(self, *sentences: str) -> None:
        """Say sentences, each on a line of its own; text in them from outside may be hostile."""
        for sentence in sentences:
            self.raise_pending_interrupt()
            output.print_line(to_one_line(sentence))

    def say_notices(self) -> None:
        """Say the pending notices."""
        while self._notices:
            self.say(self._notices.popleft())

    def read_out(self, lines: Sequence[str], *, start: int = 1, numbered: bool = False) -> None:
        """Read out the lines of a text from outside, a page at a time, from line `start` on."""
        at = max(0, min(start, len(lines)) - 1)
        while True:
            for number, line in islice(enumerate(lines, 1), at, at + PAGE):
                self.raise_pending_interrupt()
                shown = visible(line, newline="\\n")
                output.print_line(f"{number}: {shown}" if numbered else shown)
            at += PAGE
            if at >= len(lines):
                return
            answer = self.ask(f"Line {at:,} of {len(lines):,}. Enter for more, a line's number, or b for back:").strip()
            while answer not in ("", BACK, QUIT):
                if (number_typed := parse_number(answer, len(lines))) is not None:
                    at = number_typed - 1
                    break
                answer = self.ask(f"There is no line {answer}. Enter for more, b for back:").strip()
            if answer == QUIT:
                raise Quit
            if answer == BACK:
                return

    # Listening

    def ask(self, prompt: str, *, with_notices: bool = False) -> str:
        """Ask for a line; with `with_notices`, notices are said as they come. Raises `Quit` at the end of input."""
        self.say_notices()
        self._print_prompt(prompt)
        while (line := self._pop_line()) is None:
            self._listen(None)
            if with_notices and not self._typed and not self._has_ended and self._notices:
                output.print_line("")
                self.say_notices()
                self._print_prompt(prompt)
        if not self._is_terminal:
            output.print_line("")  # which the terminal has written else
        return line

    def confirm(self, question: str) -> bool:
        """Ask whether to do something; anything but a clear yes is a no."""
        while True:
            answer = self.ask(f"{question} y or n:").strip().casefold()
            if answer in ("y", "yes"):
                return True
            if answer in ("n", "no", "", BACK):
                return False
            self.say("Please answer y for yes or n for no.")

    def choose(
        self,
        title: str,
        choices: Sequence[tuple[str, T]],
        *,
        others: Mapping[str, tuple[str, T]] | None = None,
        known: bool = True,
        enter: str = "Enter for back",
        with_notices: bool = False,
    ) -> T | None:
        """Have a value chosen by its number, the beginning of its words, or a letter of `others`; `None` to go back.
        Choices that are `known` are not said again; `enter` names the effect of Enter alone.
        """
        others = others or {}
        words = hash(tuple(label for label, _ in choices))
        is_said = not (known and words in self._heard)
        self._heard.add(words)
        at = self._say_choices(title, choices, 0 if is_said else len(choices))
        while True:
            has_more = at < len(choices)
            parts = ["Number"] if choices else []
            parts += [] if is_said else ["? for the choices"]
            parts += ["Enter for more", "b for back"] if has_more else [enter] if enter else []
            parts += [f"{letter} {label}" for letter, (label, _) in others.items()]
            answer = self.ask(f"{', '.join(parts)}:", with_notices=with_notices).strip()
            is_said = True
            lower = answer.casefold()
            if not answer and has_more:
                at = self._say_choices("", choices, at)
            elif not answer or lower == BACK:
                return None
            elif lower == QUIT:
                raise Quit
            elif answer == AGAIN:
                at = self._say_choices(title, choices, 0)
            elif lower in others:
                return others[lower][1]
            elif (number := parse_number(answer, len(choices))) is not None:
                return choices[number - 1][1]
            elif len(matches := _match_prefix(lower, choices)) == 1:
                return matches[0][1]
            else:
                self.say(_explain_unknown(answer, len(choices), len(matches)))

    def browse(
        self,
        list_choices: Callable[[], tuple[str, Sequence[tuple[str, T]]]],
        *,
        empty: str,
        others: Mapping[str, tuple[str, T]] | None = None,
    ) -> Iterator[T]:
        """Have one after the other chosen from the choices as they are by then, until the person goes back or they are
        `empty`.
        """
        known = False
        while True:
            title, choices = list_choices()
            if not choices:
                self.say(empty)
                return
            chosen = self.choose(title, choices, others=others, known=known)
            if chosen is None:
                return
            yield chosen
            known = True

    def perform(self, title: str, actions: Mapping[str, Callable[[], object]]) -> None:
        """Perform chosen actions, until the person goes back or one of them returns `True`."""
        while (action := self.choose(title, list(actions.items()))) is not None:
            if action() is True:
                return

    def ask_numbers(self, question: str, count: int) -> list[int]:
        """Ask for several numbers from 1 to a count, such as `1, 3, 5-7`; each once, in order."""
        found: set[int] = set()
        for part in self.ask(f"{question} such as 1, 3, 5-7:").replace(",", " ").split():
            first, dash, last = part.partition("-")
            start, end = parse_number(first, count), parse_number(last if dash else first, count)
            if start is None or end is None or end < start:
                self.say(f"There is no {part} here: numbers go from 1 to {count:,}.")
                return []
            found.update(range(start, end + 1))
        return sorted(found)

    def skip_line(self, seconds: float) -> bool:
        """Wait for a line, and drop it; tells whether there was one. Raises `Quit` at the end of input."""
        self._listen(seconds)
        return self._pop_line() is not None

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Meanwhile another program has the terminal."""
        output.flush()
        try:
            yield
        finally:
            self.is_interrupted = False  # it was meant for that program

    def raise_pending_interrupt(self) -> None:
        """Raise the `KeyboardInterrupt` of a Ctrl+C that was pressed meanwhile."""
        if self.is_interrupted:
            self.is_interrupted = False
            raise KeyboardInterrupt

    def _print_prompt(self, prompt: str) -> None:
        self.raise_pending_interrupt()
        output.print_prompt(to_one_line(prompt) + " ")

    def _say_choices(self, title: str, choices: Sequence[tuple[str, T]], at: int) -> int:
        if title:
            self.say(title)
        for number, (label, _) in islice(enumerate(choices, 1), at, at + PAGE):
            self.say(f"{number}. {label}")
        at += PAGE
        if at < len(choices):
            self.say(f"{len(choices) - at:,} more.")
        return at

    def _pop_line(self) -> str | None:
        """The next line typed; `None` if there is none yet."""
        line, end, rest = self._typed.partition(b"\n")
        if not end and not self._has_ended:
            return None
        if not end and not line:
            output.print_line("")
            raise Quit
        self._typed = rest
        if self._is_terminal and len(line) >= _CUT:
            self.say("The terminal cut that line at 4,095 bytes. Longer ones can be written in your own editor.")
        return line.removesuffix(b"\r").decode("utf-8", "surrogateescape")

    def _listen(self, seconds: float | None) -> None:
        """Wait until something was typed, or `wake` was called."""
        if self._has_ended or b"\n" in self._typed:
            return
        self._is_listening = True
        try:
            self.raise_pending_interrupt()
            ready, _, _ = select.select([self._fd, self._wake_reader], [], [], seconds)
        finally:
            self._is_listening = False
        if self._wake_reader in ready:
            os.read(self._wake_reader, 4_096)
        if self._fd in ready:
            try:
                typed = os.read(self._fd, 65_536)
            except OSError:  # the terminal is gone
                typed = b""
            self._typed += typed
            self._has_ended = not typed

    def _interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        if self._is_listening:
            raise KeyboardInterrupt
        self.is_interrupted = True


def is_open(fd: int) -> bool:
    """Whether there is anything to listen to."""
    try:
        os.fstat(fd)
    except OSError:
        return False
    return fd != 0 or sys.stdin is not None


def parse_number(answer: str, count: int) -> int | None:
    """The number that was typed, from 1 to a count."""
    answer = answer.strip().removesuffix(".")
    if not (answer.isascii() and answer.isdecimal() and len(answer) < 10):
        return None
    return int(answer) if 1 <= int(answer) <= count else None


def _match_prefix(words: str, choices: Sequence[tuple[str, T]]) -> list[tuple[str, T]]:
    """The choices that begin so; a full match counts alone."""
    exact = [each for each in choices if each[0].casefold() == words]
    if len(exact) == 1:
        return exact
    return [each for each in choices if each[0].casefold().startswith(words)] if len(words) > 1 else []


def _explain_unknown(answer: str, count: int, matches: int) -> str:
    if matches > 1:
        return f"{matches:,} begin with {answer}. Type more, or a number."
    if not count:
        return f"There is no {answer} here. Enter goes back, ? repeats, q quits."
    return f"There is no {answer} here. Type {'1' if count == 1 else f'1 to {count:,}'}; ? repeats, q quits."
