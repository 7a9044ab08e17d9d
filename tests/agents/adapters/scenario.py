"""One conversation for each framework: what the model's server is sent and what is recorded must be the same."""

from pathlib import Path
from typing import Any

import memtui
from memtui.core.events import Event
from tests.agents.model_server import Call, ModelServer, Text
from tests.conftest import wait_until

MODEL = "claude-sonnet-5-5"
ACTOR = memtui.Agent("my-agent")
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8cfc0f01f0005000"
    "1ff56c7de4d0000000049454e44ae426082"
)
"""A PNG of one pixel."""
_CALLS: tuple[dict[str, object], ...] = (
    {"command": "create", "path": "/memories/tea.md", "file_text": "green\n"},
    {"command": "insert", "path": "/memories/tea.md", "insert_line": 0, "insert_text": "# Tea\n"},
    {"command": "view", "path": "/memories/none.md"},
    {"command": "view", "path": "/memories/cup.png"},
)


def make_folder(path: Path) -> Path:
    """A memory folder with a picture in it."""
    path.mkdir()
    (path / "cup.png").write_bytes(PICTURE)
    return path


def script(server: ModelServer) -> None:
    """Have the model write, insert with the API's own `insert_text`, be refused, look at a picture, and end."""
    server.models = None  # frameworks look at the names of models
    for number, call in enumerate(_CALLS):
        server.answer(Call(call, id=f"toolu_{number}"))
    server.answer(Text("It is remembered."))


def check(server: ModelServer, folder: Path, *, call_ids: bool = True) -> None:
    """Compare what the server was sent, and what was recorded, with what has to be."""
    assert server.refused == []
    assert {"type": "memory_20250818", "name": "memory"} in _find_tools(server)
    assert "context-management-2025-06-27" in server.last.betas
    created, inserted, missing, viewed = [request.results[0] for request in server.requests[1:]]
    assert [bool(result.get("is_error")) for result in (created, inserted, missing, viewed)] == [
        False,
        False,
        True,
        False,
    ]
    assert _find_text(created) == "File created successfully at: /memories/tea.md"
    assert "does not exist" in _find_text(missing)
    assert [block["type"] for block in viewed["content"]][-1] == "image"
    assert (folder / "tea.md").read_text() == "# Tea\ngreen\n"
    with memtui.open(folder) as memory:  # beside the adapter's, which may record a view after its answer
        wait_until(lambda: len(_list_events(memory)) >= len(_CALLS), "each call to be recorded")
        events = _list_events(memory)
    assert [(event.command, event.is_error) for event in events] == [
        ("create", False),
        ("insert", False),
        ("view", True),
        ("view", False),
    ]
    wanted = [f"toolu_{number}" if call_ids else None for number in range(len(_CALLS))]
    assert [event.call_id for event in events] == wanted


def _list_events(memory: memtui.Engine) -> list[Event]:
    return [event for event in memory.events() if event.actor == ACTOR]


def _find_tools(server: ModelServer) -> list[dict[str, Any]]:
    return [{key: tool.get(key) for key in ("type", "name")} for tool in server.last.body["tools"]]


def _find_text(result: dict[str, Any]) -> str:
    content = result["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
