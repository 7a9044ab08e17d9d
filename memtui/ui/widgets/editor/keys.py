"""The keys of a text area: those of Textual's, with ids and words, so that help lists and a key map changes them."""

from textual.binding import Binding

_KEYS = (
    ("ctrl+z,super+z", "undo", "undo", "Undo the last step"),
    ("ctrl+y,super+y", "redo", "redo", "Redo the last step"),
    ("up", "cursor_up", "up", "One row up"),
    ("down", "cursor_down", "down", "One row down"),
    ("left", "cursor_left", "left", "One character to the left"),
    ("right", "cursor_right", "right", "One character to the right"),
    ("ctrl+left", "cursor_word_left", "word_left", "One word to the left"),
    ("ctrl+right", "cursor_word_right", "word_right", "One word to the right"),
    ("home,ctrl+a", "cursor_line_start", "line_start", "To the start of the line"),
    ("end,ctrl+e", "cursor_line_end", "line_end", "To the end of the line"),
    ("pageup", "cursor_page_up", "page_up", "One page up"),
    ("pagedown", "cursor_page_down", "page_down", "One page down"),
    ("ctrl+home", "text_start", "text_start", "To the start of the text"),
    ("ctrl+end", "text_end", "text_end", "To the end of the text"),
    ("shift+up", "cursor_up(True)", "select_up", "Select one row up"),
    ("shift+down", "cursor_down(True)", "select_down", "Select one row down"),
    ("shift+left", "cursor_left(True)", "select_left", "Select one character to the left"),
    ("shift+right", "cursor_right(True)", "select_right", "Select one character to the right"),
    ("ctrl+shift+left", "cursor_word_left(True)", "select_word_left", "Select one word to the left"),
    ("ctrl+shift+right", "cursor_word_right(True)", "select_word_right", "Select one word to the right"),
    ("shift+home", "cursor_line_start(True)", "select_line_start", "Select to the start of the line"),
    ("shift+end", "cursor_line_end(True)", "select_line_end", "Select to the end of the line"),
    ("ctrl+shift+home", "text_start(True)", "select_text_start", "Select to the start of the text"),
    ("ctrl+shift+end", "text_end(True)", "select_text_end", "Select to the end of the text"),
    ("f6", "select_line", "select_line", "Select the line"),
    ("f7", "select_all", "select_all", "Select everything"),
    ("backspace", "delete_left", "delete_left", "Delete the character before the cursor"),
    ("delete", "delete_right", "delete_right", "Delete the character after the cursor"),
    ("ctrl+w,ctrl+backspace,alt+backspace", "delete_word_left", "delete_word_left", "Delete the previous word"),
    ("ctrl+delete,alt+delete", "delete_word_right", "delete_word_right", "Delete the next word"),
    ("ctrl+u,super+backspace", "delete_to_start_of_line", "delete_to_start", "Delete to the start of the line"),
    ("ctrl+k", "delete_to_end_of_line_or_delete_line", "delete_to_end", "Delete to the end of the line, or the line"),
    ("ctrl+shift+k", "delete_line", "delete_line", "Delete the line"),
    ("tab", "indent", "indent", "Indent"),
    ("shift+tab", "dedent", "dedent", "Unindent"),
    ("ctrl+x,super+x", "cut", "cut", "Cut the selection, or the line"),
    ("ctrl+c,super+c", "copy", "copy", "Copy the selection"),
    ("ctrl+v", "paste", "paste", "Paste what was copied or cut here"),
)
"""Keys, action, name and tooltip of a binding."""

KEYS = (
    *(
        Binding(keys, action, name.replace("_", " "), id=f"edit.{name}", tooltip=tooltip, show=False)
        for keys, action, name, tooltip in _KEYS
    ),
    Binding("f8", "line_numbers", "numbers", id="edit.line_numbers", tooltip="Line numbers on/off", show=False),
    Binding("f9", "wrap", "wrap", id="edit.wrap", tooltip="Wrap long lines on/off", show=False),
)
