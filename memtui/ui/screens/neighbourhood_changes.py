"""Changes from among the links of a note: mentions become links, and dangling names become notes."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import date
from typing import ClassVar

from textual.binding import Binding, BindingType

from memtui.core.unicode import to_one_line
from memtui.editing import templates
from memtui.engine import Engine
from memtui.flows.dialog import Choice
from memtui.flows.mentions import find_path_for
from memtui.knowledge.graph import Edge
from memtui.knowledge.mentions import Mention
from memtui.ui.controller import Controller, controller_work
from memtui.ui.flows import files as file_flows
from memtui.ui.flows import mentions as mention_flows
from memtui.ui.messages import report_errors
from memtui.ui.screens.graph_base import GraphOverlayScreen
from memtui.ui.widgets.neighbours import NeighbourRow


class LinkingController(Controller[GraphOverlayScreen]):
    """Links mentions, and creates the notes of dangling names.

    Args:
        get_path: Returns the note that is mentioned.
        get_rows: Returns the listed mentions and dangling names.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("asterisk", "link_all", "link all", id="links.link_all", tooltip="Make all listed mentions links"),
    ]

    def __init__(
        self,
        screen: GraphOverlayScreen,
        engine: Engine,
        get_path: Callable[[], str],
        get_rows: Callable[[], Sequence[NeighbourRow]],
    ) -> None:
        super().__init__(screen)
        self._engine, self._get_path, self._get_rows = engine, get_path, get_rows

    def action_link_all(self) -> None:
        listed = [row.mention for row in self._get_rows() if row.mention is not None]
        if listed:
            self.link(listed)
        else:
            self.screen.message.show_message("No mentions to link.")

    @controller_work(group="change")
    async def link(self, mentions: Sequence[Mention]) -> None:
        """Write links in place of mentions, as one event."""
        if self.screen.is_read_only:
            self.screen.message.show_message(self.screen.read_only_reason, warning=True)
            return
        async with self.screen.change_lock:
            with report_errors(self.screen.post_message):
                outcome = await mention_flows.link_mentions(self._engine, mentions, self._get_path())
                self.screen.last_event_seq = outcome.event or self.screen.last_event_seq
                self.screen.message.show_message(outcome.words, warning=outcome.is_warning)
                self.screen.read(again=True)

    @controller_work(group="change", exclusive=True)
    async def create(self, edge: Edge) -> None:
        """Create the note that a dangling link names, from a template."""
        if self.screen.is_read_only:
            self.screen.message.show_message(self.screen.read_only_reason, warning=True)
            return
        try:
            path = find_path_for(edge)
        except templates.InvalidName as problem:
            self.screen.message.show_message(f"Not created: {problem}", warning=True)
            return
        starts = await asyncio.to_thread(lambda: self._engine.dialect.starts)
        found = {template.name: template for template in templates.list_templates(path, starts)}
        choices = [Choice(each.key, each.label, name) for name, each in found.items()]
        chosen = await self.choose(f"{to_one_line(path)} starts as", choices)
        template = found.get(chosen or "")
        if template is None:
            self.screen.message.show_message("Nothing was created.")
            return
        text = templates.fill_template(template, path, date.today())
        async with self.screen.change_lock:
            with report_errors(self.screen.post_message):
                created = await file_flows.create(self._engine, path, text.encode(), note=template.name)
                if created.outcome is not None:
                    self.screen.last_event_seq = created.outcome.event or self.screen.last_event_seq
                    self.screen.message.show_message(created.outcome.words, warning=created.outcome.is_warning)
                self.screen.read(again=True)
