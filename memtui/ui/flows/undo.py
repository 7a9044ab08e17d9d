"""Undo, redo and restore on screens; `memtui.flows.undo` decides."""

import asyncio
from collections.abc import Sequence

from memtui.core.history import DeletedPath
from memtui.core.mass_loss import MassLoss
from memtui.engine import Engine
from memtui.flows import undo as flows
from memtui.flows.dialog import FlowOutcome
from memtui.ui.flows.dialog import PHRASES, ask_in_app

__all__ = [
    "FlowOutcome",
    "dismiss_loss",
    "redo",
    "restore_as_of",
    "restore_deleted",
    "restore_loss",
    "restore_version",
    "undo",
    "undo_since",
]

undo = ask_in_app(flows.undo)
redo = ask_in_app(flows.redo)
undo_since = ask_in_app(flows.undo_since)
restore_version = ask_in_app(flows.restore_version)
restore_as_of = ask_in_app(flows.restore_as_of)
dismiss_loss = ask_in_app(flows.dismiss_loss)


async def restore_deleted(engine: Engine, deleted: Sequence[DeletedPath]) -> FlowOutcome:
    return await asyncio.to_thread(flows.restore_deleted, PHRASES, engine, deleted)


async def restore_loss(engine: Engine, loss: MassLoss) -> FlowOutcome:
    """Restore all that was lost at once, in a thread."""
    return await asyncio.to_thread(flows.restore_loss, PHRASES, engine, loss)
