"""Links that others' renames broke, on screens; `memtui.flows.foreign_renames` decides."""

import asyncio

from memtui.core.events import Event
from memtui.engine import Engine
from memtui.flows import foreign_renames as flows
from memtui.flows.dialog import FlowOutcome
from memtui.ui.flows.dialog import PHRASES


async def rewrite_links_behind(engine: Engine, event: Event) -> FlowOutcome:
    """Write the links that an event broke so that they lead where they did, in a thread."""
    return await asyncio.to_thread(flows.rewrite_links_behind, PHRASES, engine, event)
