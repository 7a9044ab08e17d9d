"""memtui: see what an AI agent remembers, as it remembers it.

import memtui

with memtui.open("~/app/memories") as memory:
    answer = memory.execute({"command": "view", "path": "/memories"}, actor=memtui.Agent("my-agent"))
    print(answer.text)
"""

from memtui.core.errors import MemtuiError
from memtui.core.events import Agent, Answer, Event, Memtui, Outside, Person
from memtui.core.settings import Settings
from memtui.opening import open, open_in_memory

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "Answer",
    "Event",
    "Memtui",
    "MemtuiError",
    "Outside",
    "Person",
    "Settings",
    "open",
    "open_in_memory",
]
