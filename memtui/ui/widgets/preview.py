"""The note under the cursor: rendered, as its source, or exactly as a model is answered."""

from enum import Enum
from typing import TYPE_CHECKING, Literal

from memtui.core import wording
from memtui.core.events import EntryKind
from memtui.core.settings import AuditSettings
from memtui.core.unicode import to_one_line
from memtui.ui.key_names import label_key
from memtui.ui.messages import EntryRead
from memtui.ui.widgets.markdown.document import Ruler
from memtui.ui.widgets.markdown.rows import detect_syntax
from memtui.ui.widgets.markdown.view import NoteView

if TYPE_CHECKING:  # start-up: known behind the first paint
    from memtui.places.dialects import Dialect


class PreviewMode(Enum):
    RENDERED = "rendered"
    SOURCE = "source"
    MODEL = "as the model sees it"

    @property
    def label(self) -> str:
        return self.value

    def get_next(self) -> "PreviewMode":
        """The mode after it, in a circle."""
        ways = list(PreviewMode)
        return ways[(ways.index(self) + 1) % len(ways)]


class Preview:
    """The content of the note pane.

    Attributes:
        text: The text that is shown; empty without one.
        size: Bytes of the file.
        data: The bytes that are shown as text; `None` without any.
        loads: The part of the note that every session loads, in words; empty if none.
        dialect: What the files of the folder are to its agent; `None` until that is known.
        audit: The settings that say how much of an index is loaded.
    """

    def __init__(self) -> None:
        self.view = PreviewMode.RENDERED
        self.text = ""
        self.size = 0
        self.data: bytes | None = None
        self.loads = ""
        self.dialect: Dialect | None = None
        self.audit = AuditSettings()

    def show(self, read: EntryRead, note: NoteView, *, changed: bool, follow: bool) -> None:
        """Show what was read, or why it cannot be shown.

        Args:
            read: The entry.
            note: Where to show it.
            changed: Whether the last change is unseen, so that its lines are marked.
            follow: Whether the changed lines are brought into view.
        """
        self.clear()
        seen, self.size = read.seen, read.seen.node.size if read.seen.node else 0
        if self.view is PreviewMode.MODEL and read.as_model is not None and seen.node is not None:
            self.text = read.as_model
            note.show(read.as_model, syntax="text", mode="source", numbers=False, keep_place=read.again)
            return
        title = to_one_line(read.path.rpartition("/")[2])
        if seen.node is None and read.change is not None:
            event = read.change.event
            words = f"Deleted. {label_key('browse.history')} shows all its versions."
            note.show_notice(title, "It was moved." if event.new_path or event.moved else words)
        elif seen.problem:
            note.show_notice(title, seen.problem)
        elif seen.node is not None and seen.node.kind is EntryKind.DIRECTORY:
            note.show_notice(title + "/", f"A directory. {label_key('files.open')} expands or collapses it.")
        elif seen.data is None:
            note.show_notice(title, "A FIFO, a socket or a device. memtui does not open it.")
        else:
            lines = read.change.lines if changed and read.change else frozenset[int]()
            self.show_data(read.path, seen.data, note, lines=lines, follow=follow, again=read.again)

    def prepare(self, read: EntryRead, note: NoteView) -> None:
        """Do in a thread what takes long of a note that will be shown."""
        data = read.seen.data
        if self.view is PreviewMode.MODEL or not data or b"\0" in data[:8_192]:
            return
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            return
        note.prepare(text, syntax=self._detect_syntax(read.path, text), mode=self._mode, keep_place=read.again)

    @property
    def _mode(self) -> Literal["rendered", "source"]:
        return "rendered" if self.view is PreviewMode.RENDERED else "source"

    def _detect_syntax(self, path: str, text: str) -> str:
        rule = self.dialect.get_rule(path) if self.dialect is not None else None
        return (rule.syntax if rule is not None else "") or detect_syntax(path, text)

    def clear(self) -> None:
        self.text, self.size, self.data, self.loads = "", 0, None, ""

    def _find_ruler(self, path: str) -> Ruler | None:
        """Where the loading of a note stops when a session starts."""
        if self.dialect is None and not path.endswith("MEMORY.md"):
            return None
        from memtui.notes.loading import format_load_size, get_index_limit, measure_load  # noqa: PLC0415 - start-up
        from memtui.places.dialects import PLAIN  # noqa: PLC0415 - start-up: few notes are indexes

        rule = (self.dialect or PLAIN).get_rule(path)
        if not rule.loads:
            return None
        limit = get_index_limit(self.audit) if rule.loads == "index" else rule.limit
        part = measure_load(self.text, limit)
        self.loads = f"{wording.format_token_count(part.tokens)} each session"
        if part.limit and limit.keeps != "start":
            self.loads += ", its end only" if limit.keeps == "end" else ", without its middle"
        if part.beyond is None or part.beyond > part.lines:
            return None
        most = f"{limit.lines:,} lines" if part.limit == "lines" else format_load_size(limit)
        left = part.lines - part.beyond + 1
        return Ruler(part.beyond - 1, f"not loaded from here: over {most}, {left:,} more")

    def show_data(
        self, path: str, data: bytes, note: NoteView, *, lines: frozenset[int], follow: bool, again: bool
    ) -> None:
        """Show the content of a file, or of an earlier version.

        Args:
            path: Its path, which decides how it is coloured.
            data: Its bytes.
            note: Where to show it.
            lines: Numbers of the lines that are marked as changed, from 1.
            follow: Whether the first of them is brought into view.
            again: Whether it was on screen already, so that its place is kept.
        """
        title = to_one_line(path.rpartition("/")[2])
        if not data:
            note.show_notice(title, "This file is empty.")
            return
        if b"\0" in data[:8_192]:
            note.show_notice(title, f"Binary data, {wording.format_size(len(data))}. Not shown as text.")
            return
        self.data = data
        try:
            self.text = data.decode("utf-8")
        except UnicodeDecodeError:
            # Broken bytes become escapes such as \xff: nothing is hidden, and nothing is guessed.
            self.text = data.decode("utf-8", "surrogateescape")
            note.show(self.text, syntax="text", mode="source", keep_place=again)
            return
        ruler = self._find_ruler(path)
        note.show(
            self.text, syntax=self._detect_syntax(path, self.text), mode=self._mode, keep_place=again, ruler=ruler
        )
        note.highlight_lines(lines)
        if follow and lines:
            note.reveal_line(min(lines))
