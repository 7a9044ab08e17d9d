"""The parameters of requests, the parsing of models, and the sentences of faults: without a server."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from memtui.agents.chat.connection import parse_model, parse_models
from memtui.agents.chat.events import Model
from memtui.agents.chat.request import RequestOptions, adapt_options, build_parameters
from memtui.agents.chat.state import UsageMeter
from memtui.agents.guidance import build_guide, build_system_prompt

USER = {"role": "user", "content": [{"type": "text", "text": "Hello"}]}
ABLE = Model(
    "m", context=200_000, max_tokens=64_000, thinking=("adaptive", "disabled"), clears_tools=True, compacts=True
)


def test_a_request_carries_the_memory_tool_and_no_thread() -> None:
    found = build_parameters([USER], ABLE, RequestOptions(("Be brief.", "  ")))
    assert found["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    assert found["stream"] is True
    assert "thread" not in found
    assert [block["text"] for block in found["system"]] == ["Be brief."]


def test_the_history_is_not_changed_by_what_is_marked_for_the_cache() -> None:
    messages = [USER, {"role": "assistant", "content": [{"type": "text", "text": "Yes"}]}, USER]
    build_parameters(messages, ABLE, RequestOptions())
    assert messages[0] == {"role": "user", "content": [{"type": "text", "text": "Hello"}]}


@pytest.mark.parametrize(
    ("model", "manner", "expected"),
    [
        (ABLE, RequestOptions(), 32_000),
        (ABLE, RequestOptions(max_tokens=50_000), 50_000),
        (Model("m", max_tokens=4_096), RequestOptions(), 4_096),
        (Model("m"), RequestOptions(), 8_192),
    ],
)
def test_an_answer_may_be_as_long_as_fits(model: Model, manner: RequestOptions, expected: int) -> None:
    assert build_parameters([USER], model, manner)["max_tokens"] == expected


@pytest.mark.parametrize(
    ("thinking", "kinds", "expected"),
    [
        (None, ("adaptive",), None),
        (True, ("adaptive", "enabled"), {"type": "adaptive", "display": "summarized"}),
        (True, ("enabled",), {"type": "enabled", "budget_tokens": 4_000}),
        (True, (), {"type": "adaptive", "display": "summarized"}),
        (False, ("adaptive", "disabled"), {"type": "disabled"}),
        (False, ("adaptive",), None),
        (False, (), None),
    ],
)
def test_thinking_is_asked_for_as_the_model_takes_it(
    thinking: bool | None, kinds: tuple[str, ...], expected: object
) -> None:
    found = build_parameters([USER], Model("m", thinking=kinds), RequestOptions(thinking=thinking, max_tokens=8_000))
    assert found.get("thinking") == expected


@pytest.mark.parametrize(
    ("model", "manner", "edits"),
    [
        (ABLE, RequestOptions(), ["clear_tool_uses_20250919", "compact_20260112"]),
        (ABLE, RequestOptions(context_trigger=0), []),
        (ABLE, RequestOptions(compacts=False), ["clear_tool_uses_20250919"]),
        (Model("m"), RequestOptions(), ["clear_tool_uses_20250919"]),
        (Model("m", clears_tools=False, compacts=False), RequestOptions(), []),
    ],
)
def test_context_is_managed_as_far_as_the_model_can(model: Model, manner: RequestOptions, edits: list[str]) -> None:
    found = build_parameters([USER], model, manner)
    assert [edit["type"] for edit in found.get("context_management", {"edits": []})["edits"]] == edits
    assert bool(found.get("betas")) == bool(edits)


@pytest.mark.parametrize("trigger", [None, 9, 30_000])
@pytest.mark.parametrize("model", [ABLE, Model("m"), Model("m", context=1_000_000)])
def test_whatever_is_cleared_leaves_the_newest_and_can_clear_something(model: Model, trigger: int | None) -> None:
    found = build_parameters([USER], model, RequestOptions(context_trigger=trigger))
    edit = found["context_management"]["edits"][0]
    assert not {tool["name"] for tool in found["tools"]} <= set(edit.get("exclude_tools", ()))
    assert edit["keep"]["value"] > 0
    assert edit["trigger"]["value"] > 0
    if edit["trigger"]["type"] == "tool_uses":
        assert edit["trigger"]["value"] > edit["keep"]["value"]


def test_compaction_is_never_asked_for_below_what_the_api_takes() -> None:
    found = build_parameters([USER], Model("m", context=20_000, compacts=True), RequestOptions())
    assert found["context_management"]["edits"][1]["trigger"] == {"type": "input_tokens", "value": 50_000}


def test_a_compacted_history_keeps_its_beta_when_nothing_is_managed() -> None:
    compacted = {"role": "assistant", "content": [{"type": "compaction", "content": "all of it"}]}
    found = build_parameters([USER, compacted, USER], ABLE, RequestOptions(context_trigger=0))
    assert found["betas"] == ["compact-2026-01-12"]


def test_only_what_was_asked_for_by_ourselves_is_given_up() -> None:
    assert adapt_options(RequestOptions(), ABLE, "max_tokens: too many") is None
    assert adapt_options(RequestOptions(clears=False, compacts=False), ABLE, "unknown beta") is None
    found = adapt_options(RequestOptions(), ABLE, "context_management: Extra inputs are not permitted")
    assert found is not None
    assert not found[0].clears
    words = "Invalid `signature` in `thinking` block"
    assert adapt_options(RequestOptions(clears=False, compacts=False), ABLE, words) is None
    found = adapt_options(RequestOptions(), ABLE, words, has_thinking=True)
    assert found is not None
    assert not found[0].returns_thinking


def test_a_gateway_may_leave_out_what_it_likes() -> None:
    assert parse_model(SimpleNamespace(id="m")) == Model("m")
    assert parse_model(
        {"id": "m", "max_input_tokens": "many", "capabilities": {"effort": {"supported": False}}}
    ) == Model("m")


def test_models_come_newest_first_and_retired_ones_not_at_all() -> None:
    def info(id: str, year: int, lifecycle: str | None = "active") -> SimpleNamespace:
        return SimpleNamespace(id=id, created_at=datetime(year, 1, 1, tzinfo=UTC), lifecycle=lifecycle)

    listed = [info("old", 2024), info("gone", 2030, "retired"), info("new", 2026), info("leaving", 2029, "deprecated")]
    assert [model.id for model in parse_models(listed)] == ["new", "old", "leaving"]
    assert [model.id for model in parse_models([info("b", 2025, None), SimpleNamespace(id="a")])] == ["b", "a"]


def test_guidance_goes_before_our_own_words() -> None:
    assert "secrets" in build_system_prompt()
    assert build_system_prompt(" Only food. ").endswith("before all of the above:\n\nOnly food.")
    assert build_guide("Only food.").rstrip().endswith("Only food.")
    assert "`str_replace`" in build_guide()


def test_a_conversation_that_was_compacted_may_go_on_with_a_model_that_does_not_compact() -> None:
    compacted = {"role": "assistant", "content": [{"type": "compaction", "content": "All that was said."}]}
    plain = Model("p", context=200_000, clears_tools=True, compacts=False)
    assert build_parameters([USER, compacted, USER], plain, RequestOptions())["betas"] == [
        "context-management-2025-06-27",
        "compact-2026-01-12",
    ]


def test_usage_that_is_no_number_is_counted_as_none() -> None:
    meter = UsageMeter()
    meter.begin_turn()
    meter.begin_request(ABLE)
    meter.add_usage(
        {"input_tokens": 5, "output_tokens": "x", "iterations": [{"type": "compaction", "input_tokens": "x"}]}
    )
    assert (meter.turn.input_tokens, meter.turn.output_tokens) == (5, 0)
    meter.begin_turn()
    assert meter.session.input_tokens == 5
