"""Writing notes: a text is composed in an editor or line by line, and saved by the flows of `memtui.flows.edit`.

A draft is saved after each step, so that a terminal that is closed loses no word.
"""

from collections.abc import Callable, Sequence
from datetime import date

from memtui.cli.reader import sentences
from memtui.cli.reader.dialog import Prompter, parse_number
from memtui.cli.reader.session import PHRASES, ReaderDialog, ReaderSession
from memtui.core.diffs import split_lines
from memtui.core.errors import MemtuiError, Refusal
from memtui.core.merge import MergeHunk, MergeSide
from memtui.core.paths import MemoryPath, parse_path
from memtui.core.text_format import NotText, parse_text
from memtui.core.wording import format_count
from memtui.editing import templates
from memtui.editing.conflict import ConflictChoice, ConflictPrompt, DecidePlaces, MergeTexts
from memtui.editing.drafts import DraftNotSaved, EditDraft
from memtui.editing.save import EditBase, NoteSaver, find_draft_base, prepare_note
from memtui.flows.dialog import run_flow
from memtui.flows.edit import offer_draft, save
from memtui.flows.files import make_directory


def edit_note(session: ReaderSession, path: str, *, new_text: str | None = None) -> None:
    """Edit a note, or write a new one that begins with `new_text`."""
    if not session.check_writable("Not edited"):
        return
    opened = NoteSaver(session.engine, path).open()
    note = prepare_note(opened)
    if note.problem and not note.is_too_large:  # large ones go to the person's own editor
        session.dialog.say(opened.problem or f"It is read-only here. {note.problem}")
        return
    drafts = session.drafts
    if drafts.find_elsewhere(path):
        session.dialog.say("It is also being edited in another memtui.")
    text = new_text if opened.data is None and new_text is not None else note.base.text
    dialog = ReaderEditDialog(session, note.base, text)
    for draft in drafts.find(path, former=opened.former, now=note.base.text if opened.data is not None else None):
        goes_on = run_flow(offer_draft(dialog, drafts, draft, 0))
        if goes_on is None:
            return
        if goes_on:
            dialog.adopt_draft(draft)
            break
    dialog.edit()


def write_new_note(session: ReaderSession, folder: str) -> None:
    """Ask for a name in a folder and a kind, then write the note."""
    dialog = session.dialog
    if not session.check_writable("Nothing was created"):
        return
    where = f" in {folder}" if folder else ""
    name = dialog.ask(f"Name of the new note{where}, with a slash at the end for a directory:").strip()
    path = session.resolve_path(name, folder) if name else None
    if path is None:
        return
    if name.endswith("/"):
        session.report(make_directory(PHRASES, session.engine, path))
        return
    path = templates.add_extension(path)
    try:  # names that agents may not make are not made by a person either
        parse_path(str(MemoryPath.from_relative(path)), making=True)
    except Refusal as refusal:
        dialog.say(refusal.format_text(session.config.memory.messages).removeprefix("Error: "))
        return
    if session.get_entry(path) is not None:
        dialog.say(f"{path} already exists. To edit it, choose it under Files.")
        return
    text = templates.build_plain_text(path)
    if templates.is_note_name(path):
        kinds = [(kind.label, kind) for kind in templates.list_templates(path, session.engine.dialect.starts)]
        kind = dialog.choose(f"What is {path}?", kinds, known=False)
        if kind is None:
            return
        text = templates.fill_template(kind, path, date.today())
    edit_note(session, path, new_text=text)


class ReaderEditDialog(ReaderDialog):
    """The dialog about a text that is written line by line or in an editor."""

    def __init__(self, session: ReaderSession, basis: EditBase, text: str) -> None:
        super().__init__(session)
        self.basis = basis
        self.text = text
        self._is_done = False
        self._has_warned = False

    def edit(self) -> None:
        """Edit and save until the text is saved, or left."""
        while not self._is_done:
            new = compose_text(self._session, self.basis.path, self.text, save_draft=self._save_draft)
            if new is None:
                return
            self.text = new
            if new == self.basis.text and self.basis.data is not None:
                self.drop_draft(self.basis.path)
                self.report("Nothing was changed.")
                return
            self._save_draft(new)
            run_flow(save(self, self._session.engine, self._session.drafts))

    def adopt_draft(self, draft: EditDraft) -> None:
        """Go on with a draft."""
        self.basis, self.text = find_draft_base(draft, self.basis, self._session.engine), draft.text
        try:
            self._session.drafts.adopt(draft)
        except (MemtuiError, OSError) as error:
            self.report(str(error))

    def _save_draft(self, text: str) -> None:
        """Save a draft; that none can be saved is reported once."""
        try:
            self._session.drafts.save(self.basis.path, text, self.basis.sha256)
        except DraftNotSaved as error:
            if not self._has_warned:
                self.report(str(error))
            self._has_warned = True

    def revise(self, text: str, basis: EditBase) -> None:
        """Replace the text; one that equals its version needs no saving."""
        self.basis, self.text = basis, text
        self._is_done = text == basis.text
        if not self._is_done:
            self._save_draft(text)

    def rebase(self, path: str, basis: EditBase, saved_from: EditBase) -> None:
        del path
        self.basis, self._is_done = basis, True
        self.drop_draft(saved_from.path)

    def go_to_line(self, line: int) -> None:
        """Lines are named."""

    def drop_draft(self, path: str) -> None:
        self._session.drafts.drop(path)

    def leave(self, sentence: str) -> None:
        self._is_done = True
        self.report(sentence)

    def report(self, sentence: str, *, warning: bool = False) -> None:
        del warning
        self._session.dialog.say(sentence)

    async def resolve_conflict(self, prompt: ConflictPrompt) -> ConflictChoice | None:
        """Ask in a menu; the changes can be heard first, and a merge is decided place by place."""
        dialog = self._session.dialog
        name = "the other" if prompt.names[1] in ("now", "elsewhere") else prompt.names[1]
        dialog.say(f"{prompt.path}: {prompt.title}.", f"{prompt.sides[0].replace('  ', ', ')}.", prompt.calm)
        choices: list[tuple[str, ConflictChoice | DecidePlaces | str]] = [
            ("Merge both" if each.key == "m" else each.label, each.choice) for each in prompt.options
        ]
        choices += [(f"Hear what {name} changed", prompt.theirs)] if prompt.theirs is not None else []
        choices += [("Hear what I changed", prompt.mine)]
        back: list[tuple[str, None]] = [("Back to my text", None)]
        for chosen in dialog.browse(lambda: ("What now?", [*choices, *back]), empty=""):
            match chosen:
                case str(text):
                    lines = sentences.describe_line_differences(prompt.base or "", text)
                    dialog.read_out(lines or ["The lines are the same."])
                case MergeTexts() | DecidePlaces():
                    merged = self._merge_places(prompt, name)
                    if merged is not None:
                        return MergeTexts(merged)
                case choice:
                    return choice
        return None

    def _merge_places(self, prompt: ConflictPrompt, name: str) -> str | None:
        """Both texts in one; each place in conflict is asked about. `None` if the person goes back."""
        merged = prompt.merged
        assert merged is not None
        decisions: list[MergeSide] = []
        for number, place in enumerate(merged.conflicts, 1):
            decision = self._ask_decision(place, name, f"Place {number} of {len(merged.conflicts)}")
            if decision is None:
                return None
            decisions.append(decision)
        counts = f"{format_count(merged.mine_count, 'place')} of yours and {merged.theirs_count:,} of the other"
        self.report(f"Merged: {counts}, {len(decisions):,} decided by you.")
        return merged.resolve(decisions)

    def _ask_decision(self, place: MergeHunk, name: str, head: str) -> MergeSide | None:
        """Ask which lines are to stand where both changed the same ones."""
        dialog = self._session.dialog
        dialog.say(f"{head}, line {place.first_line:,}: both changed it.")
        for whose, lines in (("Before", place.base), ("Yours", place.mine), (name.capitalize(), place.theirs)):
            words = [line.removesuffix("\n") or "an empty line" for line in lines] or ["nothing"]
            dialog.say(*(f"{whose}: {line}" for line in words))
        options = [
            ("Yours", MergeSide.MINE),
            (f"The text of {name}", MergeSide.THEIRS),
            ("Both, yours first", MergeSide.BOTH),
        ]
        return dialog.choose("Which text do you want?", options, known=False)


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
        command = parse_editor_command(session.config.editor.command, installed=False)
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
            dialog.say("What it saved is kept as a draft: Edit offers it.")
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
            ("Undo the last step", self._undo_step),
            ("Leave", "leave"),
        ]
        while True:
            step = self._dialog.choose(f"{format_count(len(self._lines), 'line')}.", steps, enter="Enter to leave")
            if step == "done":
                return self._text
            if step is not None and not isinstance(step, str):
                step()
            elif self._text == self._original or self._dialog.confirm("Leave without saving? A draft is kept."):
                return None

    def _read_out(self) -> None:
        self._dialog.read_out([line.removesuffix("\n") for line in self._lines], numbered=True)

    def _read_out_changes(self) -> None:
        changes = sentences.describe_line_differences(self._original, self._text)
        self._dialog.read_out(changes or ["You have not changed anything yet."])

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
        new = self._dialog.ask("New text, Enter keeps the old one:")
        if new:
            self._begin_step()
            self._lines[number - 1] = new + ("\n" if old.endswith("\n") else "")
            self._save_draft(self._text)

    def _delete_lines(self) -> None:
        first = self._ask_line_number("From which line:")
        last = self._ask_line_number("To which line, inclusive:") if first is not None else None
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
            self._dialog.say("There is no step to undo.")
            return
        self._lines = self._undo_stack.pop()
        self._save_draft(self._text)
        self._dialog.say("Undid the last step.")

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
