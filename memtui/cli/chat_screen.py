"""`memtui chat` on a screen, and a command line of it that needs no parser: `memtui chat`, or `memtui chat ./DIR`."""

from typing import TYPE_CHECKING

from memtui.cli import context
from memtui.cli.browser import detect_terminal_background, require_terminal
from memtui.cli.options import Options
from memtui.cli.output import NotFound
from memtui.core.errors import MemtuiError

if TYPE_CHECKING:
    from memtui.agents.acp.catalog import KnownAgent
    from memtui.agents.chat.events import ChatOptions
    from memtui.config import LoadedConfig


def run_plain_chat(options: Options, word: str | None) -> int | None:
    """A new conversation with Claude; `None` where it is not for a screen, so that the verb has to run."""
    path = context.resolve_folder(options, word)
    loaded = context.load_config(options, path)
    if loaded.config.ui.screen_reader:
        return None
    return chat_on_screen(path, loaded, context.build_chat_options(loaded, options), options)


def chat_on_screen(
    path: str, loaded: "LoadedConfig", chat_options: "ChatOptions", options: Options, *,
    resume: str | None = None, fork: str | None = None,
    agent: "KnownAgent | None" = None, server: tuple[str, ...] = (),
) -> int:  # fmt: skip
    """Chat until the person leaves; returns the exit code. Raises `Failure` without a terminal, or such a session.

    Args:
        path: The memory folder, with links resolved.
        resume: A session to go on with.
        fork: A session to go on from a copy of.
        agent: An agent's own program to chat with.
        server: The command of the MCP server for it.
    """
    require_terminal('For scripts use: memtui chat -p "…"')
    try:
        with detect_terminal_background(loaded):
            from memtui.ui.chat_app import run_chat_app  # noqa: PLC0415 - start-up: loads Textual
            from memtui.ui.chat_start import MakeChat, create_chat, make_agent_chat  # noqa: PLC0415 - start-up: loads Textual

            make: MakeChat = create_chat if agent is None else make_agent_chat(agent, path, server)
            return run_chat_app(
                path,
                chat_options,
                state=options.state,
                read_only=options.read_only,
                resume=resume,
                fork=fork,
                loaded=loaded,
                make=make,
            )
    except MemtuiError as error:
        from memtui.agents.chat.sessions.store import SessionNotFound  # noqa: PLC0415 - start-up: a new chat has none

        if isinstance(error, SessionNotFound):
            raise NotFound(str(error)) from error
        raise
