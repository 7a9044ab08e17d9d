"""The tools that follow links, and the guide to write notes that have some."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.guidance import build_guide
from memtui.agents.mcp.answers import ToolAnswer, ToolArgumentError, answer_activity, cut_view
from memtui.agents.mcp.knowledge import KnowledgeTools
from memtui.agents.mcp.tools import SearchTool
from memtui.core.errors import Refusal
from memtui.core.events import Agent
from memtui.engine import Engine
from tests.agents.mcp.pipe_client import Server
from tests.conftest import wait_until

_NOTES = {
    "deploy.md": "---\ntitle: Deploying\ntype: project\nstatus: open\npriority: 3\ntags: [ops]\n---\n"
    "- uses [[staging]] (mostly)\n- [fact] fast #ops (measured)\nSee [[nowhere]].\n",
    "staging.md": "---\ntype: reference\npriority: 1\n---\nA host.\n",
    "far/alone.md": "---\npermalink: own/link\n---\nSee [[staging]].\n",
    "a/same.md": "x\n",
    "b/same.md": "x\n",
}
_ESCAPE = "a\x1bc\u202eb"


@pytest.fixture
def memory() -> Iterator[Engine]:
    with memtui.open_in_memory() as memory:
        for path, text in _NOTES.items():
            write(memory, path, text)
        yield memory


def write(memory: Engine, path: str, text: str) -> None:
    command = {"command": "create", "path": f"/memories/{path}", "file_text": text}
    assert not memory.execute(command, actor=Agent("mara")).is_error


def test_a_context_is_what_a_note_states_and_what_is_near(memory: Engine) -> None:
    told = KnowledgeTools(memory).build_context({"url": "memory://Deploying", "depth": 2})
    assert told.text.splitlines() == [
        "/memories/deploy.md (Deploying, project)",
        "  [fact] fast #ops (measured)",
        "related, 1 link away: /memories/staging.md (staging, reference): uses to it",
        "related, 2 links away: /memories/far/alone.md (alone): wiki from it",
    ]
    assert [each["distance"] for each in told.data["related"]] == [1, 2]  # type: ignore[attr-defined]
    near = KnowledgeTools(memory).build_context({"url": "/memories/deploy.md", "max_related": 1, "depth": 2})
    assert near.data["left_out"] == 1
    assert near.text.endswith("1 more related note: ask with a higher `max_related` and `budget`.")
    old = KnowledgeTools(memory).build_context({"url": "Deploying", "timeframe": "#5"})
    assert [each["path"] for each in old.data["related"]] == []  # type: ignore[attr-defined]


def test_an_answer_keeps_to_its_budget_and_says_so(memory: Engine) -> None:
    for number in range(300):
        write(memory, f"many/{number:03}.md", "[[staging]]\n" + "- [fact] long " + "x" * 300)
    tools = KnowledgeTools(memory)
    search = SearchTool(memory, tools)
    answers = [
        tools.build_context({"url": "memory://many/*", "budget": 2_000}),
        tools.list_links({"note": "staging", "budget": 2_000}),
        search({"query": "long", "limit": 200, "budget": 2_000}),
        answer_activity(memory, {"limit": 200, "budget": 2_000}),
    ]
    for told in answers:
        assert len(told.text) < 2_400
        assert "budget" in told.text.splitlines()[-1]
    assert answers[0].data["cut"] is True
    assert answers[1].data["more"] == 302 - len(answers[1].data["in"])  # type: ignore[arg-type]
    assert len(answers[2].data["matches"]) + answers[2].data["more"] == 300  # type: ignore[arg-type, operator]
    usual = tools.list_links({"note": "staging"})
    assert len(usual.text) < 8_400


def test_links_are_listed_with_their_lines_and_where_they_lead(memory: Engine) -> None:
    told = KnowledgeTools(memory).list_links({"note": "staging"})
    assert told.text.splitlines() == [
        "/memories/staging.md: 0 links out, 2 in",
        "in: /memories/deploy.md:8: uses (mostly)",
        "in: /memories/far/alone.md:4: wiki",
    ]
    told = KnowledgeTools(memory).list_links({"note": "Deploying"})
    assert told.text.splitlines()[1:] == [
        "out:8: uses (mostly) /memories/staging.md",
        "out:10: wiki nowhere (no such note)",
    ]


def test_a_note_is_found_by_title_permalink_and_path(memory: Engine) -> None:
    tools = KnowledgeTools(memory)
    for name in ("own/link", "memory://own/link", "far/alone.md", "/memories/far/alone.md", "alone"):
        assert str(tools.find_note({"note": name})) == "/memories/far/alone.md"
    with pytest.raises(
        ToolArgumentError, match=r"several notes are called so: /memories/a/same.md, /memories/b/same.md"
    ):
        tools.find_note({"note": "same"})
    with pytest.raises(ToolArgumentError, match="there is no note 'x"):
        tools.find_note({"note": "x\n\x1b"})
    with pytest.raises(Refusal, match="escape"):
        tools.find_note({"note": "/memories/../x"})


def test_a_search_is_narrowed_by_what_notes_say_of_themselves(memory: Engine) -> None:
    def find(**given: object) -> list[object]:
        return [match["path"] for match in SearchTool(memory)(given).data["matches"]]  # type: ignore[attr-defined]

    assert set(find(types=["project", "reference"])) == {"/memories/deploy.md", "/memories/staging.md"}
    assert find(types="project") == ["/memories/deploy.md"]
    assert find(status=["OPEN"]) == ["/memories/deploy.md"]
    assert find(tags=["#ops"]) == ["/memories/deploy.md"]
    assert find(categories=["fact"]) == ["/memories/deploy.md"]
    assert find(fields={"priority": {"$gt": 2}}) == ["/memories/deploy.md"]
    assert find(fields={"priority": {"$lt": 2}}) == ["/memories/staging.md"]
    assert find(fields={"permalink": {"$exists": True}}) == ["/memories/far/alone.md"]
    assert find(query="See", types=["project"]) == ["/memories/deploy.md"]
    assert find(query="See", types=["reference"]) == []
    assert sorted(map(str, find(since="#3"))) == ["/memories/a/same.md", "/memories/b/same.md"]
    assert find(query="See", until="#1") == ["/memories/deploy.md"]
    listed = SearchTool(memory)({"types": ["project"]})
    assert listed.text.splitlines()[1] == "/memories/deploy.md: Deploying"
    for given, words in (
        ({"types": [5]}, "`types` must be a list"),
        ({"fields": "x"}, "`fields` must be an object"),
        ({"fields": {"a": {"$near": 1}}}, r"`fields`: a condition needs one of \$eq"),
        ({"since": "soon"}, "`since`: Can't read 'soon'"),
        ({"query": "x", "scope": "past", "types": ["a"]}, "with `scope` past"),
        ({"budget": 0, "query": "x"}, "`budget` must be"),
    ):
        with pytest.raises(ToolArgumentError, match=words):
            SearchTool(memory)(given)


def test_activity_of_a_time_and_of_a_type(memory: Engine) -> None:
    def list_events(**given: object) -> list[object]:
        return [event["seq"] for event in answer_activity(memory, given).data["events"]]  # type: ignore[attr-defined]

    memory.execute({"command": "view", "path": "/memories/deploy.md"}, actor=Agent("mara"))
    memory.execute({"command": "delete", "path": "/memories/staging.md"}, actor=Agent("mara"))
    assert list_events(type=["project"]) == [1, 6]
    assert list_events(type="reference") == [2, 7]
    assert list_events(timeframe="1d", limit=3) == [5, 6, 7]
    assert list_events(timeframe="#7") == [7]
    assert list_events(timeframe="now") == []
    assert answer_activity(memory, {"type": ["none"]}).text == "Nothing like that has happened yet."


def test_words_of_notes_stay_on_their_lines(memory: Engine) -> None:
    write(
        memory,
        "bad.md",
        f'---\ntitle: "{_ESCAPE}"\ntype: "x{_ESCAPE}"\n---\n- [c{_ESCAPE}] fact {_ESCAPE}\n[[no{_ESCAPE}]]\n',
    )
    tools = KnowledgeTools(memory)
    answers: list[ToolAnswer] = [
        tools.build_context({"url": "memory://bad"}),
        tools.list_links({"note": "bad"}),
        SearchTool(memory, tools)({"categories": [f"c{_ESCAPE}"]}),
    ]
    for told in answers:
        assert "\x1b" not in told.text
        assert "\u202e" not in told.text
        assert "bad.md" in told.text


def test_a_view_is_cut_at_a_line_and_says_where_to_go_on() -> None:
    lines = "".join(f"{number:6}\t{'x' * 30}\n" for number in range(1, 11))
    cut = cut_view(lines, 100)
    assert cut.startswith(f"     1\t{'x' * 30}\n     2\t{'x' * 30}\n[")
    assert "`view_range` [3, -1]" in cut
    assert cut_view(lines, 10_000) == lines
    assert cut_view("x" * 50, 20).startswith("x" * 20 + "\n[30 more characters are not shown.")


def test_the_guide_speaks_the_dialect_of_the_folder() -> None:
    assert "- part_of [[Search design]]" in build_guide(dialect="basic-memory")
    assert "`MEMORY.md` is loaded by every session" in build_guide(dialect="claude-code")
    assert "[[its-file-name]]" in build_guide()
    assert build_guide("dialect first", "basic-memory").endswith("dialect first")
    assert "{" not in build_guide(dialect="serena")


def test_a_note_is_read_by_its_title_and_recorded_as_a_view(
    folder: Path, start: Callable[..., Server], events: Callable[[], list[Any]]
) -> None:
    (folder / "deploy.md").write_text("---\ntitle: Deploying\n---\n" + "line\n" * 50)
    server = start()
    text, is_error = server.call({"note": "Deploying", "view_range": [4, 5]}, "read_note")
    assert (is_error, text.count("line")) == (False, 3)
    wait_until(lambda: ("view", "/memories/deploy.md") in [(event.command, event.path) for event in events()])
    text, is_error = server.call({"note": "Deploying", "budget": 200}, "read_note")
    assert "more characters are not shown. Go on with `view_range` [" in text
    text, is_error = server.call({"note": "nothing"}, "read_note")
    assert is_error
    assert "there is no note 'nothing'" in text
    guide = server.ask("prompts/get", {"name": "memory_guide"})["messages"][0]["content"]["text"]
    assert "Notes that tie together" in guide
