"""Turn mentions into links, on screens; `memtui.flows.mentions` decides."""

import asyncio
from collections.abc import Sequence

from memtui.engine import Engine
from memtui.flows import mentions as flows
from memtui.flows.dialog import FlowOutcome
from memtui.knowledge.mentions import Mention
from memtui.ui.flows.dialog import PHRASES


async def link_mentions(engine: Engine, mentions: Sequence[Mention], target: str) -> FlowOutcome:
    """Write links where a note is only named, as one event, in a thread."""
    return await asyncio.to_thread(flows.link_mentions, PHRASES, engine, mentions, target)
