"""`memtui serve --web`: the read-only browser of a folder in a web browser on this machine.

The server admits requests (`gate`), and passes messages between a page and a process of its own (`server`). That
process runs the browser (`memtui.ui.web_viewer`). The page has no emulator of a terminal: it gets cells, sends keys.

Messages are JSON, one to a line. From the page they are arrays: `["hello", columns, rows, is_light]` first, then
`["size", columns, rows]`, `["key", name, modifiers]`, `["text", typed]`, `["paste", text]`,
`["mouse", kind, x, y, button, modifiers]`, `["focus", whether]` and `["ack", number of a frame]`. To the page they are
objects: a frame, as `memtui.ui.web_frames` makes it, or `{"end": sentence}`.
"""

MOST_MESSAGE_BYTES = 65_536
"""Bytes of a message from a page."""
MOST_FRAME_BYTES = 8_388_608
"""Bytes of a message to a page."""
MOST_COLUMNS, MOST_ROWS = 400, 150
"""Cells of a screen."""
