"""Offers to rewrite the links that an agent or another program broke by renaming a note."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message

from memtui.core.events import Event
from memtui.core.lazy_dataclass import dataclass
from memtui.ui.controller import controller_work
from memtui.ui.messages import EventsRecorded, report_errors
from memtui.ui.screens.folder import FolderController

_MOST_FILES = 5_000
"""Files of a folder in which it is looked unasked: the first time, all its notes are read."""
_MOST_EVENTS = 20
"""Renames at once, of which each is looked at."""


class RelinkController(FolderController):
    """Rewrites the links behind the last rename that broke some (`:relink`)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("colon_relink", "relink", "relink", id="browse.relink",
                tooltip="Rewrite the links that a rename by an agent or another program broke", show=False),
    ]  # fmt: skip

    @dataclass(eq=False)
    class _LinksBroken(Message):
        event: Event
        words: str

    _broken: Event | None = None

    @on(EventsRecorded)
    def _look_at_renames(self, message: EventsRecorded) -> None:
        moving = [event for event in message.events if event.moved or event.new_path is not None]
        if moving and self.files.outline.files <= _MOST_FILES:
            self._look_in_thread(moving[-_MOST_EVENTS:])

    @controller_work(thread=True, group="relink", exit_on_error=False)
    def _look_in_thread(self, events: Sequence[Event]) -> None:
        from memtui.flows import foreign_renames as flows  # noqa: PLC0415 - start-up: loads the graph

        engine = self.session.engine
        if engine is None or engine.read_only:
            return
        with report_errors(self.screen.post_message):
            for event in filter(flows.is_foreign_rename, events):
                words = flows.describe_broken(event, flows.plan_links_behind(engine, event))
                if words:
                    self.screen.post_message(self._LinksBroken(event, words))

    @on(_LinksBroken)
    def _offer(self, message: _LinksBroken) -> None:
        self._broken = message.event
        self.message.show_message(message.words, hint=":relink rewrites them.", is_news=True, is_offer=True)

    @controller_work()
    async def action_relink(self) -> None:
        event = self._broken
        if event is None:
            self.message.show_message("No rename by an agent or another program broke a link since this was opened.")
            return
        from memtui.ui.flows.foreign_renames import rewrite_links_behind  # noqa: PLC0415 - start-up: loads the flows

        self._broken = None
        await self.screen.run_flow(lambda engine: rewrite_links_behind(engine, event))
