"""How a conversation is held: options first, then the settings, and never more than they allow."""

import argparse
from pathlib import Path
from typing import Any

import pytest

from memtui.agents.chat.events import ChatOptions
from memtui.cli.chat import CHAT_VERB
from memtui.cli.context import build_chat_options
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure
from memtui.cli.parsing import build_parser
from memtui.config import ChatSettings, Config, LoadedConfig
from memtui.core.approvals import ApprovalPolicy


def held(chat: ChatSettings, *words: str, **options: Any) -> ChatOptions:
    given = argparse.Namespace()
    build_parser(CHAT_VERB).parse_known_args(words, given)
    return build_chat_options(LoadedConfig(Config(chat=chat)), Options(**options), given)


def test_what_nobody_says_is_as_by_default() -> None:
    assert held(ChatSettings()) == ChatOptions()
    assert build_chat_options(LoadedConfig(), Options()) == ChatOptions()


def test_options_come_before_the_settings() -> None:
    chat = ChatSettings(model="of-file", effort="low", thinking=True, max_tokens=10, input_price=1.0, provider="vertex")
    of_file = held(chat)
    assert (of_file.model, of_file.effort, of_file.thinking, of_file.max_tokens) == ("of-file", "low", True, 10)
    assert (of_file.input_price, of_file.provider) == (1.0, "vertex")
    given = held(chat, "--model", "given", "--no-thinking", "--input-price", "0", "--provider", "anthropic")
    assert (given.model, given.thinking, given.input_price, given.provider) == ("given", False, 0.0, "anthropic")


def test_what_is_printed_writes_only_if_it_is_said_there() -> None:
    allowed = ChatSettings(policy="allow")
    assert held(allowed).policy is ApprovalPolicy.ALLOW
    assert held(allowed, "-p", "x").policy is ApprovalPolicy.READ_ONLY
    assert held(allowed, "-p", "x", "--policy", "ask").policy is ApprovalPolicy.ASK
    assert held(allowed, read_only=True).policy is ApprovalPolicy.READ_ONLY
    with pytest.raises(Failure, match="do not go together"):
        held(allowed, "--policy", "allow", read_only=True)


def test_a_text_that_the_settings_name_is_read_or_the_chat_does_not_begin(tmp_path: Path) -> None:
    file = tmp_path / "system.md"
    file.write_text("be brief")
    assert held(ChatSettings(system=str(file), guidance="plain words")).system == "be brief"
    assert held(ChatSettings(system=str(file), guidance="plain words")).guidance == "plain words"
    with pytest.raises(Failure, match=r"chat\.guidance in the settings .*no such file:") as failed:
        held(ChatSettings(guidance=str(tmp_path / "none.md")))
    assert failed.value.code is ExitCode.MISSING
    assert held(ChatSettings(guidance=str(tmp_path / "none.md")), "--guidance", "given").guidance == "given"
