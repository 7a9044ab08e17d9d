"""The private parts of Textual that memtui uses, each behind one name.

Those of text documents are in `memtui.ui.widgets.editor.textual_document`, which takes 40 ms to load.
`tests/ui/test_textual_private.py` has the list of private methods that memtui overrides.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from textual._xterm_parser import XTermParser
from textual.app import App
from textual.binding import Binding, BindingsMap
from textual.content import Content
from textual.dom import DOMNode
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.keys import _character_to_key as character_to_key
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.widget import Widget

__all__ = [
    "CHECKED_WITH", "XTermParser", "add_line_filter", "can_suspend", "character_to_key", "get_bindings",
    "get_handler_selectors", "get_handlers", "get_key_bindings", "set_border_titles", "set_local_clipboard",
    "set_virtual_height", "suppress_error_output",
]  # fmt: skip

CHECKED_WITH = "8.2.8"
"""The version of Textual whose private parts were checked."""


def set_virtual_height(view: ScrollView, height: int) -> bool:
    """Set the number of rows of a view without a layout of the whole screen; returns whether it changed."""
    size = Size(0, height)
    if size == view.virtual_size:
        return False
    view.set_reactive(Widget.virtual_size, size)
    if view.is_attached:
        view._scroll_update(size)
    return True


def set_border_titles(pane: Widget, title: str, subtitle: str) -> None:
    """Set the words in the upper and the lower edge of a pane. What is in it is not painted anew."""
    pane._border_title, pane._border_subtitle = Content(title), Content(subtitle)
    (x, y), (width, height) = pane.content_offset, pane.outer_size
    pane.refresh(Region(-x, -y, width, 1), Region(-x, height - 1 - y, width, 1))


def get_bindings(node: DOMNode) -> BindingsMap:
    """The bindings of a node, mutable."""
    return node._bindings


def get_key_bindings(node: DOMNode, key: str) -> Sequence[Binding]:
    """A node's own bindings of a key."""
    return node._bindings.key_to_bindings.get(key, ())


def get_handlers(node: type[DOMNode]) -> dict[type[Message], list[tuple[Any, Any]]]:
    """The handlers of a class that are decorated with `@on`, by message, mutable."""
    return node.__dict__["_decorated_handlers"]  # type: ignore[no-any-return]


def get_handler_selectors(method: Any) -> Sequence[tuple[type[Message], Mapping[str, Any]]]:
    """The messages and selectors of a method that is decorated with `@on`; empty for another one."""
    return getattr(method, "_textual_on", ())


def add_line_filter(app: App[Any], line_filter: LineFilter) -> None:
    app._filters.append(line_filter)


def set_local_clipboard(app: App[Any], text: str) -> None:
    """Set the text that is pasted within the program, without the terminal."""
    app._clipboard = text


def can_suspend(app: App[Any]) -> bool:
    """Whether the program runs in a terminal that it can leave to the shell."""
    return app._driver is not None and app._driver.can_suspend


def suppress_error_output(app: App[Any]) -> None:
    """Drop the tracebacks that Textual would print at the end."""
    app._exit_renderables.clear()
