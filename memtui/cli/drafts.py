"""Removing a text from drafts: what must go from the record must not wait in what a person typed and did not save."""

import contextlib
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from memtui.core.events import sha256
from memtui.core.visible import one_line
from memtui.ui.edit.drafts import DIRECTORY, EditDraft, EditDrafts

_REDACTED = "[redacted]"


@dataclass(frozen=True, slots=True)
class Meant:
    """Which drafts are meant.

    Attributes:
        match: A text, which goes from every draft; `None` for none.
        paths: Notes of which every draft goes.
        versions: SHA-256 of texts, by note: a draft of the note that is one, or was made from one, goes.
    """

    match: str | None = None
    paths: Collection[str] = ()
    versions: Collection[tuple[str, str]] = ()

    def without(self, draft: EditDraft) -> str | None:
        """What stays of a draft; `None` for nothing."""
        data = draft.text.encode("utf-8", "surrogatepass")
        if draft.path in self.paths or {(draft.path, draft.base), (draft.path, sha256(data))} & set(self.versions):
            return None
        text = draft.text
        for form in self._forms:
            text = text.replace(form, _REDACTED)
        return text

    def is_in(self, data: bytes) -> bool:
        """Whether the text stands in the bytes of a file that is half a draft."""
        return any(form.encode("utf-8", "surrogatepass") in data for form in self._forms)

    @property
    def _forms(self) -> tuple[str, ...]:
        if self.match is None:
            return ()
        lines = self.match.replace("\r\n", "\n")  # as lines end in an editor
        return tuple(dict.fromkeys((self.match, lines, lines.replace("\r", "\n"))))


@dataclass(frozen=True, slots=True)
class DraftsForgotten:
    """What was removed, or would be.

    Attributes:
        paths: The notes whose drafts held it, one for each draft.
        left: What could not be removed, as sentences.
    """

    paths: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def forget(state: Path, meant: Meant, *, rehearse: bool) -> DraftsForgotten:
    """Remove a text from all drafts of a folder.

    Args:
        state: The state directory of the folder.
        meant: What goes.
        rehearse: Whether it is only found out which drafts hold it.
    """
    drafts = EditDrafts(state / DIRECTORY)
    paths: list[str] = []
    left: list[str] = []
    for draft, is_typed in drafts.everything():
        text = meant.without(draft)
        if text == draft.text:
            continue
        if is_typed:
            left.append(
                f"A draft of {one_line(draft.path)} holds it and is being typed in another memtui. Save or discard it "
                "there, and do it again."
            )
            continue
        try:
            if not rehearse:
                _take_out(drafts, draft, text)
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            left.append(f"A draft of {one_line(draft.path)} holds it and cannot be rewritten: {reason}.")
            continue
        paths.append(draft.path)
    if not rehearse:
        for file in drafts.half_written():
            with contextlib.suppress(OSError):  # one that has just come to its place, or went
                if meant.is_in(file.read_bytes()):
                    file.unlink()
    return DraftsForgotten(tuple(paths), tuple(left))


def _take_out(drafts: EditDrafts, draft: EditDraft, text: str | None) -> None:
    if text is None:
        draft.file.unlink(missing_ok=True)
    else:
        drafts.rewrite(draft, text)
