"""Textual's way from a row of a widget to the terminal, without the steps that lead to nothing here.

A repaint of a whole screen takes Textual 20 to 40 ms of processor time, and a key that opens a screen leads to two or
three. Half of that went to rows behind other widgets and to caches that are never used. What is drawn is the same, to
the cell and the style: `tests/ui/test_textual_drawing.py` compares.

Three faults of its messages are mended here as well: what is closed before it has its widgets is not mounted, what is
called after a refresh may find that they left meanwhile, and the only call of a timer is not left out.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from functools import partial
from inspect import isawaitable
from typing import Any

from rich.segment import Segment
from textual import widget as textual_widget
from textual._border import get_box
from textual._styles_cache import StylesCache
from textual.cache import FIFOCache
from textual.color import Color
from textual.css.query import NoMatches
from textual.css.styles import StylesBase
from textual.events import Event, Mount
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip
from textual.style import Style
from textual.timer import Timer
from textual.widget import MountError, Widget

_STRIP_CACHES = {
    "_divide_cache": 4, "_crop_cache": 16, "_style_cache": 16, "_filter_cache": 4,
    "_line_length_cache": 4, "_crop_extend_cache": 4, "_offsets_cache": 4,
}  # fmt: skip
"""The caches of a strip, with their sizes."""


def draw_faster() -> None:
    """Have Textual draw so, in this process, from the next widget on."""
    Strip.__init__ = _begin_strip  # type: ignore[method-assign, assignment]
    Strip.__getattr__ = _make_strip_cache  # type: ignore[attr-defined]
    vars(textual_widget)["StylesCache"] = RowCache
    Widget.on_event = _handle_unless_closed  # type: ignore[method-assign, assignment]
    Widget.call_after_refresh = _call_after_refresh  # type: ignore[method-assign, assignment]
    Screen.on_event = _handle_and_yield  # type: ignore[method-assign, assignment]
    Timer.__init__ = _begin_timer  # type: ignore[method-assign, assignment]
    Screen._screen_resized = _lay_out_once  # type: ignore[method-assign, assignment]


# Textual handles all messages that wait for a widget at one go. Those of a screen that opens are two layouts and two
# paints of everything, and no key was handled in between.

_LONG_SECONDS = 0.005
"""Processor time of a message of a screen from which on others come next."""


async def _handle_and_yield(screen: Screen[Any], event: Event) -> None:
    began = time.thread_time()
    await _handle_unless_closed(screen, event)
    if time.thread_time() - began > _LONG_SECONDS:
        await asyncio.sleep(0)
        await asyncio.sleep(0)  # twice: timers that are due by now come behind what waits already


async def _handle_unless_closed(widget: Widget, event: Event) -> None:
    """Handle an event, but do not mount what was closed, or whose application was, before it had its widgets.

    A handler of *Mount* looks for them.
    """
    if not isinstance(event, Mount) or not (widget._closing or widget._pruning or not widget.app.is_running):
        await widget._on_message(event)


_call_any_after_refresh = Widget.call_after_refresh


def _call_after_refresh(widget: Widget, callback: Callable[..., Any], *arguments: Any, **options: Any) -> bool:
    """Call something after a refresh, which is that of the topmost screen, and not of the one that is left for it."""
    return _call_any_after_refresh(widget, partial(_call_unless_closed, widget, callback, arguments, options))


async def _call_unless_closed(
    widget: Widget, callback: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    try:
        called = callback(*arguments, **options)
        if isawaitable(called):
            await called
    except (NoMatches, MountError):
        if not (widget._closing or widget._pruning):
            raise


_begin_any_timer = Timer.__init__


def _begin_timer(timer: Timer, *arguments: Any, repeat: int | None = None, skip: bool = True, **options: Any) -> None:
    """Begin a timer, of which the only call is not left out, however late it is.

    A timer of less time than lies between two looks at the clock was never due.
    """
    _begin_any_timer(timer, *arguments, repeat=repeat, skip=skip and repeat != 0, **options)


def _lay_out_once(screen: Screen[Any], size: Size) -> None:
    """Lay out anew, but not for the size that the screen was laid out for when it opened."""
    if screen.stack_updates and screen.is_attached and screen._compositor.size != size:
        screen._refresh_layout(size)


# Each row on screen is up to six strips, one made of the other, with seven caches each, of which most use one or none.


def _begin_strip(strip: Strip, segments: Iterable[Segment], cell_length: int | None = None) -> None:
    strip._segments = list(segments)
    strip._cell_length = cell_length
    strip._render_cache = strip._link_ids = strip._cell_count = None


def _make_strip_cache(strip: Strip, name: str) -> Any:
    """Make a cache of a strip when it is used for the first time."""
    if name not in _STRIP_CACHES:
        raise AttributeError(name)
    cache: FIFOCache[Any, Any] = FIFOCache(_STRIP_CACHES[name])
    setattr(strip, name, cache)
    return cache


class RowCache(StylesCache):
    """Draws the one row of a container once, and finds out once a repaint what goes around the rows of a pane."""

    def __init__(self) -> None:
        super().__init__()
        self._sides: tuple[list[Segment], list[Segment]] | None = None
        self._is_plain: bool | None = None
        """Whether a row is its content between two sides; `None` before the first row of a repaint."""

    def render_widget(self, widget: Widget, crop: Region) -> list[Strip]:
        self._is_plain = None
        if crop.height > 1 and _is_uniform(widget):
            return super().render_widget(widget, Region(crop.x, crop.y, crop.width, 1)) * crop.height
        return super().render_widget(widget, crop)

    def render_line(self, styles: StylesBase, y: int, *arguments: Any) -> Strip:
        size, content_size, padding, base_background, background, draw_content = arguments[:6]
        opacity = arguments[8]
        if self._is_plain is None:
            self._is_plain = not any(padding) and opacity == 1.0 and _has_no_effects(styles)
            self._sides = _make_sides(styles, base_background, background, self) if self._is_plain else None
        row = y - styles.gutter.top
        if self._sides is None or not 0 <= row < content_size.height:
            return super().render_line(styles, y, *arguments)
        content = draw_content(row)
        if content.cell_length != content_size.width:
            inner, _ = self.get_inner_outer(base_background, background)
            content = content.adjust_cell_length(content_size.width, inner.rich_style)
        left, right = self._sides
        return Strip([*left, *content._segments, *right], size.width) if left or right else content


def _is_uniform(widget: Widget) -> bool:
    """Whether all rows of a widget are the same: it only has a background, in front of which others are."""
    styles, draw = widget.styles, type(widget).render
    if draw is Screen.render:
        if styles.background.a < 1:
            return False
    elif draw is not Widget.render or not widget.is_container or str(styles.keyline[0]) != "none":
        return False
    return not any(styles.gutter) and not any(edge for edge, _ in styles.outline)


def _has_no_effects(styles: StylesBase) -> bool:
    return (
        not styles.tint.a
        and styles.text_opacity == 1.0
        and not any(edge for edge, _ in styles.outline)
        and not (styles.has_rule("hatch") and styles.hatch != "none")
    )


def _make_sides(
    styles: StylesBase, base_background: Color, background: Color, cache: StylesCache
) -> tuple[list[Segment], list[Segment]]:
    """The left and the right edge of each row between the upper and the lower one."""
    _, (right, right_color), _, (left, left_color) = styles.border
    inner, outer = cache.get_inner_outer(base_background, background)

    def draw(edge: Any, color: Color, column: int) -> list[Segment]:
        style = Style(foreground=base_background + color.multiply_alpha(1.0))
        return [get_box(edge, inner, outer, style)[1][column]] if edge else []

    return draw(left, left_color, 0), draw(right, right_color, 2)
