"""The note view: one line-drawn view for preview, chat and history, for notes of every size."""

from memtui.ui.note.formats import syntax_of
from memtui.ui.note.view import NoteView

__all__ = ["NoteView", "syntax_of"]
