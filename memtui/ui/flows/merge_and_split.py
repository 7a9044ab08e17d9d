"""Merge notes and split them on screens; `memtui.flows.merge_and_split` decides."""

from typing import Any

from textual.app import App

from memtui.engine import Engine
from memtui.flows import merge_and_split as flows
from memtui.ui.flows.dialog import AppDialog, ask_in_app

merge = ask_in_app(flows.merge)
split = ask_in_app(flows.split)


async def choose_kept(app: App[Any], engine: Engine, one: str, other: str) -> tuple[str, str] | None:
    """Ask which of two notes stays: the one that goes, and the one that stays; `None` to go back."""
    return await flows.choose_kept(AppDialog(app, engine), one, other)
