"""A session as Markdown: good to read, and no message can pass for another part."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memtui.agents.chat.sessions.export import build_input_diff, to_markdown
from memtui.agents.chat.sessions.store import ChatSession

BEGAN = {
    "type": "session",
    "at": "2026-11-21T17:59:00.000Z",
    "schema": 1,
    "id": "20261121-175900-4f3a",
    "folder": "/srv/memories",
    "model": "a-model",
    "forked_from": "20261120-090000-0001",
}


def asked(text: str, turn: int = 1, **more: Any) -> dict[str, Any]:
    return {"type": "turn_began", "at": "2026-11-21T18:00:01.000Z", "turn": turn, "text": text, **more}


def said(*blocks: dict[str, Any] | str, turn: int = 1) -> dict[str, Any]:
    content = [{"type": "text", "text": each} if isinstance(each, str) else each for each in blocks]
    return {"type": "message", "turn": turn, "role": "assistant", "content": content}


def called(answer: str = "done", *, is_error: bool = False, **fields: Any) -> dict[str, Any]:
    more = {name: fields.pop(name) for name in ("note", "edit") if name in fields}
    name = fields.pop("name", "memory")
    return {"type": "call", "turn": 1, "name": name, "input": fields, "answer": answer, "is_error": is_error, **more}


def test_a_conversation_reads_from_its_title_to_what_was_remembered() -> None:
    text = to_markdown(
        [
            BEGAN,
            asked("Keep it short.\nAnd remember Lisbon.", attachments=[{"name": "a.png", "size": 1200}]),
            said({"type": "thinking", "thinking": "Short it is."}, "Noted."),
            called(
                "Replaced.", command="str_replace", path="/memories/p.md", old_str="a\nRome\n", new_str="a\nLisbon\n"
            ),
            said("All done."),
            {
                "type": "turn_ended",
                "turn": 1,
                "end": "done",
                "usage": {"input_tokens": 1200, "output_tokens": 33, "requests": 2, "cost": 0.041},
                "remembered": [{"path": "p.md", "how": "changed", "added": 1, "removed": 1, "edited": True}],
            },
        ]
    )
    assert text == (
        "# Keep it short. And remember Lisbon.\n\n"
        "- Date: 2026-11-21 17:59 to 2026-11-21 18:00 (UTC)\n"
        "- Memory: `/srv/memories`\n- Model: `a-model`\n"
        "- Turns: 1, 1,200 tokens in and 33 out, 0.04 USD\n"
        "- Session: `20261121-175900-4f3a`, forked from `20261120-090000-0001`\n\n"
        "## 1. You, 18:00\n\nAttached: `a.png`, 1,200 bytes\n\n"
        "> Keep it short.\n> And remember Lisbon.\n\n"
        "*Thinking:*\n\n> Short it is.\n\n"
        "### Claude\n\nNoted.\n\n"
        "**`str_replace`** `p.md`: done\n\n```diff\n a\n-Rome\n+Lisbon\n```\n\n"
        "Answer:\n\n```text\nReplaced.\n```\n\n"
        "### Claude\n\nAll done.\n\n"
        "**Remembered**\n\n- changed `p.md` (+1 -1), edited by you\n"
    )


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        (called(command="view", path="/memories"), "**`view`** `/memories`: done"),
        (called(command="view", path="/memories/a", view_range=[1, 2]), "**`view`** `a` lines `[1, 2]`: done"),
        (called(command="insert", path="/memories/a", insert_line=3, insert_text="x"), "`a` after line 3: done"),
        (called(command="rename", old_path="/memories/a", new_path="/memories/b"), "**`rename`** `a` to `b`: done"),
        (called(command="delete", path="/memories/a", is_error=True), "**`delete`** `a`: refused"),
        (called(command="delete", path="/memories/a", is_error=True, note="declined"), "`a`: declined by you"),
        (called(command="delete", path="/memories/a", is_error=True, note="stopped"), "`a`: stopped by you"),
        (called(command="create", path="/memories/a", file_text="x", edit="y"), "edited by you before it was written"),
        (called(name="web_search", command="x", query="y", is_error=True), "**`web_search`**: refused"),
        (called(command=7, path=["x"]), "**`memory`**: done"),
    ],
)
def test_a_call_says_what_it_was_about_and_what_came_of_it(call: dict[str, Any], shown: str) -> None:
    assert shown in to_markdown([BEGAN, call])


def test_what_changes_is_shown_from_what_was_asked_for() -> None:
    assert build_input_diff({"command": "create", "file_text": "a\n\nb\n"}) == ["+a", "+", "+b"]
    assert build_input_diff({"command": "insert", "new_str": "a"}) == ["+a"]
    assert build_input_diff({"command": "str_replace", "old_str": "a\nb", "new_str": "a\nc"}) == [" a", "-b", "+c"]
    assert build_input_diff({"command": "str_replace", "old_str": "a"}) == ["-a"]
    assert (
        build_input_diff({"command": "delete", "path": "x"})
        == build_input_diff({})
        == build_input_diff({"command": "create"})
        == []
    )


def test_an_input_that_is_no_json_is_shown_as_it_came() -> None:
    call = {**called("Error: the input must be an object", is_error=True), "input": '{"command": "cre'}
    assert '**`memory`**: refused\n\nInput (invalid JSON):\n\n```text\n{"command": "cre\n```' in (
        to_markdown([BEGAN, call])
    )


def test_what_the_person_wrote_in_its_place_is_shown() -> None:
    text = to_markdown([BEGAN, called(command="create", path="/memories/a", file_text="x\n", edit="mine\n")])
    assert "```diff\n+x\n```\n\nYou wrote this instead:\n\n```diff\n+mine\n```" in text


def test_what_happened_beside_is_told() -> None:
    records = [
        BEGAN,
        {"type": "setting", "policy": "ask"},
        asked("hello"),
        {"type": "fault", "kind": "network", "sentence": "Could not reach *it*."},
        {"type": "cleared", "calls": 3, "tokens": 4000},
        {"type": "compacted", "summary": "Mara moved."},
        {"type": "turn_ended", "turn": 1, "end": "stopped"},
        {"type": "undone", "turn": 1, "seq": 4},
        {"type": "setting", "policy": "allow", "model": "b-model"},
        asked("again", 2),
        {"type": "rewound", "turn": 2, "why": "edit"},
        {"type": "weather", "sun": True},
    ]
    text = to_markdown(records)
    for sentence in (
        "*Could not reach \\*it\\*.*",
        "*3 old tool results (4,000 tokens) were cleared from the context to make room.*",
        "by this summary in the context:*\n\n> Mara moved.",
        "*You stopped this turn. The answer so far is kept.*",
        "*You undid what was written to memory in turn 1.*",
        "*From here on, b-model answers.*",
        "*From here on, memory is changed without asking.*",
        "*You edited turn 2: its first text was removed from the conversation.*",
        "- Model: `a-model`, `b-model`\n- Turns: 1\n",
    ):
        assert sentence in text
    assert "you are asked" not in text


def test_a_session_that_was_written_can_be_exported(tmp_path: Path) -> None:
    session = ChatSession.create(tmp_path, folder="/f", model="m")
    session.write("turn_began", turn=1, text="hi", attachments=[])
    assert to_markdown(session.iter_records()).startswith("# hi\n\n- Date: 20")
    assert to_markdown([]) == "# A conversation\n\n- Turns: 0\n"


# Hostile texts

HOSTILE = (
    "<script>alert(1)</script>",
    "a <img src=http://x.example/y> b",
    "![picture](http://x.example/y.png)",
    "`code` <b>bold</b> `",
    "``` <i>\n<u>x</u>",
    "- ```\n<i>x</i>",
    "- x\n  ```\n<b>out of the list</b>",
    "`a\n<b>`",
    "\\`<b>\\`",
    "<!-- hidden -->",
    "<div\nclass=x>\ntext\n</div>",
    "~~~~\n~~~\n<b>\n~~~~\n<i>x</i>",
    "```\n````\n<i>x</i>",
    "    <b>indented</b>",
    "> <b>quoted</b>",
)


def markup_of(text: str) -> set[str]:
    """Which HTML and pictures a reader makes of a text, and which headings of our levels."""
    found: set[str] = set()
    tokens = MarkdownIt("commonmark").parse(text)
    for token in tokens:
        for each in (token, *(token.children or ())):
            if each.type in ("html_block", "html_inline", "image"):
                found.add(each.type)
        if token.type == "heading_open" and token.tag in ("h1", "h2", "h3"):
            found.add(token.tag)
    return found


@pytest.mark.parametrize("text", HOSTILE)
def test_html_and_pictures_are_text_wherever_they_come_from(text: str) -> None:
    records = [
        {**BEGAN, "folder": text},
        asked(text, attachments=[{"name": text}]),
        said(text, {"type": "thinking", "thinking": text}),
        called(text, command="create", path=f"/memories/{text}", file_text=text, edit=text),
        called(text, name=text),
        {"type": "fault", "sentence": text},
        {"type": "compacted", "summary": text},
        {"type": "turn_ended", "remembered": [{"path": text, "how": text, "old_path": text}]},
    ]
    assert not {"html_block", "html_inline", "image"} & markup_of(to_markdown(records))


@pytest.mark.parametrize(
    "text", ["# You", "## 2. You", "x\n===", "x\n---", "> # You", "- # You", "1. ## You", "### You\n#", "   # x"]
)
def test_no_heading_of_theirs_looks_like_ours(text: str) -> None:
    tokens = [
        (token.tag, tokens[at + 1].content)
        for tokens in [MarkdownIt("commonmark").parse(to_markdown([BEGAN, asked(text), said(text)]))]
        for at, token in enumerate(tokens)
        if token.type == "heading_open" and token.tag in ("h1", "h2", "h3")
    ]
    assert [tag for tag, _ in tokens] == ["h1", "h2", "h3"]
    assert [content for _, content in tokens[1:]] == ["1. You, 18:00", "Claude"]


_PIECE = st.sampled_from(
    [
        "`",
        "``",
        "```",
        "~~~",
        "<b>",
        "</b>",
        "![x](y)",
        "# ",
        "> ",
        "- ",
        "  ",
        "    ",
        "\\",
        "a",
        "\n",
        "\n\n",
        "&lt;",
        "<",
    ]
)


@given(st.lists(_PIECE, max_size=12).map("".join))
def test_whatever_is_written_it_is_no_markup_of_its_own(text: str) -> None:
    records = [BEGAN, asked(text), said(text), called(text, command="create", path="/memories/a", file_text=text)]
    found = MarkdownIt("commonmark").parse(to_markdown(records))
    assert not {"html_block", "html_inline", "image"} & markup_of(to_markdown(records))
    ours = [token.tag for token in found if token.type == "heading_open" and token.tag in ("h1", "h2", "h3")]
    assert ours == (["h1", "h2", "h3"] if text.strip() else ["h1", "h2"])


@given(st.text(alphabet=st.characters(codec=None), max_size=60))
def test_nothing_drives_a_terminal(text: str) -> None:
    records = [{**BEGAN, "id": text, "model": text}, asked(text), said(text), called(text, command=text, path=text)]
    shown = to_markdown(records)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown)


@pytest.mark.parametrize("text", ["```", "````\nx\n```", "`" * 20])
def test_a_fence_in_a_text_does_not_end_ours(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(to_markdown([BEGAN, called(text, command="create", file_text=text)]))
    fences = [token.content for token in tokens if token.type == "fence"]
    assert fences == ["".join(f"+{line}\n" for line in text.split("\n")), text + "\n"]
