"""Captions that point at parts of the screen, one after another; any key goes on."""

import math
import re
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.screen import ModalScreen
from textual.widgets import Static

from memtui.agents.demo import DemoCaption, DemoStep
from memtui.core.events import Answer
from memtui.ui.key_names import label_key
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.dialogs import DismissOnceScreen
from memtui.ui.textual_private import get_key_bindings

_KEY = re.compile(r"\{([a-z_.]+)\}")
"""The id of a binding in a caption: its key is shown in its place."""
_DEAF_SECONDS = 0.4
"""A key that was on its way to the screen below does not end a caption that has just come."""
_LOOK_SECONDS = 1.2
"""Until a caption comes: time to see what it is about."""
_OVERLAP = 3
"""Cells that a caption beside a pane covers of it, and rows above one."""


class CaptionScreen(ModalScreen[bool], DismissOnceScreen[bool]):
    """Answers whether the tour goes on: any key but Esc, or a click.

    Args:
        caption: What is shown.
        step: Such as `2 of 4`.
        find_target: Returns where the caption points; an empty region where that is not shown.
    """

    DEFAULT_CSS = """
    CaptionScreen {
        background: transparent;
        & > Static {
            width: auto; max-width: 46; height: auto; padding: 0 1;
            background: $panel; color: $foreground; border: round $accent; border-title-color: $accent;
            border-title-style: bold; border-subtitle-color: $foreground-muted;
        }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "end", "end", id="tour.end", tooltip="End the tour")]

    def __init__(self, caption: DemoCaption, step: str, find_target: Callable[[], Region]) -> None:
        super().__init__()
        self._caption = caption
        self._step = step
        self._find_target = find_target
        self._from = math.inf

    def compose(self) -> ComposeResult:
        box = Static(_KEY.sub(lambda match: label_key(match[1]), self._caption.text), markup=False)
        box.border_title = self._caption.title
        box.border_subtitle = f"{self._step}  any key: next  {label_key('tour.end')}: end"
        yield box

    def on_mount(self) -> None:
        self._from = time.monotonic() + _DEAF_SECONDS
        self.call_after_refresh(self._place)

    def on_resize(self) -> None:
        self.call_after_refresh(self._place)

    def on_key(self, event: events.Key) -> None:
        if get_key_bindings(self, event.key) or any(
            each.id == "app.copy" for each in get_key_bindings(self.app, event.key)
        ):
            return  # Ctrl+C leaves the program
        event.stop()
        event.prevent_default()
        if time.monotonic() >= self._from:
            self.dismiss(True)

    def action_end(self) -> None:
        self.dismiss(False)

    def on_click(self) -> None:
        self.dismiss(True)

    def _place(self) -> None:
        box = self.query_one(Static)
        box.styles.offset = place_beside(self._find_target(), box.outer_size, self.size)


def place_beside(target: Region, box: Size, screen: Size) -> tuple[int, int]:
    """Where a box goes that points at a target: over its inner edge, and within the screen."""
    if not target.area:
        x, y = (screen.width - box.width) // 2, (screen.height - box.height) // 2
    elif target.width * 2 > screen.width and target.height * 2 <= screen.height:  # a pane below or above
        x = target.x + _OVERLAP
        y = target.y - box.height if target.y > box.height else target.bottom
    else:
        is_left = target.x + target.width / 2 < screen.width / 2
        x = target.right - _OVERLAP if is_left else target.x - box.width + _OVERLAP
        y = target.y + 2
    return max(0, min(x, screen.width - box.width)), max(0, min(y, screen.height - box.height))


class TourGuide:
    """Shows captions after steps of the story, which waits for the person meanwhile.

    Args:
        app: The application.
        stop: Set where the person leaves.
        captions: In order; what is left of them is dropped where the person ends the tour.
    """

    def __init__(self, app: App[Any], stop: threading.Event, captions: Sequence[DemoCaption]) -> None:
        self._app = app
        self._stop = stop
        self._captions = list(captions)
        self._count = len(captions)
        self._steps = 0

    def follow(self, _step: DemoStep, _answer: Answer) -> None:
        """A step was taken; in the thread of the story."""
        self._steps += 1
        while self._captions and self._captions[0].after <= self._steps and not self._stop.wait(_LOOK_SECONDS):
            caption = self._captions.pop(0)
            answered = threading.Event()
            self._app.call_later(self._show, caption, answered)
            while not answered.wait(0.1) and not self._stop.is_set():
                pass

    def _show(self, caption: DemoCaption, answered: threading.Event) -> None:
        screen = self._app.screen
        if not isinstance(screen, BrowseScreen):  # the person looks at something else
            answered.set()
            return

        def find_target() -> Region:
            found = screen.query(caption.target)
            return found.first().region if found else Region()

        def end(goes_on: bool | None) -> None:
            if not goes_on:
                self._captions.clear()
            answered.set()

        step = f"{self._count - len(self._captions)} of {self._count}"
        self._app.push_screen(CaptionScreen(caption, step, find_target), end)
