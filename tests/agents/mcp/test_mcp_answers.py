"""The answers of the tools that only read."""

from collections.abc import Callable, Iterator

import pytest

import memtui
from memtui.agents.mcp.answers import ToolArgumentError, answer_activity, answer_history
from memtui.agents.mcp.tools import SearchTool
from memtui.core.events import Agent
from memtui.engine import Engine

ME = Agent("mara's agent", session="s1")


@pytest.fixture
def memory() -> Iterator[Engine]:
    with memtui.open_in_memory() as memory:
        yield memory


@pytest.fixture
def do(memory: Engine) -> Callable[..., None]:
    def do(**command: object) -> None:
        memory.execute(command, actor=ME)

    return do


def test_what_happened_is_told_in_order_with_its_results(memory: Engine, do: Callable[..., None]) -> None:
    assert answer_activity(memory, {}).text == "Nothing has happened yet."
    do(command="create", path="/memories/a.md", file_text="x\n")
    do(command="rename", old_path="/memories/a.md", new_path="/memories/b.md")
    do(command="delete", path="/memories/none")
    told = answer_activity(memory, {})
    lines = [line.split(" ", 2)[2] for line in told.text.splitlines()]
    assert lines == [
        "mara's agent created /memories/a.md (+1 -0).",
        "mara's agent renamed /memories/a.md to /memories/b.md.",
        "mara's agent was refused: delete /memories/none.",
    ]
    assert [event["result"] for event in told.data["events"]] == ["ok", "ok", "refused"]  # type: ignore[attr-defined]
    assert told.data["events"][0]["session"] == "s1"  # type: ignore[index]


def test_the_last_events_of_one_place_are_found_behind_a_thousand_others(
    memory: Engine, do: Callable[..., None]
) -> None:
    do(command="create", path="/memories/first/a.md", file_text="x")
    do(command="create", path="/memories/firsts.md", file_text="x")
    for number in range(1_100):
        do(command="view", path=f"/memories/none-{number}")
    assert [event["seq"] for event in answer_activity(memory, {"path": "/memories/first"}).data["events"]] == [1]  # type: ignore[attr-defined]
    assert [event["seq"] for event in answer_activity(memory, {"limit": 3}).data["events"]] == [1100, 1101, 1102]  # type: ignore[attr-defined]


def test_a_history_goes_through_renames_and_shows_a_diff(memory: Engine, do: Callable[..., None]) -> None:
    do(command="create", path="/memories/a.md", file_text="one\ntwo\n")
    do(command="str_replace", path="/memories/a.md", old_str="two", new_str="zwei")
    do(command="rename", old_path="/memories/a.md", new_path="/memories/b.md")
    do(command="str_replace", path="/memories/b.md", old_str="one", new_str="eins")
    versions = answer_history(memory, {"path": "/memories/b.md"}).data["versions"]
    assert [(row["seq"], row["was"]) for row in versions] == [  # type: ignore[attr-defined]
        (4, "/memories/b.md"),
        (3, "/memories/b.md"),
        (2, "/memories/a.md"),
        (1, "/memories/a.md"),
    ]
    told = answer_history(memory, {"path": "/memories/b.md", "from": 3})
    assert "-one\n+eins\n" in told.text
    assert (told.data["added"], told.data["removed"]) == (1, 1)
    same = answer_history(memory, {"path": "/memories/b.md", "from": 4})
    assert same.text == "/memories/b.md is the same after #4 and after #4."
    made = answer_history(memory, {"path": "/memories/a.md", "from": 1, "to": 2})
    assert "-two\n+zwei\n" in made.text
    with pytest.raises(ToolArgumentError, match="there was nothing at"):
        answer_history(memory, {"path": "/memories/b.md", "from": 1, "to": 2})


def test_what_is_hidden_is_searched_no_more_than_it_is_listed(memory: Engine, do: Callable[..., None]) -> None:
    for path in ("a.md", ".secret/b.md", "node_modules/c.md"):
        do(command="create", path=f"/memories/{path}", file_text="needle\n")
    search = SearchTool(memory)
    told = search({"query": "needle"})
    assert told.text.splitlines() == ["1 match in 1 note, of 1 searched:", "/memories/a.md:1: needle"]
    assert search({"query": "hay"}).text == "Nothing found in 1 note."
    assert search({"query": "needle", "limit": 1}).data["more"] == 0


def test_a_search_finds_names_and_lines_whatever_their_capitals_unless_they_are_typed(
    memory: Engine, do: Callable[..., None]
) -> None:
    do(command="create", path="/memories/a.md", file_text="tea\nGreen Tea\nt.a (x)\n")
    do(command="create", path="/memories/tea/b.md", file_text="coffee")
    do(command="create", path="/memories/d.md", file_text="x" * 500 + "tea" + "y" * 500)
    search = SearchTool(memory)

    def places(query: str) -> list[tuple[object, object]]:
        return [(match["path"], match["line"]) for match in search({"query": query}).data["matches"]]  # type: ignore[attr-defined]

    assert places("tea") == [
        ("/memories/tea/b.md", None),
        ("/memories/d.md", 1),
        ("/memories/a.md", 1),
        ("/memories/a.md", 2),
    ]
    assert places("Tea") == [("/memories/a.md", 2)]
    assert places("t.a") == [("/memories/a.md", 3)]  # no pattern
    assert places("(") == [("/memories/a.md", 3)]
    assert places("re:t.a.x") == []
    assert places("re:t.a .x") == [("/memories/a.md", 3)]
    long = search({"query": "tea", "scope": "text"}).data["matches"][0]["text"]  # type: ignore[index]
    assert len(long) < 300
    assert long.startswith("…x")


def test_a_search_counts_what_it_does_not_bring(memory: Engine, do: Callable[..., None]) -> None:
    do(command="create", path="/memories/a.md", file_text="x\n" * 100)
    told = SearchTool(memory)({"query": "x", "limit": 7})
    assert (len(told.data["matches"]), told.data["more"]) == (7, 93)  # type: ignore[arg-type]
    assert told.text.splitlines()[0] == "100 matches in 1 note, of 1 searched:"
    assert told.text.splitlines()[-1].startswith("93 more are not shown.")


def test_a_search_sees_what_happened_since_the_last_one(memory: Engine, do: Callable[..., None]) -> None:
    search = SearchTool(memory)
    do(command="create", path="/memories/a.md", file_text="needle\n")
    assert search({"query": "needle"}).data["notes"] == 1
    do(command="rename", old_path="/memories/a.md", new_path="/memories/b.md")
    assert [match["path"] for match in search({"query": "needle"}).data["matches"]] == ["/memories/b.md"]  # type: ignore[attr-defined]
    do(command="delete", path="/memories/b.md")
    assert search({"query": "needle"}).data["matches"] == []


def test_a_search_of_the_past_tells_who_brought_a_line_and_who_took_it_away(
    memory: Engine, do: Callable[..., None]
) -> None:
    do(command="create", path="/memories/a.md", file_text="keep\nneedle here\n")
    do(command="rename", old_path="/memories/a.md", new_path="/memories/b.md")
    do(command="str_replace", path="/memories/b.md", old_str="needle here", new_str="gone")
    told = SearchTool(memory)({"query": "needle", "scope": "past"})
    (hit,) = told.data["past"]  # type: ignore[misc]
    assert (hit["path"], hit["now"], hit["line"], hit["text"]) == ("/memories/a.md", "/memories/b.md", 2, "needle here")
    assert (hit["came"]["seq"], hit["went"]["seq"], hit["went"]["actor"]) == (1, 3, "mara's agent")
    first, line = told.text.splitlines()
    assert first == "1 line in 2 versions, the newest change first:"
    assert line.startswith("/memories/a.md:2: needle here [came with #1 ")
    assert line.endswith("by mara's agent; now /memories/b.md]")


def test_a_query_that_cannot_be_read_is_answered_with_what_can(memory: Engine) -> None:
    search = SearchTool(memory)
    with pytest.raises(ToolArgumentError, match=r"There is no filter byy:\. Did you mean by:\?"):
        search({"query": "byy:claude"})
    with pytest.raises(ToolArgumentError, match="`scope` must be one of now, names, text, past"):
        search({"query": "x", "scope": "elsewhere"})
    with pytest.raises(ToolArgumentError, match="needs a word"):
        search({"query": "by:claude", "scope": "past"})
