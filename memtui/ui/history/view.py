"""The versions of a path on screen, the newest first."""

import time
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from memtui.core.history import PathVersion
from memtui.ui import wording
from memtui.ui.history.row import Key, Palette, draw, key_of
from memtui.ui.rows import RowsView

_ROLES = ("agent", "you", "outside", "added", "removed", "changed", "moved", "letter", "held", "cursor")


class VersionsView(RowsView):
    """What a path has been through.

    Args:
        id: The widget's id in the DOM.
        classes: Its CSS classes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="versions.open", tooltip="Read what this version changed", show=False),
        Binding(
            "space", "pick", "pick", id="versions.pick", tooltip="Compare any two: pick one, then another", show=False
        ),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"versions--{role}" for role in _ROLES}

    DEFAULT_CSS = """
    VersionsView {
        background: $background;
        & > .versions--agent { color: $text-primary; }
        & > .versions--you { text-style: bold; }
        & > .versions--outside, & > .versions--changed { color: $text-warning; }
        & > .versions--added { color: $text-success; }
        & > .versions--removed { color: $text-error; }
        & > .versions--moved { color: $text-primary; }
        & > .versions--letter { color: $text-accent; text-style: bold; }
        & > .versions--held { color: $text-accent; text-style: bold reverse; }
        & > .versions--cursor {
            color: $block-cursor-blurred-foreground;
            background: $block-cursor-blurred-background;
            text-style: $block-cursor-blurred-text-style;
        }
        &:focus > .versions--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
    }
    """

    class _About(Message):
        def __init__(self, view: "VersionsView", version: PathVersion) -> None:
            super().__init__()
            self.view = view
            self.version = version

        @property
        def control(self) -> "VersionsView":
            """The widget that says so."""
            return self.view

    class Highlighted(_About):
        """The cursor went to another version."""

        def can_replace(self, message: Message) -> bool:
            """Only the last place of a moving cursor matters."""
            return isinstance(message, VersionsView.Highlighted) and message.view is self.view

    class Opened(_About):
        """The person wants to read what the version changed."""

    class Picked(_About):
        """The person wants to compare the version with another one."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._versions: Sequence[PathVersion] = ()
        self._letters: Mapping[Key, str] = {}
        self._held: Collection[Key] = ()
        self._palette: Palette | None = None
        self._ages: list[str] = []

    @property
    def row_count(self) -> int:
        """How many versions there are."""
        return len(self._versions)

    @property
    def versions(self) -> Sequence[PathVersion]:
        """The versions, newest first."""
        return self._versions

    @property
    def cursor_version(self) -> PathVersion | None:
        """The version under the cursor."""
        return self._versions[self._row] if self._versions else None

    def mark(self, letters: Mapping[Key, str], held: Collection[Key]) -> None:
        """Put letters beside the two versions that are compared.

        Args:
            letters: Which versions, and with which letter.
            held: Those that the person picked, and that stay when the cursor moves.
        """
        self._letters, self._held = letters, held
        self.refresh()

    def show(self, versions: Sequence[PathVersion]) -> None:
        """Show versions; the cursor stays on its own, and what is in view stays where it is.

        Args:
            versions: Newest first.
        """
        current = self.cursor_version
        place = self._row - self.scroll_offset.y
        self._versions = versions
        if current is not None:
            key = key_of(current)
            self._row = next((row for row, each in enumerate(versions) if key_of(each) == key), 0)
        self._row = max(0, min(self._row, len(versions) - 1))
        self._fit_height()
        self.scroll_to(y=max(0, self._row - place), animate=False)
        self._bring_into_view()
        self.refresh()

    def go_to(self, seq: int) -> None:
        """Put the cursor on the version of an event; on the newest that is not younger, if it has none."""
        rows = (row for row, each in enumerate(self._versions) if each.event.seq <= seq)
        self._go(next(rows, self.row_count - 1))

    def pass_time(self) -> None:
        """Draw the ages again if one that is in view is another word by now."""
        top = self.scroll_offset.y
        now = time.time()
        ages = [wording.age(max(0.0, now - each.at_us / 1e6)) for each in self._versions[top : top + self._page]]
        if ages != self._ages:
            self._ages = ages
            self.refresh()

    def _go(self, row: int) -> None:
        if not self._versions:
            return
        row = max(0, min(row, len(self._versions) - 1))
        if row != self._row:
            self._row = row
            self.post_message(self.Highlighted(self, self._versions[row]))
        self._bring_into_view()
        self.refresh()

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self._fit_height()
        self._bring_into_view()

    def action_open(self) -> None:
        """Read what the version changed."""
        if (version := self.cursor_version) is not None:
            self.post_message(self.Opened(self, version))

    def action_pick(self) -> None:
        """Compare the version with another one."""
        if (version := self.cursor_version) is not None:
            self.post_message(self.Picked(self, version))

    def on_click(self, event: events.Click) -> None:
        """Select a version; a double click opens it."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        row = self.scroll_offset.y + offset.y
        if row < len(self._versions):
            event.stop()
            self._go(row)
            if event.chain == 2:
                self.action_open()

    # Paint

    def notify_style_update(self) -> None:
        """The theme or the focus changed: resolve the styles again when a row is next drawn."""
        self._palette = None
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget; see `ScrollView`."""
        if self._palette is None:
            styles = {role: self.get_component_rich_style(f"versions--{role}") for role in _ROLES}
            self._palette = Palette(plain=self.rich_style, **styles)
        width = self.scrollable_content_region.width
        row = self.scroll_offset.y + y
        if row >= len(self._versions):
            return Strip.blank(width, self._palette.plain)
        version = self._versions[row]
        key = key_of(version)
        return draw(
            version,
            width,
            self._palette,
            newest=row == 0,
            letter=self._letters.get(key, ""),
            held=key in self._held,
            cursor=row == self._row,
        )
