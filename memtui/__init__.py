"""memtui: see what an AI agent remembers, as it remembers it.

    import memtui

    with memtui.open("~/app/memories") as memory:
        answer = memory.execute({"command": "view", "path": "/memories"}, actor=memtui.Agent("my-agent"))
        print(answer.text)

Names are loaded when they are first used: the command line and the screens start without the engine, and
only `MemoryTool` loads the SDK.
"""

TYPE_CHECKING = False  # `typing` costs a hook more than all that it does
if TYPE_CHECKING:
    from memtui.agents.claude import AsyncMemoryTool, MemoryTool
    from memtui.core.errors import MemtuiError
    from memtui.core.events import Agent, Answer, Event, Memtui, Outside, Person
    from memtui.core.settings import Settings
    from memtui.engine import Engine
    from memtui.memory import open, open_in_memory


__version__ = "0.1.0"

__all__ = [
    "Agent",
    "Answer",
    "AsyncMemoryTool",
    "Engine",
    "Event",
    "MemoryTool",
    "Memtui",
    "MemtuiError",
    "Outside",
    "Person",
    "Settings",
    "open",
    "open_in_memory",
]

_HOMES = {
    "AsyncMemoryTool": "memtui.agents.claude",
    "Engine": "memtui.engine",
    "MemoryTool": "memtui.agents.claude",
    "MemtuiError": "memtui.core.errors",
    "Settings": "memtui.core.settings",
    "open": "memtui.memory",
    "open_in_memory": "memtui.memory",
}


def __getattr__(name: str) -> object:
    from importlib import import_module  # noqa: PLC0415 - start-up: hooks need none of these names

    if name not in __all__:
        raise AttributeError(f"module 'memtui' has no attribute {name!r}")
    value = getattr(import_module(_HOMES.get(name, "memtui.core.events")), name)
    globals()[name] = value
    return value
