"""A text that a person writes: in her own editor, or line by line here.

Whatever she has typed is kept by the caller after each step, so that a terminal that is closed costs no word.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memtui.cli.reader import differences
from memtui.cli.reader.dialog import Choice, Dialog
from memtui.cli.reader.sentences import counted
from memtui.core.diffs import lines_of
from memtui.core.shape import NotText, shaped

if TYPE_CHECKING:
    from memtui.cli.reader.session import Session

_END = "."
"""A line of just this ends what is being written, as in mail and ed."""

Keep = Callable[[str], None]
"""Takes the text after each step."""


def composed(
    session: "Session", path: str, text: str, *, done: str = "Save", keep: Keep = lambda _: None
) -> str | None:
    """What a person makes of a text.

    Args:
        session: Where she is asked.
        path: What it is for, relative to the folder.
        text: What to begin with; its lines end in a line feed.
        done: What the choice is called by which she is done.
        keep: Told the text after each step.

    Returns:
        The text; `None` if she leaves it.
    """
    from memtui.ui.own_editor import NoEditor, command_in  # deferred: only where somebody writes

    dialog = session.dialog
    try:
        command = command_in(session.config.editor.command)
    except NoEditor as error:
        if session.config.editor.command:
            dialog.say(str(error))
        return _Lines(dialog, text, done, keep).edited()
    how = dialog.choose(
        f"How do you want to write {path}?",
        [Choice(f"In your editor, {command[0]}", "editor"), Choice("Line by line here", "lines")],
    )
    if how == "lines":
        return _Lines(dialog, text, done, keep).edited()
    return None if how is None else _in_editor(dialog, command, path, text, keep)


def _in_editor(dialog: Dialog, command: Sequence[str], path: str, text: str, keep: Keep) -> str | None:
    """Hand a private copy to the editor."""
    from memtui.ui.own_editor import NoEditor, edited_copy  # deferred, as above

    data = text.encode("utf-8", "surrogateescape")
    try:
        left = edited_copy(command, data, name=path.rpartition("/")[2], aside=dialog.silent())
    except NoEditor as error:
        dialog.say(str(error))
        if error.left is not None:
            keep(error.left.decode("utf-8", "surrogateescape").replace("\r\n", "\n"))
            dialog.say("What it had saved is kept as a draft: Edit offers it.")
        return None
    try:
        return shaped(left).text
    except NotText as error:
        keep(left.decode("utf-8", "surrogateescape").replace("\r\n", "\n"))
        dialog.say(f"Not saved. {error} What the editor left is kept as a draft.")
        return None


class _Lines:
    """A text that is changed line by line, each step said."""

    def __init__(self, dialog: Dialog, text: str, done: str, keep: Keep) -> None:
        self._dialog = dialog
        self._begun = text
        self._lines = lines_of(text)
        self._done = done
        self._keep = keep
        self._before: list[list[str]] = []

    @property
    def _text(self) -> str:
        return "".join(self._lines)

    def edited(self) -> str | None:
        """Go on until the person is done, or leaves."""
        if not self._lines:
            self._dialog.say("It is empty.")
            self._write(0)
        steps = {
            "hear": self._hear,
            "changes": self._hear_changes,
            "end": lambda: self._write(len(self._lines)),
            "before": self._write_before,
            "change": self._change,
            "delete": self._delete,
            "back": self._take_back,
        }
        while True:
            chosen = self._dialog.choose(
                f"{counted(len(self._lines), 'line')}.",
                [
                    Choice(self._done, "done"),
                    Choice("Hear it", "hear"),
                    Choice("What I changed", "changes"),
                    Choice("Write lines at the end", "end"),
                    Choice("Write lines before a line", "before"),
                    Choice("Change a line", "change"),
                    Choice("Delete lines", "delete"),
                    Choice("Take the last step back", "back"),
                    Choice("Leave", "leave"),
                ],
                known=True,
                enter="Enter for leaving",
            )
            if chosen == "done":
                return self._text
            if chosen in (None, "leave"):
                if self._text == self._begun or self._dialog.is_sure("Leave it? It is not saved; a draft is kept."):
                    return None
                continue
            steps[str(chosen)]()

    def _hear(self) -> None:
        self._dialog.read_out([line.removesuffix("\n") for line in self._lines], numbered=True)

    def _hear_changes(self) -> None:
        """What is to be written, before it is."""
        told = differences.lines_between(self._begun, self._text)
        self._dialog.read_out(told or ["You changed nothing yet."])

    def _write_before(self) -> None:
        number = self._line("Before which line:")
        if number is not None:
            self._write(number - 1)

    def _write(self, at: int) -> None:
        """Take lines from the person, each one at its place as soon as it is there."""
        self._dialog.say("Write your lines. A dot alone on a line ends it.")
        is_first = True
        while (line := self._dialog.ask(f"{at + 1}:")) != _END:
            if is_first:
                self._remember()
                is_first = False
            if at and not self._lines[at - 1].endswith("\n"):
                self._lines[at - 1] += "\n"
            self._lines.insert(at, line + "\n")
            at += 1
            self._keep(self._text)

    def _change(self) -> None:
        number = self._line("Which line:")
        if number is None:
            return
        old = self._lines[number - 1]
        self._dialog.say(f"Line {number} is: {old.removesuffix(chr(10))}")
        new = self._dialog.ask("It becomes, Enter leaves it as it is:")
        if new:
            self._remember()
            self._lines[number - 1] = new + ("\n" if old.endswith("\n") else "")
            self._keep(self._text)

    def _delete(self) -> None:
        first = self._line("From which line:")
        last = self._line("To which line, itself included:") if first is not None else None
        if first is None or last is None:
            return
        if last < first:
            self._dialog.say(f"{last} is before {first}. Nothing was deleted.")
            return
        self._remember()
        del self._lines[first - 1 : last]
        self._keep(self._text)
        self._dialog.say(f"{counted(last - first + 1, 'line')} deleted.")

    def _take_back(self) -> None:
        if not self._before:
            self._dialog.say("There is no step to take back.")
            return
        self._lines = self._before.pop()
        self._keep(self._text)
        self._dialog.say("The last step is taken back.")

    def _remember(self) -> None:
        self._before.append(list(self._lines))

    def _line(self, question: str) -> int | None:
        """A line's number, as the person says it."""
        if not self._lines:
            self._dialog.say("There are no lines.")
            return None
        answer = self._dialog.ask(question).strip()
        if answer.isascii() and answer.isdecimal() and len(answer) < 10 and 1 <= int(answer) <= len(self._lines):
            return int(answer)
        if answer:
            self._dialog.say(f"There is no line {answer}: it has {counted(len(self._lines), 'line')}.")
        return None
