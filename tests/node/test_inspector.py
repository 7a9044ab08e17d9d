"""The inspector's command line, a client of its own, over pipes and over HTTP."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.node.programs import package, run


@pytest.fixture(params=["stdio", "http"])
def inspect(request: pytest.FixtureRequest, folder: Path) -> Any:
    """Run the inspector's command line against the server, over each transport in turn."""
    program = package("@modelcontextprotocol/inspector-cli") / "build" / "cli.js"
    if request.param == "http":
        where: list[object] = [request.getfixturevalue("served"), "--transport", "http"]
    else:
        where = [sys.executable, "-m", "memtui", "mcp", folder]

    def inspect(method: str, *words: str) -> Any:
        done = run("node", program, "--cli", *where, "--method", method, *words)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return inspect


def test_the_inspector_lists_calls_and_reads(inspect: Any, folder: Path) -> None:
    tools = {tool["name"]: tool for tool in inspect("tools/list")["tools"]}
    assert set(tools) == {
        "memory", "search_memory", "recent_activity", "memory_history", "read_note", "build_context", "list_links",
    }  # fmt: skip
    made = inspect(
        "tools/call", "--tool-name", "memory", "--tool-arg", "command=create", "path=/memories/a.md", "file_text=tea"
    )
    assert made["content"] == [{"type": "text", "text": "File created successfully at: /memories/a.md"}]
    assert (folder / "a.md").read_text() == "tea"
    refused = inspect("tools/call", "--tool-name", "memory", "--tool-arg", "command=delete", "path=/memories/none")
    assert refused["isError"]
    found = inspect("tools/call", "--tool-name", "search_memory", "--tool-arg", "query=tea")
    assert found["structuredContent"]["matches"][0]["path"] == "/memories/a.md"
    uris = [each["uri"] for each in inspect("resources/list")["resources"]]
    assert uris == ["memory:///", "memory:///a.md", "memory:///prefs.md"]
    assert inspect("resources/read", "--uri", "memory:///prefs.md")["contents"][0]["text"] == "- short answers\n"
    assert inspect("resources/templates/list")["resourceTemplates"][0]["uriTemplate"] == "memory:///{+path}"
    assert [prompt["name"] for prompt in inspect("prompts/list")["prompts"]] == ["memory_guide"]
    prompt = inspect("prompts/get", "--prompt-name", "memory_guide")
    assert "/memories" in prompt["messages"][0]["content"]["text"]
