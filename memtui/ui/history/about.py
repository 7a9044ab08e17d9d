"""Below the versions: who made the two that are compared, when and how."""

from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from memtui.core.actors import shown_name
from memtui.core.events import Agent, Event
from memtui.core.history import PathVersion
from memtui.core.visible import one_line
from memtui.ui.history.comparing import Pair, clock
from memtui.ui.history.row import what_moved
from memtui.ui.text import fit

_PROMPT = 200
"""Characters of a prompt that are shown."""


class AboutPair(Widget):
    """The events behind A and B; where there is one line, that behind B."""

    DEFAULT_CSS = """
    AboutPair { height: 1; padding: 0 1; color: $foreground; }
    """

    pair: reactive[Pair | None] = reactive(None)

    def render(self) -> RenderResult:
        """Who, when, which command, which call."""
        if self.pair is None:
            return Content("")
        width = self.content_size.width
        lines = [("B", self.pair.newer.row)]
        if self.content_size.height > 1:
            lines.insert(0, ("A", self.pair.older.row))
        return Content("\n").join(
            Content.assemble((f"{letter} ", "bold $text-accent"), fit(about(row), width - 2)) for letter, row in lines
        )


def about(row: PathVersion | None) -> str:
    """An event in words: `Claude, 10:14:03, str_replace, call toolu_01A9, #41`; safe to show."""
    if row is None:
        return "nothing was there"
    event = row.event
    parts = [_actor(event), clock(row.at_us, seconds=True), event.command]
    moved = what_moved(row)
    parts += [moved] if moved else []
    parts += [f"call {event.call_id}"] if event.call_id else []
    parts += ["not via memtui"] if event.is_outside and not event.note else []
    parts += [event.note] if event.note else []
    parts += [_told(row)] if row.told is not None else []
    return one_line(", ".join([*parts, f"#{event.seq}"]))


def _told(row: PathVersion) -> str:
    """What a session file told of it: who, where that is not known otherwise, and what the person had asked for."""
    assert row.told is not None
    did = "removed" if row.told.is_gone else "wrote"
    who = f"{_actor(row.told_by)} {did} it with {row.told.tool}" if row.told_by is not None else ""
    asked = f'asked: "{row.told.prompt[:_PROMPT]}"' if row.told.prompt else ""
    return ", ".join(filter(None, (who, asked)))


def _actor(event: Event) -> str:
    name = shown_name(event.actor)
    model = event.actor.model if isinstance(event.actor, Agent) else None
    return f"{name} ({model})" if model else name
