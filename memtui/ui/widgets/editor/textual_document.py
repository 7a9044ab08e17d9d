"""The private modules of Textual's text documents that the editor uses; see `memtui.ui.textual_private`."""

from textual.document._document import DocumentBase, EditResult, Location, Newline, Selection
from textual.document._document_navigator import DocumentNavigator
from textual.document._edit import Edit
from textual.document._history import EditHistory
from textual.document._wrapped_document import WrappedDocument

__all__ = [
    "DocumentBase", "DocumentNavigator", "Edit", "EditHistory", "EditResult", "Location", "Newline", "Selection",
    "WrappedDocument", "get_edit_result",
]  # fmt: skip


def get_edit_result(edit: Edit) -> EditResult | None:
    """The result of an edit; `None` before it was made."""
    return edit._edit_result
