"""Writing notes: from opening one to what the memory holds afterwards, whatever became of it meanwhile."""

import time
from datetime import date
from typing import TYPE_CHECKING

from memtui.cli.reader.composing import composed
from memtui.cli.reader.dialog import Choice
from memtui.cli.reader.sentences import lines_changed
from memtui.core.errors import MemtuiError, Refusal
from memtui.core.merge import markers_in
from memtui.core.paths import MemoryPath, parse
from memtui.core.shape import PLAIN, NotText, shaped
from memtui.ui.edit.basis import Basis, basis_of_draft
from memtui.ui.edit.drafts import EditDraft, NotKept
from memtui.ui.edit.saving import Conflicted, Failed, Saved, Saving

if TYPE_CHECKING:
    from memtui.cli.reader.session import Session


def edit(session: "Session", path: str, *, new_text: str | None = None) -> None:
    """Edit a note, or write a new one.

    Args:
        session: Where the person is asked.
        path: Relative to the folder; it need not be there yet.
        new_text: What a new one begins with.
    """
    dialog = session.dialog
    if not session.may_write("Not edited"):
        return
    opened = Saving(session.engine, path).open()
    if opened.problem:
        dialog.say(opened.problem)
        return
    try:
        shape = PLAIN if opened.data is None else shaped(opened.data)
    except NotText as error:
        dialog.say(f"It can only be read. {error}")
        return
    basis = Basis(path, opened.version, opened.data, shape, opened.event)
    drafts = session.drafts()
    if drafts.elsewhere(path):
        dialog.say("It is being edited in another window of memtui, too.")
    text = new_text if opened.data is None and new_text is not None else basis.text
    for draft in drafts.found(path, former=opened.former, now=basis.text if opened.data is not None else None):
        chosen = _asked_about(session, draft)
        if chosen is None:
            return
        if chosen:
            basis, text = basis_of_draft(draft, basis, session.engine), draft.text
            _adopt(session, draft)
            break
    _Course(session, basis).run(text)


def write_new(session: "Session", folder: str) -> None:
    """Ask for a name and a kind, then write it.

    Args:
        session: Where the person is asked.
        folder: Where it goes, relative to the memory folder.
    """
    from memtui.cli.reader.filing import place_named  # deferred: it opens notes, which are edited here
    from memtui.ui.managing import templates

    dialog = session.dialog
    if not session.may_write("Nothing was created"):
        return
    where = f" in {folder}" if folder else ""
    name = dialog.ask(f"Name of the new note{where}, a slash at its end makes a folder:").strip()
    path = place_named(session, name, folder) if name else None
    if path is None:
        return
    if name.endswith("/"):
        restored = session.engine.files.make_directory(path)
        dialog.say(restored.problem or f"Created the folder {path}.")
        return
    path = templates.with_extension(path)
    try:
        parse(str(MemoryPath.of(path)), making=True)  # what agents may not name is not made by a person either
    except Refusal as refusal:
        dialog.say(refusal.text(session.config.memory.messages).removeprefix("Error: "))
        return
    if session.entry(path) is not None:
        dialog.say(f"{path} is there already. Choose it under Files to edit it.")
        return
    text = templates.plain(path)
    if templates.is_note(path):
        kinds = [Choice(kind.label, kind) for kind in templates.offered(path)]
        kind = dialog.choose(f"What is {path}?", kinds)
        if kind is None:
            return
        text = templates.filled(kind, path, date.today())
    edit(session, path, new_text=text)


def _asked_about(session: "Session", draft: EditDraft) -> bool | None:
    """Whether to go on with a draft; `None` for neither with that nor with the note."""
    dialog = session.dialog
    choices = [
        Choice("Go on with it", "go on"),
        Choice("Hear it", "hear"),
        Choice("Leave it, and edit the note as it is", "leave"),
        Choice("Throw it away, and edit the note as it is", "forget"),
    ]
    while True:
        match dialog.choose(f"There is {draft.words(time.time_ns() // 1_000)}.", choices):
            case "go on":
                return True
            case "hear":
                dialog.read_out(draft.text.split("\n"))
            case "leave":
                return False
            case "forget":
                if dialog.is_sure(f"Throw away {draft.words(time.time_ns() // 1_000)}? It cannot be got back."):
                    session.drafts().forget(draft)
                    return False
            case _:
                return None


class _Course:
    """One text on its way into the memory."""

    def __init__(self, session: "Session", basis: Basis) -> None:
        self._session = session
        self._basis = basis
        self._said_not_kept = False

    def run(self, text: str) -> None:
        """Edit and save until it is saved, or left."""
        while True:
            new = composed(self._session, self._basis.path, text, keep=self._keep)
            if new is None:
                return
            if new == self._basis.text and self._basis.data is not None:
                self._session.drafts().drop(self._basis.path)
                self._session.dialog.say("Nothing was changed.")
                return
            self._keep(new)
            again = self._save(new)
            if again is None:
                return
            text = again

    def _keep(self, text: str) -> None:
        """Keep a draft; that none can be kept is said once."""
        try:
            self._session.drafts().keep(self._basis.path, text, self._basis.sha256)
        except NotKept as error:
            if not self._said_not_kept:
                self._session.dialog.say(str(error))
            self._said_not_kept = True

    def _save(self, text: str) -> str | None:
        """Save; `None` where that is done with, else the text to go on with."""
        from memtui.cli.reader.conflict import Merged, settled  # deferred: hopefully never needed

        dialog = self._session.dialog
        while True:
            marks = markers_in(text)
            if marks and marks != markers_in(self._basis.text):
                question = f"Line {marks[0]:,} still has the marks of a conflict. Save all the same?"
                if not dialog.is_sure(question):
                    return text
            try:
                data = self._basis.shape.bytes_of(text)
            except NotText as error:
                dialog.say(f"Not saved. {error}")
                return text
            result = Saving(self._session.engine, self._basis.path).save(
                data, self._basis.version, base=self._basis.data
            )
            while isinstance(result, Conflicted):
                answer = settled(self._session, result, text, self._basis)
                if isinstance(answer, Merged):
                    self._basis, text = answer.basis, answer.text
                    self._keep(text)
                    break
                if answer is None:
                    return text
                if isinstance(answer, str):
                    dialog.say(answer)
                    return None
                result = answer
            match result:
                case Saved():
                    self._tell_saved(result)
                    return None
                case Failed():
                    dialog.say(result.words)
                    return text

    def _tell_saved(self, saved: Saved) -> None:
        self._session.drafts().drop(self._basis.path)
        event = saved.event
        counts = lines_changed(event.added, event.removed) if event is not None else ""
        words = f"{saved.path} holds this text already." if saved.unchanged else f"Saved {saved.path}{counts}."
        self._session.dialog.say(f"{words} {saved.warning}".rstrip())


def _adopt(session: "Session", draft: EditDraft) -> None:
    """Go on with a draft: it lies nowhere else any more."""
    try:
        session.drafts().adopt(draft)
    except (MemtuiError, OSError) as error:
        session.dialog.say(str(error))
