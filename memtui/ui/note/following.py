"""The keys and the mouse with which a person goes along the links of a note. Where they lead is not decided here."""

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.scroll_view import ScrollView

from memtui.ui.note.document import Document, Found

if TYPE_CHECKING:  # loaded when somebody looks for links, behind the first paint
    from memtui.notes.links import Link
    from memtui.ui.note.links import Links

_ACTIONS = frozenset({"next_link", "previous_link", "follow_link"})


class Following(ScrollView):
    """A note whose links can be chosen and followed, where somebody has set `follows_links`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter", "follow_link", "Follow link", id="note.follow_link",
            tooltip="Choose the first link in view, or follow the one that is chosen", show=False,
        ),
        Binding("l", "next_link", "Next link", id="note.next_link", tooltip="To the next link", show=False),
        Binding(
            "L", "previous_link", "Previous link", id="note.previous_link", tooltip="To the link before", show=False
        ),
    ]  # fmt: skip

    class LinkChosen(Message):
        """A link is marked, or there is none to mark."""

        def __init__(self, link: "Link | None", number: int = 0, count: int = 0) -> None:
            """Tell which one.

            Args:
                link: The link, as it is read without regard to where the note is.
                number: Which one, from 1.
                count: How many there are.
            """
            super().__init__()
            self.link = link
            self.number = number
            self.count = count

    class LinkWanted(Message):
        """A person wants to go where a link leads."""

        def __init__(self, link: "Link", source: str) -> None:
            """Tell which one.

            Args:
                link: The link.
                source: The text that it stands in.
            """
            super().__init__()
            self.link = link
            self.source = source

    follows_links = False
    """Whether links can be followed where this note is shown."""

    _document: Document
    _links: "Links | None" = None
    _chosen = -1

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Links are followed only where somebody follows them; elsewhere their keys are free."""
        del parameters
        return self.follows_links or action not in _ACTIONS

    def action_next_link(self) -> None:
        """To the next link, from what is in view on, round the end."""
        self._choose(1)

    def action_previous_link(self) -> None:
        """To the link before, round the start."""
        self._choose(-1)

    def action_follow_link(self) -> None:
        """Follow the chosen link; choose one first."""
        links = self._known_links()
        if 0 <= self._chosen < len(links.links):
            self.post_message(self.LinkWanted(links.links[self._chosen], links.source))
        else:
            self._choose(1)

    @property
    def chosen_link(self) -> int:
        """Which link is marked, from 0; -1 for none."""
        return self._chosen if self._links is not None and self._links.is_of(self._document) else -1

    @property
    def chosen_target(self) -> str:
        """Where the marked link leads, as it is written; empty if none is marked."""
        chosen = self.chosen_link
        return self._links.links[chosen].target if self._links is not None and chosen >= 0 else ""

    def choose_link(self, number: int) -> None:
        """Mark a link again, or none.

        Args:
            number: Which one, from 0; -1 for none.
        """
        self._chosen = number if 0 <= number < len(self._known_links().links) else -1
        self._redraw()

    def on_click(self, event: events.Click) -> None:
        """A click on a link follows it."""
        if not self.follows_links or event.button != 1 or self.text_selection is not None:
            return
        number = self._link_at(event)
        if number is not None:
            event.stop()
            self._chosen = number
            self._redraw()
            links = self._known_links()
            self.post_message(self.LinkWanted(links.links[number], links.source))

    def _known_links(self) -> "Links":
        """The links of what is shown."""
        if self._links is None or not self._links.is_of(self._document):
            from memtui.ui.note.links import Links  # deferred: not needed for the first paint

            self._links = Links(self._document)
            self._chosen = -1
        return self._links

    def _choose(self, step: int) -> None:
        links = self._known_links()
        count = len(links.links)
        if not count:
            self.post_message(self.LinkChosen(None))
            return
        top, bottom = self.scroll_offset.y, self.scroll_offset.y + self.scrollable_content_region.height
        if self._chosen >= 0 and top <= links.row(self._chosen) < bottom:
            self._chosen = (self._chosen + step) % count
        else:
            row = self._document.row(top)
            first = links.first_from(top, row[2].first if row else 0)
            self._chosen = first if step > 0 or links.row(first) < bottom else (first - 1) % count
        at = links.row(self._chosen)
        if not top <= at < bottom:
            self.scroll_to(y=max(0, at - self.scrollable_content_region.height // 3), animate=False)
        self._redraw()
        self.post_message(self.LinkChosen(links.links[self._chosen], self._chosen + 1, count))

    def _link_at(self, event: events.Click) -> int | None:
        """The link under the mouse."""
        offset = event.get_content_offset(self)
        found = None if offset is None else self._document.row(offset.y + self.scroll_offset.y)
        if offset is None or found is None:
            return None
        chunk, inner, row = found
        cells, character = offset.x - self._gutter(), 0
        for character, letter in enumerate(row.text):
            cells -= cell_len(letter)
            if cells < 0:
                return self._known_links().under(chunk, inner, character)
        return None

    def _chosen_places(self, chunk: int, inner: int) -> list[Found]:
        """Where the chosen link is drawn in a row."""
        if self._chosen < 0 or self._links is None:
            return []
        if not self._links.is_of(self._document):
            self._chosen = -1
            return []
        return [place for place in self._links.places(self._chosen) if (place.chunk, place.row) == (chunk, inner)]

    def _gutter(self) -> int:
        """Cells to the left of the text."""
        raise NotImplementedError

    def _redraw(self) -> None:
        """Draw everything anew."""
        raise NotImplementedError
