"""The keys of the box: what Textual's text area has, with ids and words, so that help lists and a map changes them."""

from typing import NamedTuple

from textual.binding import Binding


class _K(NamedTuple):
    key: str
    action: str
    name: str
    tooltip: str


_MOVES = (
    _K("up", "cursor_up", "up", "One row up"),
    _K("down", "cursor_down", "down", "One row down"),
    _K("left", "cursor_left", "left", "One character to the left"),
    _K("right", "cursor_right", "right", "One character to the right"),
    _K("ctrl+left", "cursor_word_left", "word_left", "One word to the left"),
    _K("ctrl+right", "cursor_word_right", "word_right", "One word to the right"),
    _K("home,ctrl+a", "cursor_line_start", "line_start", "To the start of the line"),
    _K("end,ctrl+e", "cursor_line_end", "line_end", "To the end of the line"),
    _K("pageup", "cursor_page_up", "page_up", "One page up"),
    _K("pagedown", "cursor_page_down", "page_down", "One page down"),
    _K("ctrl+home", "text_start", "text_start", "To the start of the text"),
    _K("ctrl+end", "text_end", "text_end", "To the end of the text"),
)
_SELECTIONS = (
    _K("shift+up", "cursor_up(True)", "select_up", "Select one row up"),
    _K("shift+down", "cursor_down(True)", "select_down", "Select one row down"),
    _K("shift+left", "cursor_left(True)", "select_left", "Select one character to the left"),
    _K("shift+right", "cursor_right(True)", "select_right", "Select one character to the right"),
    _K("ctrl+shift+left", "cursor_word_left(True)", "select_word_left", "Select one word to the left"),
    _K("ctrl+shift+right", "cursor_word_right(True)", "select_word_right", "Select one word to the right"),
    _K("shift+home", "cursor_line_start(True)", "select_line_start", "Select to the start of the line"),
    _K("shift+end", "cursor_line_end(True)", "select_line_end", "Select to the end of the line"),
    _K("ctrl+shift+home", "text_start(True)", "select_text_start", "Select to the start of the text"),
    _K("ctrl+shift+end", "text_end(True)", "select_text_end", "Select to the end of the text"),
    _K("f6", "select_line", "select_line", "Select the line"),
    _K("f7", "select_all", "select_all", "Select everything"),
)
_CHANGES = (
    _K("backspace", "delete_left", "delete_left", "Delete the character before the cursor"),
    _K("delete", "delete_right", "delete_right", "Delete the character behind the cursor"),
    _K("ctrl+w,ctrl+backspace,alt+backspace", "delete_word_left", "delete_word_left", "Delete the word before it"),
    _K("ctrl+delete,alt+delete", "delete_word_right", "delete_word_right", "Delete the word behind it"),
    _K("ctrl+u,super+backspace", "delete_to_start_of_line", "delete_to_start", "Delete to the start of the line"),
    _K("ctrl+k", "delete_to_end_of_line_or_delete_line", "delete_to_end", "Delete to the end of the line, or the line"),
    _K("ctrl+shift+k", "delete_line", "delete_line", "Delete the line"),
    _K("tab", "indent", "indent", "Indent"),
    _K("shift+tab", "dedent", "dedent", "Take a level of indentation back"),
    _K("ctrl+x,super+x", "cut", "cut", "Cut; without a selection, the line"),
    _K("ctrl+c,super+c", "copy", "copy", "Copy what is selected"),
    _K("ctrl+v", "paste", "paste", "Put in what was copied or cut here"),
)

KEYS = (
    Binding("ctrl+z,super+z", "undo", "undo", id="edit.undo", tooltip="Take back the last step", show=False),
    Binding("ctrl+y,super+y", "redo", "redo", id="edit.redo", tooltip="Do it again", show=False),
    *(
        Binding(each.key, each.action, each.name.replace("_", " "), id=f"edit.{each.name}", tooltip=each.tooltip,
                show=False)
        for each in (*_MOVES, *_SELECTIONS, *_CHANGES)
    ),
    Binding("f8", "line_numbers", "numbers", id="edit.line_numbers", tooltip="Show line numbers or none", show=False),
    Binding("f9", "wrap", "wrap", id="edit.wrap", tooltip="Wrap long lines or scroll them", show=False),
)  # fmt: skip
