"""A text that a person writes: in an editor, or line by line here."""

from collections.abc import Callable, Sequence

from memtui.cli.reader import sentences
from memtui.cli.reader.dialog import Prompter, parse_number
from memtui.cli.reader.session import ReaderSession
from memtui.core.diffs import split_lines
from memtui.core.text_format import NotText, parse_text
from memtui.core.wording import format_count

_END = "."
"""A line of just this ends a text, as in mail and ed."""

SaveDraft = Callable[[str], None]
"""Takes the text after each step."""


def compose_text(
    session: ReaderSession, path: str, text: str, *, done: str = "Save", save_draft: SaveDraft = lambda _: None
) -> str | None:
    """Have a person change a text of the note `path`; `None` if it is left. `done` names the choice that ends it;
    `save_draft` is called after each step.
    """
    from memtui.editing.external_editor import EditorUnavailable, parse_editor_command  # noqa: PLC0415 - start-up: only to write

    dialog = session.dialog
    try:
        command = parse_editor_command(session.config.editor.command)
    except EditorUnavailable as error:
        if session.config.editor.command:
            dialog.say(str(error))
        return _LineEditor(dialog, text, done, save_draft).edit()
    choices = [(f"In your editor, {command[0]}", "editor"), ("Line by line here", "lines")]
    how = dialog.choose(f"How do you want to write {path}?", choices, known=False)
    if how == "lines":
        return _LineEditor(dialog, text, done, save_draft).edit()
    return None if how is None else _edit_in_editor(dialog, command, path, text, save_draft)


def _edit_in_editor(
    dialog: Prompter, command: Sequence[str], path: str, text: str, save_draft: SaveDraft
) -> str | None:
    """Hand a private copy to the editor; a text that cannot be used is kept as a draft."""
    from memtui.editing.external_editor import EditorUnavailable, edit_copy  # noqa: PLC0415 - start-up: only to write

    def keep(data: bytes) -> None:
        save_draft(data.decode("utf-8", "surrogateescape").replace("\r\n", "\n"))

    data = text.encode("utf-8", "surrogateescape")
    try:
        data = edit_copy(command, data, name=path.rpartition("/")[2], aside=dialog.suspend())
        return parse_text(data).text
    except EditorUnavailable as error:
        dialog.say(str(error))
        if error.left is not None:
            keep(error.left)
            dialog.say("What it had saved is kept as a draft: Edit offers it.")
    except NotText as error:
        keep(data)
        dialog.say(f"Not saved. {error} What the editor left is kept as a draft.")
    return None


class _LineEditor:
    """A text that is changed line by line; each step is said, and can be undone."""

    def __init__(self, dialog: Prompter, text: str, done: str, save_draft: SaveDraft) -> None:
        self._dialog = dialog
        self._original = text
        self._lines = split_lines(text)
        self._done = done
        self._save_draft = save_draft
        self._undo_stack: list[list[str]] = []

    @property
    def _text(self) -> str:
        return "".join(self._lines)

    def edit(self) -> str | None:
        """Go on until the person is done, or leaves."""
        if not self._lines:
            self._dialog.say("It is empty.")
            self._insert_lines(0)
        steps: list[tuple[str, Callable[[], None] | str]] = [
            (self._done, "done"),
            ("Hear it", self._read_out),
            ("What I changed", self._read_out_changes),
            ("Write lines at the end", lambda: self._insert_lines(len(self._lines))),
            ("Write lines before a line", self._insert_before),
            ("Change a line", self._change_line),
            ("Delete lines", self._delete_lines),
            ("Take the last step back", self._undo_step),
            ("Leave", "leave"),
        ]
        while True:
            step = self._dialog.choose(f"{format_count(len(self._lines), 'line')}.", steps, enter="Enter for leaving")
            if step == "done":
                return self._text
            if step is not None and not isinstance(step, str):
                step()
            elif self._text == self._original or self._dialog.confirm("Leave it? It is not saved; a draft is kept."):
                return None

    def _read_out(self) -> None:
        self._dialog.read_out([line.removesuffix("\n") for line in self._lines], numbered=True)

    def _read_out_changes(self) -> None:
        changes = sentences.describe_line_differences(self._original, self._text)
        self._dialog.read_out(changes or ["You changed nothing yet."])

    def _insert_before(self) -> None:
        number = self._ask_line_number("Before which line:")
        if number is not None:
            self._insert_lines(number - 1)

    def _insert_lines(self, at: int) -> None:
        """Ask for lines, and insert each at once."""
        self._dialog.say("Write your lines. A dot alone on a line ends it.")
        is_first = True
        while (line := self._dialog.ask(f"{at + 1}:")) != _END:
            if is_first:
                self._begin_step()
                is_first = False
            if at and not self._lines[at - 1].endswith("\n"):
                self._lines[at - 1] += "\n"
            self._lines.insert(at, line + "\n")
            at += 1
            self._save_draft(self._text)

    def _change_line(self) -> None:
        number = self._ask_line_number("Which line:")
        if number is None:
            return
        old = self._lines[number - 1]
        self._dialog.say(f"Line {number} is: {old.removesuffix(chr(10))}")
        new = self._dialog.ask("It becomes, Enter leaves it as it is:")
        if new:
            self._begin_step()
            self._lines[number - 1] = new + ("\n" if old.endswith("\n") else "")
            self._save_draft(self._text)

    def _delete_lines(self) -> None:
        first = self._ask_line_number("From which line:")
        last = self._ask_line_number("To which line, itself included:") if first is not None else None
        if first is None or last is None:
            return
        if last < first:
            self._dialog.say(f"{last} is before {first}. Nothing was deleted.")
            return
        self._begin_step()
        del self._lines[first - 1 : last]
        self._save_draft(self._text)
        self._dialog.say(f"{format_count(last - first + 1, 'line')} deleted.")

    def _undo_step(self) -> None:
        if not self._undo_stack:
            self._dialog.say("There is no step to take back.")
            return
        self._lines = self._undo_stack.pop()
        self._save_draft(self._text)
        self._dialog.say("The last step is taken back.")

    def _begin_step(self) -> None:
        self._undo_stack.append(list(self._lines))

    def _ask_line_number(self, question: str) -> int | None:
        if not self._lines:
            self._dialog.say("There are no lines.")
            return None
        answer = self._dialog.ask(question).strip()
        number = parse_number(answer, len(self._lines))
        if number is None and answer:
            self._dialog.say(f"There is no line {answer}: it has {format_count(len(self._lines), 'line')}.")
        return number
