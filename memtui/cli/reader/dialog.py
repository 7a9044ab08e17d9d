"""Saying sentences and asking for lines, one after the other: all that this mode does with a terminal.

A line is read as the terminal has it, so that what is typed is heard as everywhere, and nothing is ever drawn over.
Ctrl+C is taken only while a person is waited for or spoken to, never in the midst of a change.
"""

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Generic, TypeVar

from memtui.cli import output
from memtui.core.visible import one_line, visible

T = TypeVar("T")

PAGE = 20
"""Choices, or lines of a text, that are told at a time."""
BACK, QUIT, AGAIN = "b", "q", "?"
_CUT = 4_095
"""Bytes of a line of which a terminal keeps no more than these."""


class Quit(Exception):
    """The person has had enough, or there is no more input."""


@dataclass(frozen=True, slots=True)
class Choice(Generic[T]):
    """Something that can be chosen.

    Attributes:
        words: What it is.
        value: What it stands for.
    """

    words: str
    value: T


class Dialog:
    """One person, heard and spoken to.

    Args:
        fd: Where lines come from.
        notices: What is to be said before anything else is asked: what happened meanwhile.
    """

    def __init__(self, fd: int = 0, *, notices: Callable[[], Iterable[str]] = tuple) -> None:
        self._fd = fd
        self._notices = notices
        self._is_terminal = os.isatty(fd)
        self._typed = b""
        self._has_ended = False
        self._is_listening = False
        self._is_interrupted = False
        self._heard: set[int] = set()
        self._ear, self._mouth = os.pipe()
        os.set_blocking(self._ear, False)
        os.set_blocking(self._mouth, False)

    @contextmanager
    def open(self) -> Iterator[None]:
        """Take Ctrl+C meanwhile, and let go of everything afterwards."""
        is_main = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, self._interrupt) if is_main else None
        try:
            yield
        finally:
            if is_main:
                signal.signal(signal.SIGINT, before)
            os.close(self._ear)
            os.close(self._mouth)

    def wake(self) -> None:
        """Something happened: whoever listens hears of it. From any thread."""
        with suppress(OSError):  # it rings already, or nobody listens any more
            os.write(self._mouth, b"\0")

    # Speaking

    def say(self, *sentences: str) -> None:
        """Say sentences, each on a line of its own; what is in them from outside may be hostile."""
        for sentence in sentences:
            self.heed()
            output.line(one_line(sentence))

    def read_out(self, lines: Sequence[str], *, start: int = 1, numbered: bool = False) -> None:
        """Read out a text, some lines at a time.

        Args:
            lines: From outside; without their ends.
            start: The line to begin with, from 1.
            numbered: Whether each line is told with its number.
        """
        at = max(0, min(start, len(lines)) - 1)
        while True:
            for number, line in islice(enumerate(lines, 1), at, at + PAGE):
                self.heed()
                shown = visible(line, newline="\\n")
                output.line(f"{number}: {shown}" if numbered else shown)
            at += PAGE
            if at >= len(lines):
                return
            answer = self.ask(f"Line {at:,} of {len(lines):,}. Enter for more, a line's number, or b for back:").strip()
            while answer not in ("", BACK, QUIT):
                if (line_wanted := _number(answer, len(lines))) is not None:
                    at = line_wanted - 1
                    break
                answer = self.ask(f"There is no line {answer}. Enter for more, b for back:").strip()
            if answer == QUIT:
                raise Quit
            if answer == BACK:
                return

    # Listening

    def ask(self, prompt: str, *, heed: bool = False) -> str:
        """Ask for a line.

        Args:
            prompt: What is asked.
            heed: Whether what happens meanwhile is said at once.

        Raises:
            Quit: There is no more input.
            KeyboardInterrupt: The person wants out of this.
        """
        self._tell_notices()
        self._prompt(prompt)
        while (line := self._line()) is None:
            self._listen(None)
            if heed and not self._typed and not self._has_ended and (notices := list(self._notices())):
                output.line("")
                self.say(*notices)
                self._prompt(prompt)
        if not self._is_terminal:
            output.line("")  # which the terminal has written else
        return line

    def is_sure(self, question: str) -> bool:
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
        choices: Sequence[Choice[T]],
        *,
        others: Mapping[str, Choice[T]] | None = None,
        known: bool = False,
        enter: str = "Enter for back",
        heed: bool = False,
    ) -> T | None:
        """Have something chosen by its number.

        Args:
            title: What is chosen, as a sentence; empty for nothing to be said.
            choices: What there is.
            others: What can be chosen by a letter besides.
            known: Whether choices are not told again that were told before.
            enter: What Enter alone does.
            heed: See `ask`.

        Returns:
            What was chosen; `None` to go back.

        Raises:
            Quit: The person wants to end, or there is no more input.
        """
        others = others or {}
        words = hash(tuple(choice.words for choice in choices))
        is_told = not (known and words in self._heard)
        self._heard.add(words)
        at = self._tell_choices(title, choices, 0 if is_told else len(choices))
        while True:
            has_more = at < len(choices)
            parts = ["Number"] if choices else []
            parts += [] if is_told else ["? for the choices"]
            parts += ["Enter for more", "b for back"] if has_more else [enter] if enter else []
            parts += [f"{letter} {choice.words}" for letter, choice in others.items()]
            answer = self.ask(f"{', '.join(parts)}:", heed=heed).strip()
            is_told = True
            lower = answer.casefold()
            if not answer and has_more:
                at = self._tell_choices("", choices, at)
            elif not answer or lower == BACK:
                return None
            elif lower == QUIT:
                raise Quit
            elif answer == AGAIN:
                at = self._tell_choices(title, choices, 0)
            elif lower in others:
                return others[lower].value
            elif (chosen := _number(answer, len(choices))) is not None:
                return choices[chosen - 1].value
            elif len(found := _beginning(lower, choices)) == 1:
                return found[0].value
            else:
                self.say(_unknown(answer, choices, found))

    def numbers(self, question: str, count: int) -> list[int] | None:
        """Ask for several numbers, such as `1, 3, 5-7`.

        Args:
            question: What is asked.
            count: The highest there is; the lowest is 1.

        Returns:
            Each once, in order; `None` if there are none, which is said unless nothing was typed.
        """
        answer = self.ask(f"{question} such as 1, 3, 5-7:").strip()
        if not answer:
            return None
        found: set[int] = set()
        for part in answer.replace(",", " ").split():
            first, dash, last = part.partition("-")
            start, end = _number(first, count), _number(last if dash else first, count)
            if start is None or end is None or end < start:
                self.say(f"There is no {part} here: numbers go from 1 to {count:,}.")
                return None
            found.update(range(start, end + 1))
        return sorted(found)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until a line is there, or something happens; tells whether a line is there, or no more will come."""
        self._listen(seconds)
        return b"\n" in self._typed or self._has_ended

    def take_line(self) -> None:
        """Take the line that is there, whatever it says.

        Raises:
            Quit: There is no more input.
        """
        self._line()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Meanwhile another program has the terminal."""
        output.flush()
        try:
            yield
        finally:
            self._is_interrupted = False  # it was meant for that program

    @property
    def is_interrupted(self) -> bool:
        """Whether the person wants out of what goes on; whatever takes long asks this now and then."""
        return self._is_interrupted

    # How

    def _tell_notices(self) -> None:
        self.say(*self._notices())

    def _prompt(self, prompt: str) -> None:
        self.heed()
        output.prompt(one_line(prompt) + " ")

    def _tell_choices(self, title: str, choices: Sequence[Choice[T]], at: int) -> int:
        if title:
            self.say(title)
        for number, choice in islice(enumerate(choices, 1), at, at + PAGE):
            self.say(f"{number}. {choice.words}")
        at += PAGE
        if at < len(choices):
            self.say(f"{len(choices) - at:,} more.")
        return at

    def _line(self) -> str | None:
        """A line that was typed; `None` if there is none yet.

        Raises:
            Quit: There is no more input.
        """
        line, end, rest = self._typed.partition(b"\n")
        if not end and not self._has_ended:
            return None
        if not end and not line:
            output.line("")
            raise Quit
        self._typed = rest
        if self._is_terminal and len(line) >= _CUT:
            self.say("The terminal cut that line at 4,095 bytes. Longer ones can be written in your own editor.")
        return line.removesuffix(b"\r").decode("utf-8", "surrogateescape")

    def _listen(self, seconds: float | None) -> None:
        """Wait until something was typed, or something happened."""
        if self._has_ended or b"\n" in self._typed:
            return
        self._is_listening = True
        try:
            self.heed()
            ready, _, _ = select.select([self._fd, self._ear], [], [], seconds)
        finally:
            self._is_listening = False
        if self._ear in ready:
            os.read(self._ear, 4_096)
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
        self._is_interrupted = True

    def heed(self) -> None:
        """Let Ctrl+C through that was pressed meanwhile.

        Raises:
            KeyboardInterrupt: It was.
        """
        if self._is_interrupted:
            self._is_interrupted = False
            raise KeyboardInterrupt


def is_open(fd: int) -> bool:
    """Whether there is anything to listen to."""
    try:
        os.fstat(fd)
    except OSError:
        return False
    return fd != 0 or sys.stdin is not None


def _number(answer: str, count: int) -> int | None:
    """The number that was typed, if there is one of it."""
    answer = answer.strip().removesuffix(".")
    if not (answer.isascii() and answer.isdecimal() and len(answer) < 10):
        return None
    number = int(answer)
    return number if 1 <= number <= count else None


def _beginning(words: str, choices: Sequence[Choice[T]]) -> list[Choice[T]]:
    """The choices that begin so; one that is called just so is meant alone."""
    exact = [each for each in choices if each.words.casefold() == words]
    if len(exact) == 1:
        return exact
    return [each for each in choices if each.words.casefold().startswith(words)] if len(words) > 1 else []


def _unknown(answer: str, choices: Sequence[Choice[T]], found: Sequence[Choice[T]]) -> str:
    if len(found) > 1:
        return f"{len(found):,} begin with {answer}. Type more of it, or a number."
    if not choices:
        return f"There is no {answer} here. Enter goes back, ? says it again, q quits."
    numbers = "1" if len(choices) == 1 else f"1 to {len(choices):,}"
    return f"There is no {answer} here. Type {numbers}; ? says it again, q quits."
