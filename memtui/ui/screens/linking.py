"""The keys of the browser that go from a note to what it is about: details, links, the clipboard.

What they need is loaded when they are pressed: none of it is there before the first paint.
"""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on, work
from textual.binding import Binding, BindingType

from memtui.core.errors import Closed, MemtuiError
from memtui.core.paths import ROOT_NAME
from memtui.core.visible import one_line
from memtui.ui.change import ChangeView
from memtui.ui.messages import Read
from memtui.ui.note.view import NoteView
from memtui.ui.preview import Preview
from memtui.ui.screens.menu import Choice, MenuScreen
from memtui.ui.screens.taking import PastKeys

if TYPE_CHECKING:  # loaded when a key asks for it, behind the first paint
    from memtui.engine import Engine
    from memtui.notes.links import Link
    from memtui.search.finder import Finder
    from memtui.ui.linking.goals import Goal, Inside, Outside
    from memtui.ui.linking.texts import Texts

_TRAIL = 100
"""Places that are kept to go back to."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a person was when she went along a link.

    Attributes:
        path: The note, relative to the folder.
        row: The first row in view.
        link: Which link was followed, from 0.
    """

    path: str
    row: int
    link: int


class Linking(PastKeys):
    """A screen over a memory, in which links are followed and notes are looked at more closely."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "i", "details", "details", id="browse.details", tooltip="Size, tokens, who, when, hash, and links",
            show=False,
        ),
        Binding(
            "colon_origin", "origin", "origin", id="browse.origin",
            tooltip="Who asked for these lines: the session, the prompt and the call", show=False,
        ),
        Binding("backspace", "go_back_along", "back", id="browse.link_back", tooltip="Back from a link", show=False),
        Binding("y", "copy", "copy", id="browse.copy", tooltip="Copy path, content, diff or call", show=False),
    ]  # fmt: skip

    note = getters.query_one("#note", NoteView)
    change = getters.query_one(ChangeView)

    _preview: Preview
    _finder: "Finder | None"
    _trail: "tuple[Place, ...]" = ()
    _place_wanted: Place | None = None

    def on_mount(self) -> None:
        """Links of the note can be followed here."""
        self.note.follows_links = True

    def open_at(self, path: str, line: int | None, text: str) -> None:
        """Go to a note."""
        raise NotImplementedError

    # Along links, and back

    @on(NoteView.LinkChosen)
    def _say_where(self, message: NoteView.LinkChosen) -> None:
        """Say where the link leads that is marked."""
        link = message.link
        if link is None:
            self.message.say("There is no link in this note.")
            return
        from memtui.ui.linking.goals import short  # deferred: not needed for the first paint

        kind = "Outside" if link.kind == "url" else "To"
        self.message.say(
            f"Link {message.number:,} of {message.count:,}. {kind}: {short(link.target)}",
            hint="Enter follows it  l L others  Backspace back",
        )

    @on(NoteView.LinkWanted)
    def _follow_link(self, message: NoteView.LinkWanted) -> None:
        path = self.files.cursor_path
        if path is not None:
            self._follow(message.link, message.source, path)

    @work(exclusive=True, group="follow link")
    async def _follow(self, link: "Link", source: str, path: str) -> None:
        """Find out where a link leads, and go there."""
        from memtui.ui.linking.goals import Inside, Nowhere, Outside  # deferred: not needed for the first paint

        engine = self._session.engine
        if engine is None:
            return
        try:
            goal = await asyncio.to_thread(self._goal, engine, link, source, path)
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            self.message.say(str(error), warning=True)
            return
        match goal:
            case Inside():
                self._go_inside(goal, path)
            case Outside():
                await self._ask_outside(goal)
            case Nowhere():
                self.message.say(goal.words, warning=True)

    def _goal(self, engine: "Engine", link: "Link", source: str, path: str) -> "Goal":
        from memtui.ui.linking.goals import goal_of  # deferred: as above

        texts = self._texts(engine)
        return goal_of(link, source=source, path=path, places=texts.places, text_of=texts.text_of)

    def _texts(self, engine: "Engine") -> "Texts":
        """The texts of the folder; shared with find, so that they are in memory once. From a thread."""
        from memtui.search.finder import Finder  # deferred: as above
        from memtui.ui.linking.texts import Texts

        if self._finder is None or self._finder.engine is not engine:
            self._finder = Finder(engine)
        return Texts(self._finder)

    def _go_inside(self, goal: "Inside", path: str) -> None:
        """Go to a note, or to another place in this one."""
        self._remember_place(path)
        if goal.path == path and goal.line is not None:
            self.note.reveal_line(goal.line)
        elif goal.path != path:
            self.open_at(goal.path, goal.line, "")
        if goal.words:
            self.message.say(goal.words, warning=True)
        elif goal.path != path:
            self.message.say(f"{one_line(goal.path)}.", hint="Backspace goes back")

    def _remember_place(self, path: str) -> None:
        place = Place(path, self.note.scroll_offset.y, self.note.chosen_link)
        self._trail = (*self._trail, place)[-_TRAIL:]

    async def _ask_outside(self, goal: "Outside") -> None:
        """Show where it leads, and open it only if the person says so."""
        from memtui.ui.linking.outside import OutsideScreen, open_outside  # deferred: as above

        answer = await self.app.push_screen_wait(OutsideScreen(goal))
        if answer == "copy":
            await self._copy_text(goal.address, "the address")
        elif answer == "open":
            if await asyncio.to_thread(open_outside, goal.address):
                self.message.say(f"Opened outside: {goal.host}.")
            else:
                await self._copy_text(goal.address, "the address", before="Nothing here can open it. ")

    def action_go_back_along(self) -> None:
        """Back to where the last link was followed."""
        if not self._trail:
            self.message.say("There is nothing to go back to: no link was followed.")
            return
        *trail, place = self._trail
        self._trail = tuple(trail)
        self.message.say(f"Back in {one_line(place.path)}.")
        if place.path == self.files.cursor_path:
            self._return_to(place)
            return
        self._place_wanted = place
        self.open_at(place.path, None, "")

    @on(Read)
    def _back_in_place(self, message: Read) -> None:
        """The note is shown again: the same rows, and the link that was followed."""
        place, self._place_wanted = self._place_wanted, None
        if place is not None and place.path == message.path:
            self.call_after_refresh(self._return_to, place)

    def _return_to(self, place: Place) -> None:
        self.note.scroll_to(y=place.row, animate=False)
        self.note.choose_link(place.link)

    # Details

    @work
    async def action_details(self) -> None:
        """What there is to say of what is under the cursor."""
        engine, path = self._session.engine, self.files.cursor_path
        if engine is None or path is None:
            return
        from memtui.notes.links import Backlink  # deferred: not needed for the first paint
        from memtui.ui.screens.details import DetailsScreen

        outline = self.files.outline
        marks = ["pinned"] if outline.is_pinned(path) else []
        marks += ["protected from agents"] if self.files.is_protected(path) else []
        screen = DetailsScreen(
            engine, path, folder=self._session.folder, marks=tuple(marks), texts=lambda: self._texts(engine)
        )
        chosen = await self.app.push_screen_wait(screen)
        if isinstance(chosen, Backlink):
            self._remember_place(path)
            self.open_at(chosen.path, chosen.link.line, "")
            self.message.say(f"{one_line(chosen.path)}.", hint="Backspace goes back")
        elif chosen is not None:
            seen = await asyncio.to_thread(engine.look, path)
            self._follow(chosen, (seen.data or b"").decode("utf-8", "replace"), path)

    def action_origin(self) -> None:
        """Where the lines of the note come from, from the first one in view on."""
        engine, path = self._session.engine, self.files.cursor_path
        if engine is None or path is None:
            return
        from memtui.ui.screens.origin import OriginScreen  # deferred: as above

        line, folder, state = self.note.first_line, self._session.folder, self._session.state
        self.app.push_screen(OriginScreen(engine, path, line, folder=folder, state=state))

    # Copying

    @work
    async def action_copy(self) -> None:
        """Ask what to copy, and copy it."""
        path = self.files.cursor_path
        if path is None:
            return
        engine, at = self._session.engine, self._event_here()
        event = await asyncio.to_thread(engine.history.event, at) if engine is not None and at is not None else None
        call = event.call_id if event else None
        if event is None and self.change.change is not None:
            call = self.change.change.event.call_id
        real = f"{self._session.folder}/{path}"
        stem = path.rpartition(".")[0] or path
        what = {
            "p": ("path, as the agent calls it", "path", f"{ROOT_NAME}/{path}"),
            "c": ("content of the note", "content", self._preview.text),
            "d": ("diff of the last change", "diff", self._patch()),
            "i": ("id of the call that changed it", "call id", call or ""),
            "r": ("path of the file", "path of the file", real),
            "l": (f"link to it: [[{stem}]]", "link", f"[[{stem}]]"),
            "t": ("target of the chosen link", "target", self.note.chosen_target),
        }
        choices = tuple(Choice(key, label, key) for key, (label, _, text) in what.items() if text)
        chosen = await self.app.push_screen_wait(MenuScreen("Copy", choices))
        if chosen:
            _, name, text = what[chosen]
            await self._copy_text(text, name)

    def _patch(self) -> str:
        """The last change of the note as a unified diff; empty if there is none to show."""
        change = self.change.change
        return "".join(f"{line}\n" for line in change.diff) if change is not None and change.diff else ""

    async def _copy_text(self, text: str, name: str, *, before: str = "") -> None:
        from memtui.ui import clipboard  # deferred: not needed for the first paint

        try:
            way = await clipboard.copy(self.app, text)
        except clipboard.CannotCopy as error:
            self.message.say(f"{before}{await clipboard.offer_file(self.app, text, error)}", warning=True)
        else:
            self.message.say(f"{before}Copied {name} ({way}).")
