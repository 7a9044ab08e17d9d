"""The private parts of Textual that memtui uses, each behind one name.

Those of text documents are in `memtui.ui.widgets.editor.textual_document`, which takes 40 ms to load.
`tests/ui/test_textual_private.py` has the list of private methods that memtui overrides.
"""

from collections.abc import Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

from textual._xterm_parser import XTermParser
from textual.app import App
from textual.binding import Binding, BindingsMap
from textual.cache import LRUCache
from textual.content import Content
from textual.css.styles import RenderStyles
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.events import Event
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.keys import _character_to_key as character_to_key
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.widget import Widget

__all__ = [
    "CHECKED_WITH", "LazyStyles", "XTermParser", "add_line_filter", "add_styles_ahead", "can_suspend",
    "character_to_key", "get_bindings", "get_handler_selectors", "get_handlers", "get_key_bindings",
    "keep_parsed_styles", "set_border_titles", "set_local_clipboard", "set_virtual_height", "suppress_error_output",
]  # fmt: skip

CHECKED_WITH = "8.2.8"
"""The version of Textual whose private parts were checked."""


class LazyStyles(Widget):
    """Has the styles of those component classes only that were drawn.

    Textual makes those of all classes whenever a widget is styled, which it is several times before the first frame:
    half of the time to it went to roles that no note on screen had.
    """

    ROLE_CSS: ClassVar[str] = ""
    """Styles of component classes, like `DEFAULT_CSS`, which are parsed when the first of them is drawn."""

    _drawn_classes: frozenset[str] = frozenset()

    def _get_component_classes(self) -> frozenset[str]:  # type: ignore[override] # of an instance, not of its class
        """The classes that Textual makes anew with each style of the widget, so that a change repaints it."""
        return self._drawn_classes

    def get_component_styles(self, *names: str) -> RenderStyles:
        for name in names:
            if name not in self._component_styles and name in super()._get_component_classes():
                if self.ROLE_CSS:
                    source, scope = (type(self).__module__, f"{self._css_type_name}.ROLE_CSS"), self._css_type_name
                    self.app.stylesheet.add_source(self.ROLE_CSS, source, is_default_css=True, scope=scope)
                self._drawn_classes |= {name}
                node = DOMNode(classes=name)
                node._attach(self)
                self.app.stylesheet.apply(node)
                self._component_styles[name] = node.styles
        return super().get_component_styles(*names)


class _KeptStylesheet(Stylesheet):
    """Parses a source once for each theme, however often Textual asks: twice before the first frame.

    Textual itself keeps 64 sources, so with more widgets than that each new one has it parse them all.
    """

    def __init__(self, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._parse_cache = LRUCache(1_000)

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._variables:
            super().set_variables(variables)

    def reparse(self) -> None:
        self.parse()


def keep_parsed_styles(app: App[Any]) -> None:
    """Have an application parse its styles once."""
    app.stylesheet = _KeptStylesheet(app.stylesheet._variables)


def add_styles_ahead(app: App[Any], module: ModuleType) -> None:
    """Parse the styles of the widgets that a module makes, before the first of them is mounted."""
    for kind in list(vars(module).values()):
        if isinstance(kind, type) and issubclass(kind, Widget):
            bases: Any = SimpleNamespace(_node_bases=kind._css_bases(kind))
            for location, css, tie_breaker, scope in DOMNode._get_default_css(bases):
                app.stylesheet.add_source(css, location, True, tie_breaker, scope)
    app.stylesheet.rules_map  # noqa: B018 - is made here


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
    """Set the words in the upper and the lower edge of a pane. Only an edge with other words is painted anew."""
    before = pane._border_title, pane._border_subtitle
    pane._border_title, pane._border_subtitle = after = Content(title), Content(subtitle)
    (x, y), (width, height) = pane.content_offset, pane.outer_size
    edges = Region(-x, -y, width, 1), Region(-x, height - 1 - y, width, 1)
    if changed := [edge for edge, old, new in zip(edges, before, after, strict=True) if old != new]:
        pane.refresh(*changed)


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


def forward_event(widget: Widget, event: Event) -> None:
    """Hand an event to a widget as the application does, which would hand it on once more and then stop it else."""
    widget._forward_event(event)


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
