"""A scripted agent that works through the real engine, so that memtui can be seen without a key or a network.

Only the decisions are scripted: every command is validated, applied and recorded like any other, refusals included.
It must always be labelled as scripted. The earlier notes and the commands are in `demo.toml`.
"""

import os
import threading
import time
import tomllib
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

from memtui.core.events import Agent, Answer
from memtui.core.lazy_dataclass import dataclass
from memtui.engine import Engine

AGENT = Agent("Claude", model="scripted", session="demo")
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class DemoStep:
    """One tool call of the story, after `wait` seconds; `refused` if the story counts on a refusal."""

    wait: float
    command: dict[str, object]
    refused: bool = False


@dataclass(frozen=True, slots=True)
class DemoCaption:
    """What a tour says after a step of the story.

    Attributes:
        after: The number of the step, from 1.
        target: The part of the screen that it points at: a selector.
        title: A word or two.
        text: A sentence or two; ids of bindings in braces stand for their keys.
    """

    after: int
    target: str
    title: str
    text: str


def load_captions() -> list[DemoCaption]:
    """The captions of the tour, in order."""
    return [DemoCaption(**entry) for entry in _load_data()["captions"]]


def _load_data() -> dict[str, Any]:
    return tomllib.loads(resources.files("memtui.agents").joinpath("demo.toml").read_text(encoding="utf-8"))


def prepare_folder(folder: Path) -> None:
    """Write the memories of earlier sessions into an empty folder, as old as they claim to be.

    Raises:
        FileExistsError: One of them is there already.
    """
    now = time.time()
    for note in _load_data()["notes"]:
        path, changed = folder / note["path"], now - note["days"] * _DAY
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(note["text"])
        os.utime(path, (changed, changed))


def play_story(
    memory: Engine,
    *,
    speed: float = 1.0,
    stop: threading.Event | None = None,
    listener: Callable[[DemoStep, Answer], None] = lambda _step, _answer: None,
) -> int:
    """Play the story.

    Args:
        memory: An open memory over a folder that `prepare_folder` has filled.
        speed: How many times as fast as a person would want to watch it; 0 for no waiting at all.
        stop: Ends the story early.
        listener: Called with each step and its answer; the story waits for it.

    Returns:
        How many commands were executed.
    """
    stop = stop or threading.Event()
    count = 0
    for number, entry in enumerate(_load_data()["steps"], start=1):
        step = DemoStep(**entry)
        if stop.wait(step.wait / speed if speed else 0):
            break
        answer = memory.execute(step.command, actor=AGENT, call_id=f"scripted_{number:02d}")
        listener(step, answer)
        count += 1
    return count
