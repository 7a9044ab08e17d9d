"""What a text is made from: the version that the next save is compared with."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.core.events import Event, Version
from memtui.core.shape import PLAIN, NotText, Shape, shaped
from memtui.core.snapshot import Kind

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine
    from memtui.ui.edit.drafts import EditDraft
    from memtui.ui.edit.saving import Conflicted, Opened, Saved

LARGEST = 4_000_000
"""Bytes of the largest note that can be changed here; of a larger one, each key would be waited for."""
_BINARY_WITHIN = 8_192


@dataclass(frozen=True, slots=True)
class Basis:
    """One version of a note.

    Attributes:
        path: Where it stands, relative to the folder.
        version: What it is; `None` where nothing stands.
        data: Its bytes.
        shape: Its text, and what its bytes are made of besides.
        event: What made it so, where that is known.
    """

    path: str
    version: Version | None
    data: bytes | None
    shape: Shape
    event: Event | None = None

    @property
    def text(self) -> str:
        """Its text; empty where nothing stands."""
        return self.shape.text if self.data is not None else ""

    @property
    def sha256(self) -> str | None:
        """What its draft is kept under."""
        return self.version.sha256 if self.version else None


@dataclass(frozen=True, slots=True)
class Shown:
    """A note on its way into the editor.

    Attributes:
        basis: What is edited.
        text: What is shown: the text of the note, or escapes where it has none.
        problem: Why it can only be read, as a sentence; empty if it can be edited.
        is_too_large: Whether that is only because of its size: another editor may be able to.
    """

    basis: Basis
    text: str
    problem: str = ""
    is_too_large: bool = False


def shown(opened: "Opened") -> Shown:
    """A note that was opened, as an editor can show it."""
    data = opened.data
    if data is None:
        return Shown(Basis(opened.path, opened.version, None, PLAIN, opened.event), "", opened.problem)
    problem = opened.problem
    try:
        shape = shaped(data)
        text = shape.text
    except NotText as error:
        shape, problem = PLAIN, problem or str(error)
        binary = b"\0" in data[:_BINARY_WITHIN]
        text = "" if binary else data.decode("utf-8", "surrogateescape")
    is_too_large = not problem and len(data) > LARGEST
    if is_too_large:
        problem = f"{len(data) / 1e6:.1f} MB are too much to edit here. Esc, then E opens it in your own editor."
    return Shown(Basis(opened.path, opened.version, data, shape, opened.event), text, problem, is_too_large)


def after_saving(saved: "Saved", basis: Basis, text: str, data: bytes) -> Basis:
    """What the text is made from once it was saved."""
    shape = Shape(text, basis.shape.bom, (), basis.shape.end) if not basis.shape.ends else shaped(data)
    return Basis(saved.path, saved.version, data, shape, saved.event or basis.event)


def theirs_of(conflicted: "Conflicted") -> Basis:
    """What stands there now.

    Raises:
        NotText: It is no text.
    """
    data = conflicted.theirs
    shape = PLAIN if data is None else shaped(data)
    return Basis(conflicted.place, conflicted.version, data, shape, conflicted.event)


def basis_of_draft(draft: "EditDraft", now: Basis, engine: "Engine") -> Basis:
    """What a draft was made from. Where that is not known any more, it clashes with all that is there."""
    if draft.base == now.sha256:
        return now
    version = Version(Kind.FILE, draft.base) if draft.base is not None else None
    data = engine.history.text(version) if version is not None else None
    if version is None or data is None:
        return Basis(now.path, version, None, now.shape)
    try:
        return Basis(now.path, Version(Kind.FILE, draft.base, len(data)), data, shaped(data))
    except NotText:
        return Basis(now.path, version, None, now.shape)
