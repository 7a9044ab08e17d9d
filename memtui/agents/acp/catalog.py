"""The agents that are known, and the command that starts one: by its name, or any command."""

import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cache
from importlib.resources import files

from memtui.core.errors import MemtuiError
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line

_LONGEST_TITLE = 40
"""Characters of the name of a program in sentences."""


class AgentUnavailable(MemtuiError):
    """There is no such agent, or it is not installed; as a sentence with the next step."""


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent that speaks the protocol.

    Attributes:
        name: As it is given on the command line; the command itself for one that is not in the list.
        title: For people.
        commands: How it may be started: program and arguments.
        install: How to get it.
        login: How to log in with its own program.
        reads_files: Whether its program reads files of the folder for itself, and not through memtui.
        environment: Variables that it is started with, unless the person has set them.
        session_meta: What is sent as `_meta` with the requests that open a session.
    """

    name: str
    title: str
    commands: tuple[tuple[str, ...], ...]
    install: str = ""
    login: str = ""
    reads_files: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    session_meta: Mapping[str, object] = field(default_factory=dict)

    def find_command(self) -> tuple[str, ...] | None:
        """The command of the first program that is installed, with its path; `None` for none."""
        for program, *arguments in self.commands:
            if (found := shutil.which(program)) is not None:
                return (found, *arguments)
        return None


@cache
def list_known_agents() -> tuple[KnownAgent, ...]:
    """The agents that are known."""
    import tomllib  # noqa: PLC0415 - start-up: only for such a chat

    tables = tomllib.loads(files("memtui.agents.acp").joinpath("agents.toml").read_text(encoding="utf-8"))
    return tuple(
        KnownAgent(
            name,
            table["title"],
            tuple(map(tuple, table["commands"])),
            table["install"],
            table["login"],
            table.get("reads_files", False),
            table.get("environment", {}),
            table.get("session_meta", {}),
        )
        for name, table in tables.items()
    )


def find_agent(given: str) -> KnownAgent:
    """An agent by its name, or by a command, with the one command that starts it.

    Raises:
        AgentUnavailable: It is not installed, or the command is none.
    """
    known = next((each for each in list_known_agents() if each.name == given), None)
    if known is not None:
        if (command := known.find_command()) is None:
            raise AgentUnavailable(f"{known.title} is not installed. To get it: {known.install}")
        return replace(known, commands=(command,))
    shown = to_one_line(given)
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise AgentUnavailable(f"{shown!r} is not a command: {str(error).lower()}.") from error
    program = shutil.which(words[0]) if words else None
    if program is None:
        raise AgentUnavailable(
            f"There is no agent and no program {to_one_line(words[0]) if words else shown!r}. "
            "To list the agents: memtui chat --agent"
        )
    name = words[0].rpartition("/")[2]
    same = (each for each in list_known_agents() if (name,) in {command[:1] for command in each.commands})
    known = next(same, KnownAgent("", "", ((),)))
    title = to_one_line(name)[:_LONGEST_TITLE]
    return replace(known, name=given, title=title, commands=((program, *words[1:]),), install="", login="")


def suggest_installed() -> str:
    """A sentence that offers an agent that is installed; empty where none is."""
    found = [each for each in list_known_agents() if each.find_command() is not None]
    return f"Or chat with {found[0].title}, which is installed: memtui chat --agent {found[0].name}" if found else ""


def build_server_command(
    folder: str, state: str | None, config: str | None, *, uses_config: bool = True
) -> tuple[str, ...]:
    """The command of `memtui mcp` over a folder, with the same state and settings."""
    more = ["--state", state] if state else []
    more += ["--config", config] if config else [] if uses_config else ["--no-config"]
    # -P: the agent may start it in the memory folder, whose files are no modules of ours.
    return (sys.executable, "-P", "-m", "memtui", "mcp", folder, *more)
