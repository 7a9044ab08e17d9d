"""How a conversation is held: options first, then the settings, and never more than they allow."""

import argparse
from pathlib import Path
from typing import Any

import pytest

from memtui.agents.chat.options import ChatOptions
from memtui.cli.chat import VERB
from memtui.cli.chat_options import chat_options
from memtui.cli.exits import Exit, Failure
from memtui.cli.parsing import parser_of
from memtui.cli.verb import Options
from memtui.config import Chat, Config, Loaded
from memtui.core.asking import Policy


def held(chat: Chat, *words: str, **options: Any) -> ChatOptions:
    given = argparse.Namespace()
    parser_of(VERB).parse_known_args(words, given)
    return chat_options(Loaded(Config(chat=chat)), Options(**options), given)


def test_what_nobody_says_is_as_by_default() -> None:
    assert held(Chat()) == ChatOptions()
    assert chat_options(Loaded(), Options()) == ChatOptions()


def test_options_come_before_the_settings() -> None:
    chat = Chat(model="of-file", effort="low", thinking=True, max_tokens=10, input_price=1.0, provider="vertex")
    of_file = held(chat)
    assert (of_file.model, of_file.effort, of_file.thinking, of_file.max_tokens) == ("of-file", "low", True, 10)
    assert (of_file.input_price, of_file.provider) == (1.0, "vertex")
    given = held(chat, "--model", "given", "--no-thinking", "--input-price", "0", "--provider", "anthropic")
    assert (given.model, given.thinking, given.input_price, given.provider) == ("given", False, 0.0, "anthropic")


def test_what_is_printed_writes_only_if_it_is_said_there() -> None:
    allowed = Chat(policy="allow")
    assert held(allowed).policy is Policy.ALLOW
    assert held(allowed, "-p", "x").policy is Policy.READ_ONLY
    assert held(allowed, "-p", "x", "--policy", "ask").policy is Policy.ASK
    assert held(allowed, read_only=True).policy is Policy.READ_ONLY
    with pytest.raises(Failure, match="do not go together"):
        held(allowed, "--policy", "allow", read_only=True)


def test_a_text_that_the_settings_name_is_read_or_the_chat_does_not_begin(tmp_path: Path) -> None:
    file = tmp_path / "system.md"
    file.write_text("be brief")
    assert held(Chat(system=str(file), guidance="plain words")).system == "be brief"
    assert held(Chat(system=str(file), guidance="plain words")).guidance == "plain words"
    with pytest.raises(Failure, match=r"chat\.guidance in the settings .*there is no file") as failed:
        held(Chat(guidance=str(tmp_path / "none.md")))
    assert failed.value.code is Exit.MISSING
    assert held(Chat(guidance=str(tmp_path / "none.md")), "--guidance", "given").guidance == "given"
