"""How a conversation is held: what its options say, else the settings."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memtui.agents.chat.options import ChatOptions
from memtui.cli.exits import Exit, Failure
from memtui.cli.guidance import guidance, text_in_file
from memtui.cli.verb import Options
from memtui.core.asking import Policy

if TYPE_CHECKING:
    from memtui.config import Loaded


def chat_options(loaded: "Loaded", options: Options, given: argparse.Namespace | None = None) -> ChatOptions:
    """How a conversation is to be held.

    Args:
        loaded: The settings.
        options: Those that all verbs take.
        given: Those of `memtui chat`; `None` where it is begun in the browser.

    Raises:
        Failure: They do not go together, or a file that the settings name cannot be read.
    """
    said = dict(vars(given)) if given is not None else {}
    chat = loaded.config.chat

    def first(name: str, otherwise: Any) -> Any:
        return said[name] if said.get(name) is not None else otherwise

    return ChatOptions(
        model=first("model", chat.model or None),
        provider=first("provider", chat.provider),
        policy=_policy(said.get("policy"), chat.policy if said.get("print") is None else Policy.READ_ONLY, options),
        system=said.get("system") or _text(loaded, "system", chat.system, text_in_file),
        guidance=said.get("guidance") or _text(loaded, "guidance", chat.guidance, guidance),
        max_tokens=first("max_tokens", chat.max_tokens or None),
        context_trigger=first("context_trigger", chat.context_trigger),
        effort=first("effort", chat.effort or None),
        thinking=first("thinking", chat.thinking),
        input_price=first("input_price", chat.input_price),
        output_price=first("output_price", chat.output_price),
        max_calls=chat.max_calls or ChatOptions().max_calls,
    )


def _policy(given: str | None, usual: str, options: Options) -> Policy:
    if options.read_only:
        if given not in (None, Policy.READ_ONLY):
            raise Failure(
                Exit.USAGE, f"memtui chat: --read-only and --policy {given} do not go together. Leave one of them out."
            )
        return Policy.READ_ONLY
    return Policy(given or usual)


def _text(loaded: "Loaded", name: str, given: str, read: Callable[[str], str]) -> str:
    """A text that the settings name: a conversation without it would be another than the person wants."""
    if not given:
        return ""
    try:
        return read(given)
    except argparse.ArgumentTypeError as error:
        where = loaded.origin(f"chat.{name}")
        raise Failure(Exit.MISSING, f"chat.{name} in the settings ({where}): {error}. No chat was begun.") from error
