"""How the note under the cursor is shown: rendered, as its source, or exactly as a model is answered."""

from enum import Enum
from typing import Literal

from memtui.core.audit_settings import AuditSettings
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.messages import Read
from memtui.ui.note.document import Ruler
from memtui.ui.note.formats import syntax_of
from memtui.ui.note.view import NoteView


class View(Enum):
    """Ways to show a note."""

    RENDERED = "rendered"
    SOURCE = "as source"
    MODEL = "as the model sees it"

    @property
    def words(self) -> str:
        """In words."""
        return self.value

    def next(self) -> "View":
        """The one after it, in a circle."""
        ways = list(View)
        return ways[(ways.index(self) + 1) % len(ways)]


class Preview:
    """What the note pane holds.

    Attributes:
        view: How notes are shown.
        text: The text that is shown; empty where there is none.
        size: Bytes of the file.
        data: The bytes that are shown as text; `None` where others are, or none.
        loads: What of it every session begins with, in words; empty for what is no index.
        max_lines: Lines of an index that are loaded.
        max_bytes: Bytes of an index that are loaded.
    """

    def __init__(self) -> None:
        self.view = View.RENDERED
        self.text = ""
        self.size = 0
        self.data: bytes | None = None
        self.loads = ""
        plain = AuditSettings()
        self.max_lines, self.max_bytes = plain.max_lines, plain.max_index_bytes

    def show(self, read: Read, note: NoteView, *, changed: bool, follow: bool) -> None:
        """Show what was read, or say why it cannot be shown.

        Args:
            read: What stands at the path.
            note: Where.
            changed: Whether the person has not seen its last change, so that its lines are marked.
            follow: Whether the changed lines are brought into view.
        """
        self.clear()
        seen, self.size = read.seen, read.seen.node.size if read.seen.node else 0
        if self.view is View.MODEL and read.as_model is not None and seen.node is not None:
            self.text = read.as_model
            note.show(read.as_model, syntax="text", mode="source", numbers=False, keep_place=read.again)
            return
        title = one_line(read.path.rpartition("/")[2])
        if seen.node is None and read.change is not None:
            event = read.change.event
            words = "Deleted. Its text is kept in the journal: V shows all its versions."
            note.show_notice(title, "It was moved away." if event.new_path or event.moved else words)
        elif seen.problem:
            note.show_notice(title, seen.problem)
        elif seen.node is not None and seen.node.kind is Kind.DIRECTORY:
            note.show_notice(title + "/", "A folder. Enter opens or closes it.")
        elif seen.data is None:
            note.show_notice(title, "A FIFO, a socket or a device. memtui does not open it.")
        else:
            lines = read.change.lines if changed and read.change else frozenset[int]()
            self.show_data(read.path, seen.data, note, lines=lines, follow=follow, again=read.again)

    def clear(self) -> None:
        """Forget what was shown."""
        self.text, self.size, self.data, self.loads = "", 0, None, ""

    def _ruler(self, path: str) -> Ruler | None:
        """Where an index stops being loaded when a session starts."""
        from memtui.notes.index import index_of, is_index  # deferred: most notes are none

        if not is_index(path):
            return None
        index = index_of(self.text, path, max_lines=self.max_lines, max_bytes=self.max_bytes)
        self.loads = f"{wording.token_count(index.tokens)} each session"
        if index.beyond is None:
            return None
        limit = f"{self.max_lines:,} lines" if index.limit == "lines" else wording.size(self.max_bytes)
        left = index.lines - index.beyond + 1
        return Ruler(index.beyond - 1, f"not loaded from here: over {limit}, {left:,} more")

    def show_data(
        self, path: str, data: bytes, note: NoteView, *, lines: frozenset[int], follow: bool, again: bool
    ) -> None:
        """Show what a file holds, or held.

        Args:
            path: What it is called, which tells how it is coloured.
            data: Its bytes.
            note: Where.
            lines: Numbers of the lines that are marked as changed, from 1.
            follow: Whether the first of them is brought into view.
            again: Whether it was on screen already, so that its place is kept.
        """
        title = one_line(path.rpartition("/")[2])
        if not data:
            note.show_notice(title, "This file is empty.")
            return
        if b"\0" in data[:8_192]:
            note.show_notice(title, f"Binary data, {wording.size(len(data))}. It is not shown as text.")
            return
        self.data = data
        try:
            self.text = data.decode("utf-8")
        except UnicodeDecodeError:
            # Broken bytes become escapes such as \xff: nothing is hidden, and nothing is guessed.
            self.text = data.decode("utf-8", "surrogateescape")
            note.show(self.text, syntax="text", mode="source", keep_place=again)
            return
        mode: Literal["rendered", "source"] = "rendered" if self.view is View.RENDERED else "source"
        ruler = self._ruler(path) if path.endswith("MEMORY.md") else None
        note.show(self.text, syntax=syntax_of(path, self.text), mode=mode, keep_place=again, ruler=ruler)
        note.highlight_lines(lines)
        if follow and lines:
            note.reveal_line(min(lines))
