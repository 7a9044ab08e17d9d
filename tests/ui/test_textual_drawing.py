"""The shorter way from a widget to the terminal draws what Textual's own way draws."""

import contextlib
import itertools
import time
from pathlib import Path

import pytest
from textual._styles_cache import StylesCache
from textual.app import App, ComposeResult
from textual.containers import Container, Horizontal
from textual.css.query import NoMatches
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from memtui.ui.app import MemtuiApp
from memtui.ui.textual_drawing import RowCache, draw_faster
from memtui.ui.widgets.tree.view import TreeView
from tests.ui.conftest import until


class Edges(App[None]):
    """Widgets with each kind of thing around their rows, and containers with a background."""

    CSS = """
    Screen { background: #102030; }
    Static { width: 20; height: 4; background: #203040; color: white; }
    #round { border: round red; }
    #thick { border: thick yellow; border-title-color: green; }
    #left { border-left: heavy blue; }
    #top { border-top: heavy blue; border-bottom: ascii red; }
    #padded { padding: 1 2; border: solid red; }
    #outlined { outline: double green; }
    #tinted { tint: red 40%; border: solid blue; }
    #faint { opacity: 50%; border: solid blue; }
    #pale { text-opacity: 40%; border: solid blue; }
    #hatched { hatch: cross green; border: solid blue; }
    #row { height: 6; background: $primary 20%; }
    #framed { height: 6; border: dashed red; }
    #see-through { height: 6; background: red 30%; opacity: 70%; }
    """

    def compose(self) -> ComposeResult:
        for name in ("round", "thick", "left", "top", "padded"):
            with Horizontal(id="row" if name == "round" else None):
                yield Static(f"{name}\n漢字 and a line that is too long for it\n\n", id=name)
        with Container(id="framed"):
            for name in ("outlined", "tinted", "faint"):
                yield Static(f"{name}\n[b]bold[/b]", id=name)
        with Container(id="see-through"):
            for name in ("pale", "hatched"):
                yield Static(f"{name}\nwords", id=name)

    def on_mount(self) -> None:
        self.query_one("#thick").border_title = "a title"
        self.query_one("#round").border_subtitle = "below"


def draw(cache: StylesCache, widget: Widget, crop: Region) -> list[Strip]:
    return cache.render_widget(widget, crop)


def compare(widget: Widget) -> None:
    size = widget.region.size
    for crop in (size.region, Region(2, 1, max(size.width - 3, 1), max(size.height - 1, 1))):
        if size.width > 3 and size.height > 1:
            assert draw(RowCache(), widget, crop) == draw(StylesCache(), widget, crop), widget


async def test_each_kind_of_edge_is_drawn_as_textual_draws_it() -> None:
    app = Edges()
    async with app.run_test(size=(100, 60)):
        for widget in [app.screen, *app.screen.query("*")]:
            compare(widget)


@pytest.mark.parametrize("theme", ["textual-dark", "catppuccin-latte", "ansi-dark"])
async def test_the_browser_is_drawn_as_textual_draws_it(
    tmp_path: Path, theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, defaults = time.time_ns(), TreeView.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "now", lambda: now)  # no file grows older between the two
    (tmp_path / "note.md").write_text("# A note\n\nWith *words* and 漢字.\n\n- one\n- two\n" * 9, encoding="utf-8")
    app = MemtuiApp(str(tmp_path), state=str(tmp_path.with_name("state")))
    async with app.run_test(size=(120, 36)) as pilot:
        app.theme = theme
        await until(pilot, lambda: "A note" in "".join(strip.text for strip in app.screen._compositor.render_strips()))
        for widget in [app.screen, *app.screen.query("*")]:
            if widget.region and widget.display:
                compare(widget)


class Seeker(Widget):
    """A widget that looks for a part of its own when it is mounted."""

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static(id="here")

    def on_mount(self) -> None:
        self.query_one("#here").border_title = "found"


class SeekingScreen(Seeker, Screen[None]):
    """A screen that does so."""


@pytest.mark.parametrize("kind", [Seeker, SeekingScreen])
@pytest.mark.parametrize("closed", ["by its application", "by itself", "with its application", None])
async def test_what_is_closed_before_it_has_its_widgets_is_not_mounted(
    tmp_path: Path, closed: str | None, kind: type[Seeker]
) -> None:
    app = MemtuiApp(str(tmp_path), state=str(tmp_path.with_name("state")))
    async with app.run_test() as pilot:
        seeker = kind()
        if isinstance(seeker, SeekingScreen):
            app.push_screen(seeker)
        else:
            app.screen.mount(seeker)
        if closed == "by its application":
            await seeker._close_messages(wait=False)
        elif closed == "by itself":
            seeker.dismiss() if isinstance(seeker, SeekingScreen) else seeker.remove()
        app._running = closed != "with its application"
        await until(pilot, lambda: seeker._is_mounted)
        app._running = True
        assert [widget.border_title for widget in seeker.query("#here")] == ([] if closed else ["found"])


@pytest.mark.parametrize("closed", [True, False])
async def test_what_is_called_after_a_refresh_may_find_that_its_widgets_left(tmp_path: Path, closed: bool) -> None:
    app = MemtuiApp(str(tmp_path), state=str(tmp_path.with_name("state")))
    called = []

    def look_for_a_widget() -> None:
        called.append("once")
        seeker.query_one("#left-before")

    with contextlib.nullcontext() if closed else pytest.raises(NoMatches):
        async with app.run_test() as pilot:
            seeker = SeekingScreen()
            await app.push_screen(seeker)
            seeker._pruning = closed  # as it is from the moment on that the screen is left
            seeker.call_after_refresh(look_for_a_widget)
            await until(pilot, lambda: called)
            seeker._pruning = False
    assert called == ["once"]


async def test_what_is_due_at_once_is_done_however_slow_the_machine_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, seconds, done = MemtuiApp(str(tmp_path), state=str(tmp_path.with_name("state"))), itertools.count(), []
    async with app.run_test() as pilot:
        with monkeypatch.context() as slow:
            slow.setattr("textual.timer._time.get_time", lambda: float(next(seconds)))
            app.set_timer(0.001, lambda: done.append("once"))
            await until(pilot, lambda: done)
    assert done == ["once"]


def test_a_strip_makes_the_caches_that_are_used() -> None:
    draw_faster()
    strip = Strip.blank(10)
    assert strip.crop(0, 4) is strip.crop(0, 4)
    assert strip.divide([4, 10]) is strip.divide([4, 10])
    assert strip.crop(2, 5).cell_length == 3
    with pytest.raises(AttributeError, match="_no_such_cache"):
        strip._no_such_cache  # type: ignore[attr-defined]  # noqa: B018
