"""Saving a text and resolving a conflict: a choice is asked first, and nothing is written before it.

A text that the person wrote is never lost: it is in the memory, in the editor, or in a draft.
"""

import time
from functools import partial
from typing import Protocol

from memtui.core.errors import MemtuiError
from memtui.core.merge import MergeResult, find_conflict_markers, merge_texts, merge_without_base
from memtui.core.text_format import NotText
from memtui.core.unicode import to_one_line
from memtui.editing.conflict import (
    ConflictChoice,
    ConflictPrompt,
    KeepMine,
    MergeTexts,
    TakeTheirs,
    build_conflict_prompt,
)
from memtui.editing.drafts import DraftReason, EditDraft, EditDraftStore
from memtui.editing.save import (
    EditBase,
    NoteChange,
    NoteSaved,
    NoteSaver,
    SaveConflict,
    SaveFailed,
    format_did,
    format_possessive,
    get_theirs,
    update_base,
)
from memtui.engine import Engine
from memtui.flows.dialog import Choice, Dialog, format_hint

_TRIES = 8
"""How often a save goes on by itself when the memory changes again while the texts are merged."""


class EditDialog(Dialog, Protocol):
    """A dialog about one text on its way into the memory."""

    @property
    def basis(self) -> EditBase:
        """The version that the text is made from."""

    @property
    def text(self) -> str:
        """The text as it is now; the person may go on typing."""

    def revise(self, text: str, basis: EditBase) -> None:
        """Replace the text with one made from another version."""

    def rebase(self, path: str, basis: EditBase, saved_from: EditBase) -> None:
        """The text was saved: its version is the basis now, and the draft of the old one is dropped."""

    def go_to_line(self, line: int) -> None:
        """Show a line, from 1."""

    def drop_draft(self, path: str) -> None:
        """Drop the draft of a note, whose text was set aside."""

    def leave(self, sentence: str) -> None:
        """Close the text, and report a sentence."""

    async def resolve_conflict(self, prompt: ConflictPrompt) -> ConflictChoice | None:
        """Ask how a conflict is resolved; `None` to go back to the text."""

    def report(self, sentence: str, *, warning: bool = False) -> None:
        """Report a sentence while the dialog goes on."""


async def save(dialog: EditDialog, engine: Engine, drafts: EditDraftStore | None) -> bool:
    """Save a text, resolving conflicts, and tell whether the memory holds it; a losing text goes to `drafts`."""
    markers = find_conflict_markers(dialog.text)
    if len(markers) > len(find_conflict_markers(dialog.basis.text)):
        dialog.go_to_line(markers[0])
        choices = (Choice("s", "save anyway", "save"), Choice("e", "keep editing", ""))
        if not await dialog.choose(f"Line {markers[0]:,} is a conflict marker.", choices):
            return False
    goes_on = False
    for _ in range(_TRIES):
        basis, text = dialog.basis, dialog.text
        refusal = await dialog.call(partial(NoteSaver(engine, basis.path).find_refusal, text, basis.text))
        if refusal is not None:
            if refusal.line:
                dialog.go_to_line(refusal.line)
            dialog.report(f"Not saved. {refusal.words}.", warning=True)
            return False
        try:
            data = await dialog.call(partial(basis.shape.encode, text))
        except NotText as error:
            dialog.report(str(error), warning=True)
            return False
        result = await dialog.call(partial(NoteSaver(engine, basis.path).save, data, basis.version, base=basis.data))
        if isinstance(result, SaveConflict):
            if goes_on and await _try_auto_merge(dialog, result, basis, text):
                continue
            resolved = await _resolve(dialog, engine, drafts, result, text)
            if resolved is False:
                return False
            if resolved is True:
                goes_on = True
                continue
            result = resolved
        if isinstance(result, NoteSaved):
            _finish(dialog, result, basis, text, data)
            return True
        dialog.report(result.words, warning=True)
        return False
    again = format_hint(dialog.phrases, "edit.save", "tries again.")
    dialog.report(f"Not saved: the note keeps changing while it is merged.{again}", warning=True)
    return False


async def merge_now(dialog: EditDialog, engine: Engine, drafts: EditDraftStore | None) -> None:
    """Merge the changes of the memory into a text, without saving it."""
    basis, text = dialog.basis, dialog.text

    def find() -> SaveConflict | str:
        try:
            conflict = NoteSaver(engine, basis.path).find_conflict(
                basis.shape.encode(text), basis.version, base=basis.data
            )
        except (MemtuiError, OSError) as error:
            return str(error)
        return conflict or "Nothing to merge: the note has not changed since you opened it."

    conflict = await dialog.call(find)
    if isinstance(conflict, str):
        dialog.report(conflict)
        return
    name = dialog.phrases.name_action
    done = f"Merged {format_did(conflict)}. {name('edit.save')} saves the note, {name('edit.undo')} undoes the merge."
    if await _try_auto_merge(dialog, conflict, basis, text):
        dialog.report(done)
    elif dialog.text != text:
        dialog.report(f"Not merged: you typed. {name('edit.merge')} tries again.")
    else:
        resolved = await _resolve(dialog, engine, drafts, conflict, text)
        if isinstance(resolved, NoteSaved):
            _finish(dialog, resolved, basis, text, conflict.mine)
        elif isinstance(resolved, SaveFailed):
            dialog.report(resolved.words, warning=True)
        elif resolved:
            dialog.report(done)


async def offer_draft(dialog: EditDialog, drafts: EditDraftStore, draft: EditDraft, older: int) -> bool | None:
    """Ask whether to go on with a draft; `None` for neither draft nor note. There are `older` ones."""
    more = f", and {older:,} older" if older else ""
    choices = (
        Choice("e", "continue the draft", "go on"),
        Choice("n", "edit the note as it is; keep the draft", "later"),
        Choice("x", "delete the draft", "delete"),
    )
    answer = await dialog.choose(f"There is {draft.describe(time.time_ns() // 1_000)}{more}.", choices, text=draft.text)
    if answer == "delete":  # asked once more: a letter typed ahead must not lose a text
        sure = (Choice("k", "keep it", ""), Choice("d", "delete it for good", "delete"))
        if await dialog.choose("Delete the draft? No other copy of it is kept.", sure) == "delete":
            await dialog.call(lambda: drafts.discard(draft))
            dialog.report("Deleted the draft.")
        else:
            dialog.report("Kept the draft.")
    return None if answer is None else answer == "go on"


def _finish(dialog: EditDialog, saved: NoteSaved, basis: EditBase, text: str, data: bytes) -> None:
    """Report that the text is saved."""
    dialog.rebase(saved.path, update_base(saved, basis, text, data), basis)
    name = to_one_line(saved.path)
    counts = dialog.phrases.format_changed_lines(saved.event) if saved.event is not None else ""
    words = f"{name} already has this text." if saved.unchanged else f"Saved {name}{counts}."
    dialog.report(f"{words} {saved.warning}".rstrip(), warning=bool(saved.warning))


async def _try_auto_merge(dialog: EditDialog, conflict: SaveConflict, basis: EditBase, text: str) -> bool:
    """Merge where nothing is in doubt; tells whether that was possible."""
    merged = await dialog.call(lambda: _merge(basis, text, conflict))
    if merged is None or not merged.is_clean or dialog.text != text:
        return False
    dialog.revise(merged.text, get_theirs(conflict))
    return True


def _merge(basis: EditBase, mine: str, conflict: SaveConflict) -> MergeResult | None:
    """Both texts in one; `None` where there are not two texts."""
    if conflict.situation is not NoteChange.CHANGED or conflict.theirs is None:
        return None
    try:
        theirs = get_theirs(conflict).text
    except NotText:
        return None
    return merge_without_base(mine, theirs) if basis.data is None else merge_texts(basis.text, mine, theirs)


async def _resolve(
    dialog: EditDialog, engine: Engine, drafts: EditDraftStore | None, conflict: SaveConflict, text: str
) -> bool | NoteSaved | SaveFailed:
    """Resolve a conflict with the person: `True` to save the merged text, `False` for back to the text."""
    while True:
        prompt = await dialog.call(partial(build_conflict_prompt, conflict))
        match await dialog.resolve_conflict(prompt):
            case MergeTexts() as merged:
                return _apply_merge(dialog, conflict, merged)
            case KeepMine(target):
                result = await dialog.call(partial(NoteSaver(engine, conflict.path).write_mine, conflict, target))
                if not isinstance(result, SaveConflict):
                    return result
                conflict = result  # changed once more meanwhile
            case TakeTheirs():
                await _take_theirs(dialog, drafts, conflict, text)
                return False
            case None:
                words = "Not saved. Nothing was written. Your text is unchanged."
                dialog.report(words, warning=True)
                return False


def _apply_merge(dialog: EditDialog, conflict: SaveConflict, merged: MergeTexts) -> bool:
    try:
        theirs = get_theirs(conflict)
    except NotText as error:
        dialog.report(f"Not merged: {error}", warning=True)
        return False
    dialog.revise(merged.text, theirs)
    if not merged.line:
        return True
    dialog.go_to_line(merged.line)
    dialog.report(f"Merged, not saved yet. {dialog.phrases.name_action('edit.save')} saves it.")
    return False


async def _take_theirs(dialog: EditDialog, drafts: EditDraftStore | None, conflict: SaveConflict, text: str) -> None:
    """Set mine aside as a draft, and go on with theirs."""
    basis = dialog.basis
    try:
        theirs = get_theirs(conflict)
        if drafts is not None:
            await dialog.call(lambda: drafts.set_aside(basis.path, text, basis.sha256, why=DraftReason.TAKEN))
    except (NotText, MemtuiError, OSError) as error:
        dialog.report(f"Nothing was done: {error}", warning=True)
        return
    edit = dialog.phrases.name_action("note.edit")
    if conflict.theirs is not None:
        dialog.revise(theirs.text, theirs)
        dialog.drop_draft(basis.path)
        back = format_hint(dialog.phrases, "edit.undo", "restores it here.")
        version = format_possessive(conflict)
        dialog.report(f"Took {version}. Your text is kept as a draft: {edit} on this note opens it.{back}")
    elif conflict.situation is NoteChange.DELETED:
        dialog.leave(f"Left deleted. Your text is kept as a draft: {edit} on that name opens it.")
    else:
        dialog.leave("Left as it is. Your text is a draft, offered when a note has that name again.")
