"""The agents that are known, and the command that starts one."""

import sys
from pathlib import Path

import pytest

from memtui.agents.acp import catalog
from memtui.agents.acp.catalog import AgentUnavailable, find_agent, list_known_agents, suggest_installed


def install(directory: Path, name: str) -> str:
    """A program on the path."""
    path = directory / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only directory in which programs are."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_each_known_agent_says_how_it_is_started_had_and_logged_in_to() -> None:
    known = list_known_agents()
    assert {"claude-code", "codex", "gemini", "opencode", "goose", "qwen"} <= {each.name for each in known}
    assert all(each.title and each.install and each.login and all(each.commands) for each in known)


def test_an_agent_that_is_installed_is_found_with_its_arguments_and_offered(programs: Path) -> None:
    assert suggest_installed() == ""
    path = install(programs, "opencode")
    assert find_agent("opencode").commands == ((path, "acp"),)
    assert suggest_installed().endswith("memtui chat --agent opencode")


def test_the_first_of_two_programs_is_taken_and_else_the_other(programs: Path) -> None:
    old = install(programs, "claude-code-acp")
    assert find_agent("claude-code").commands == ((old,),)
    new = install(programs, "claude-agent-acp")
    assert find_agent("claude-code").commands == ((new,),)


def test_any_command_is_an_agent_and_what_is_none_is_told(programs: Path) -> None:
    path = install(programs, "mine")
    agent = find_agent("mine --acp 'a b'")
    assert (agent.title, agent.commands) == ("mine", ((path, "--acp", "a b"),))
    with pytest.raises(AgentUnavailable, match="Goose is not installed"):
        find_agent("goose")
    for wrong in ("nothing", "'half", ""):
        with pytest.raises(AgentUnavailable):
            find_agent(wrong)


def test_a_command_is_started_as_the_agent_is_whose_program_it_names(programs: Path) -> None:
    path = install(programs, "claude-agent-acp")
    agent = find_agent(f"{path} --verbose")
    assert (agent.title, agent.commands) == ("claude-agent-acp", ((path, "--verbose"),))
    assert agent.environment == {"MCP_CONNECTION_NONBLOCKING": "0"}
    install(programs, "codex-acp")
    assert find_agent("codex-acp").session_meta == find_agent("codex").session_meta != {}
    install(programs, "mine")
    assert (find_agent("mine").environment, find_agent("mine").session_meta) == ({}, {})


def test_the_server_has_the_state_and_the_settings_of_who_starts_it() -> None:
    assert catalog.build_server_command("/m", "/s", "/c") == (
        sys.executable, "-P", "-m", "memtui", "mcp", "/m", "--state", "/s", "--config", "/c",
    )  # fmt: skip
    assert catalog.build_server_command("/m", None, None, uses_config=False)[-2:] == ("/m", "--no-config")
