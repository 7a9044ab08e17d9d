"""A memory that is searched while it lives: names, texts and past together."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import memtui
from memtui.core.events import Agent, Person, format_actor_name
from memtui.engine import Engine
from memtui.scan.samples import make_sample
from memtui.search.finder import Finder
from memtui.search.query import parse_query
from memtui.search.results import PastHit, Scope, SearchCancelled, SearchResults

NOW_US = 1_800_000_000_000_000
CLAUDE, OTHER = Agent("Claude"), Agent("Otto")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "memories").mkdir()
    with memtui.open(tmp_path / "memories", state=tmp_path / "state") as memory:
        yield memory


@pytest.fixture
def finder(memory: Engine) -> Finder:
    return Finder(memory)


def create(memory: Engine, path: str, text: str, actor: Agent | Person = CLAUDE) -> int:
    command = {"command": "create", "path": f"/memories/{path}", "file_text": text}
    return memory.execute(command, actor=actor).event.seq


def do(memory: Engine, actor: Agent | Person = CLAUDE, **command: object) -> int:
    answer = memory.execute(command, actor=actor)
    assert not answer.is_error, answer.text
    return answer.event.seq


def find(finder: Finder, query: str, scope: Scope = Scope.ALL, **more: int) -> SearchResults:
    finder.refresh()
    return finder.find(parse_query(query, now_us=NOW_US), scope, **more)


def texts(found: SearchResults) -> dict[str, list[int]]:
    return {note.path: [line.line for line in note.lines] for note in found.text.notes}


def stays(found: SearchResults) -> list[tuple[str, str, int, int | None, str | None]]:
    """Path, line, the numbers of the events with which it came and went, and what the note is called now."""
    return [_stay(hit) for hit in found.past.hits]


def _stay(hit: PastHit) -> tuple[str, str, int, int | None, str | None]:
    return (hit.path, hit.line.text, hit.added_by.seq, hit.removed_by.seq if hit.removed_by else None, hit.now)


# The present


def test_notes_are_found_as_they_change(memory: Engine, finder: Finder, tmp_path: Path) -> None:
    create(memory, "a.md", "needle\n")
    assert texts(find(finder, "needle")) == {"a.md": [1]}
    do(memory, command="insert", path="/memories/a.md", insert_line=0, insert_text="first\n")
    assert texts(find(finder, "needle")) == {"a.md": [2]}
    do(memory, command="rename", old_path="/memories/a.md", new_path="/memories/b/c.md")
    found = find(finder, "needle")
    assert texts(found) == {"b/c.md": [2]}
    assert [hit.path for hit in find(finder, "c.md", Scope.NAMES).names.hits] == ["b/c.md"]
    (tmp_path / "memories" / "b" / "c.md").write_text("needle from outside\n")
    memory.reconcile()
    assert texts(find(finder, "outside")) == {"b/c.md": [1]}
    do(memory, command="delete", path="/memories/b")
    assert find(finder, "needle").text.total_notes == 0
    assert finder.paths == []


def test_what_stood_there_before_is_found_with_its_links_and_what_is_no_text(finder: Finder, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    (folder / "old.md").write_text("needle [link](other.md)\n")
    (folder / "other.md").write_text("nothing\n")
    (folder / "bin.md").write_bytes(b"\xffneedle")
    (folder / "link.md").symlink_to("old.md")
    (folder / ".hidden.md").write_text("needle\n")
    found = find(finder, "needle")
    assert texts(found) == {"old.md": [1]}
    assert (found.text.looked, found.text.of, found.text.unread) == (3, 3, 1)
    assert set(finder.paths) == {"old.md", "other.md", "bin.md", "link.md"}
    assert finder.is_complete
    assert finder.get_note("old.md") == b"needle [link](other.md)\n"
    assert finder.get_note("bin.md") == b"\xffneedle"
    assert finder.get_note("none.md") is None
    assert [(link.path, link.text) for link in finder.find_backlinks("other.md")] == [
        ("old.md", "needle [link](other.md)")
    ]
    assert texts(find(Finder(finder.engine, hidden=True), "needle")) == {".hidden.md": [1], "old.md": [1]}


def test_refreshing_comes_back_in_time_and_goes_on_where_it_was(memory: Engine, finder: Finder) -> None:
    for number in range(300):
        create(memory, f"{number}.md", "needle\n")
    rounds = 0
    while not finder.is_complete or rounds == 0:
        assert finder.refresh(seconds=0) is True
        rounds += 1
    assert rounds > 3
    assert find(finder, "needle").text.total_notes == 300
    assert finder.refresh() is False
    assert finder.refresh(stop=lambda: True) is False


def test_before_all_is_read_it_says_how_much_it_has_seen(memory: Engine, finder: Finder) -> None:
    for number in range(200):
        create(memory, f"{number:03d}.md", "needle\n")
    finder.refresh(seconds=0)
    found = finder.find(parse_query("needle", now_us=0), Scope.TEXT)
    assert 0 < found.text.looked < found.text.of == 200
    assert found.text.total_notes == found.text.looked
    names = finder.find(parse_query("", now_us=0), Scope.NAMES).names
    assert names.total == 200


def test_an_empty_query_lists_all_names_the_newest_first_and_no_lines(memory: Engine, finder: Finder) -> None:
    for path in ("b.md", "a.md", "c.md"):
        create(memory, path, "x\n")
    do(memory, command="insert", path="/memories/b.md", insert_line=0, insert_text="y\n")
    found = find(finder, "")
    assert [hit.path for hit in found.names.hits] == ["b.md", "c.md", "a.md"]
    assert (found.text.notes, found.past.hits) == ((), ())


# Filters


def test_filters_hold_for_names_texts_and_past_alike(memory: Engine, finder: Finder) -> None:
    create(memory, "projects/a.md", "---\ntype: decision\ntags: [tea]\n---\nneedle one\n")
    create(memory, "notes/b.md", "needle two\n", OTHER)
    create(memory, "notes/c.json", '{"needle": 3}\n', Person())
    create(memory, "d.md", "needle four\n")
    create(memory, "e.md", f"needle {make_sample('gitlab-token')}\n", Agent("Eve"))

    def named(query: str) -> list[str]:
        return sorted(hit.path for hit in find(finder, query, Scope.NAMES).names.hits)

    for query, paths in (
        ("by:claude", ["d.md", "projects/a.md"]),
        ("by:ott", ["notes/b.md"]),
        ("by:you", ["notes/c.json"]),
        ("!by:claude", ["e.md", "notes/b.md", "notes/c.json"]),
        ("in:notes/", ["notes/b.md", "notes/c.json"]),
        ("in:notes/ type:json", ["notes/c.json"]),
        ("tag:tea", ["projects/a.md"]),
        ("type:decision", ["projects/a.md"]),
        ("type:md by:otto", ["notes/b.md"]),
        ("since:3", ["d.md", "e.md"]),
        ("flag:secret", ["e.md"]),
        ("!flag:secret in:notes/", ["notes/b.md", "notes/c.json"]),
        ("until:1", ["projects/a.md"]),
    ):
        assert named(query) == paths, query
        assert sorted(texts(find(finder, f"needle {query}", Scope.TEXT))) == paths, query
        past = find(finder, f"needle {query}", Scope.PAST).past
        assert sorted(hit.path for hit in past.hits) == paths, query


def test_who_and_when_have_to_be_of_the_same_change(memory: Engine, finder: Finder) -> None:
    create(memory, "a.md", "x\n")
    do(memory, OTHER, command="insert", path="/memories/a.md", insert_line=0, insert_text="y\n")
    assert find(finder, "by:claude", Scope.NAMES).names.total == 1
    assert find(finder, "by:claude since:1", Scope.NAMES).names.total == 0
    assert find(finder, "by:otto since:1", Scope.NAMES).names.total == 1


def test_an_agent_that_calls_itself_you_is_not_you(memory: Engine, finder: Finder) -> None:
    create(memory, "a.md", "x\n", Agent("you"))
    assert format_actor_name(Agent("you")) == "agent:you"
    assert find(finder, "by:you", Scope.NAMES).names.total == 0
    assert find(finder, "by:agent:you", Scope.NAMES).names.total == 1


# The past


def test_a_line_is_told_from_its_coming_to_its_going_through_renames(memory: Engine, finder: Finder) -> None:
    came = create(memory, "a.md", "head\nneedle one\n")
    do(memory, command="rename", old_path="/memories/a.md", new_path="/memories/b.md")
    do(memory, command="insert", path="/memories/b.md", insert_line=0, insert_text="top\n")
    went = do(memory, OTHER, command="str_replace", path="/memories/b.md", old_str="needle one", new_str="needle two")
    found = find(finder, "needle", Scope.PAST)
    assert stays(found) == [
        ("a.md", "needle one", came, went, "b.md"),
        ("b.md", "needle two", went, None, "b.md"),
    ]
    gone = found.past.hits[0]
    assert gone.removed_by is not None
    assert (gone.line.line, gone.added_by.actor, gone.removed_by.actor) == (2, CLAUDE, OTHER)
    assert finder.engine.history.text(gone.version) == b"head\nneedle one\n"


def test_deleted_notes_are_found_and_what_comes_back_has_come_again(memory: Engine, finder: Finder) -> None:
    came = create(memory, "a.md", "needle\n")
    gone = do(memory, command="delete", path="/memories/a.md")
    assert stays(find(finder, "needle", Scope.PAST)) == [("a.md", "needle", came, gone, None)]
    memory.undo([gone])
    back = memory.get_head()[0]
    assert stays(find(finder, "needle", Scope.PAST)) == [
        ("a.md", "needle", back, None, "a.md"),
        ("a.md", "needle", came, gone, "a.md"),
    ]


def test_a_line_that_is_there_twice_and_then_once_has_gone_once(memory: Engine, finder: Finder) -> None:
    came = create(memory, "a.md", "needle\nneedle\n")
    went = do(memory, command="create", path="/memories/a.md", file_text="other\nneedle\n")
    assert stays(find(finder, "needle", Scope.PAST)) == [
        ("a.md", "needle", came, went, "a.md"),
        ("a.md", "needle", came, None, "a.md"),
    ]


def test_a_line_that_comes_a_second_time_again_has_come_when_it_came_again(memory: Engine, finder: Finder) -> None:
    came = create(memory, "a.md", "needle\nneedle\n")
    went = do(memory, command="create", path="/memories/a.md", file_text="needle\n")
    again = do(memory, command="create", path="/memories/a.md", file_text="needle\nneedle\n")
    found = find(finder, "needle", Scope.PAST)
    assert stays(found) == [
        ("a.md", "needle", again, None, "a.md"),
        ("a.md", "needle", came, went, "a.md"),
        ("a.md", "needle", came, None, "a.md"),
    ]
    assert [hit.line.line for hit in found.past.hits] == [2, 2, 1]


def test_with_everything_else_only_what_stands_nowhere_any_more_is_told_of_the_past(
    memory: Engine, finder: Finder
) -> None:
    create(memory, "a.md", "needle moved\nneedle gone\nneedle stays\r\n")
    create(memory, "b.md", "needle moved\n")
    do(memory, command="create", path="/memories/a.md", file_text="needle stays\n")
    found = find(finder, "needle")
    assert [hit.line.text for hit in found.past.hits] == ["needle gone"]
    assert sorted(texts(found)) == ["a.md", "b.md"]
    assert len(find(finder, "needle", Scope.PAST).past.hits) == 4


def test_what_was_redacted_is_counted_and_never_shown_not_even_by_a_finder_that_knew_it(
    memory: Engine, finder: Finder
) -> None:
    create(memory, "a.md", "the needle is s3cret\n")
    do(memory, command="str_replace", path="/memories/a.md", old_str="the needle", new_str="a needle")
    assert find(finder, "s3cret", Scope.PAST).past.total == 2
    done = memory.redact(match="s3cret")
    assert done.event is not None
    for scope in Scope:  # nobody refreshed it
        found = finder.find(parse_query("s3cret", now_us=0), scope)
        assert (found.text.notes, found.past.hits) == ((), ()), scope
    found = find(finder, "needle", Scope.PAST)
    assert found.past.missing_texts == 2
    assert [hit.line.text for hit in found.past.hits] == ["a needle is [redacted]"]
    assert find(Finder(memory), "needle", Scope.PAST).past == found.past


def test_a_version_in_between_that_is_not_kept_hides_nothing(memory: Engine, finder: Finder) -> None:
    came = create(memory, "a.md", "needle\n")
    middle = do(memory, command="insert", path="/memories/a.md", insert_line=0, insert_text="s3cret\n")
    do(memory, command="str_replace", path="/memories/a.md", old_str="s3cret\n", new_str="fine\n")
    last = do(memory, command="str_replace", path="/memories/a.md", old_str="needle\n", new_str="")
    memory.redact(event=middle)
    assert stays(find(finder, "needle", Scope.PAST)) == [("a.md", "needle", came, last, "a.md")]


def test_words_on_different_lines_of_a_version_are_found_as_in_notes(memory: Engine, finder: Finder) -> None:
    create(memory, "a.md", "red\nx\nblue\n")
    create(memory, "b.md", "red\nx\nblue\nred and blue\n")
    do(memory, command="delete", path="/memories/a.md")
    found = find(finder, "red blue", Scope.PAST)
    assert [(hit.path, hit.line.text) for hit in found.past.hits] == [
        ("a.md", "red"),
        ("a.md", "blue"),
        ("b.md", "red and blue"),
    ]


def test_of_very_many_lines_the_newest_are_brought_and_the_rest_is_said_to_be_more(
    memory: Engine, finder: Finder
) -> None:
    for number in range(150):
        create(memory, f"{number}.md", "needle\n" * 30)
    found = find(finder, "needle", Scope.PAST, limit=40)
    assert [hit.added_by.seq for hit in found.past.hits] == [150] * 30 + [149] * 10
    assert found.past.at_least
    assert 1_000 <= found.past.total < 150 * 30
    assert (found.past.looked, found.past.of) == (1, 1)  # it is one text


def test_a_folder_that_moves_takes_the_past_of_its_notes_along(memory: Engine, finder: Finder) -> None:
    came = create(memory, "old/a.md", "needle\n")
    create(memory, "old/b.md", "other needle\n")
    do(memory, command="rename", old_path="/memories/old", new_path="/memories/new")
    went = do(memory, command="create", path="/memories/new/a.md", file_text="nothing\n")
    create(memory, "old/a.md", "something else\n")  # another thing at the same place
    assert ("old/a.md", "needle", came, went, "new/a.md") in stays(find(finder, "needle", Scope.PAST))


def test_notes_that_change_places_take_their_past_along(memory: Engine, finder: Finder) -> None:
    for path, text in (("a.md", "needle a\n"), ("b.md", "needle b\n"), ("c.md", "same\n"), ("d.md", "same\n")):
        create(memory, path, text)
    do(memory, command="insert", path="/memories/c.md", insert_line=0, insert_text="needle c\n")
    gone = do(memory, command="create", path="/memories/c.md", file_text="same\n")
    moved = memory.files.move({"a.md": "b.md", "b.md": "a.md", "c.md": "d.md", "d.md": "c.md"})
    assert moved.event is not None
    went = do(memory, command="create", path="/memories/b.md", file_text="nothing\n")
    assert stays(find(finder, "needle", Scope.PAST)) == [
        ("a.md", "needle a", 1, went, "b.md"),
        ("c.md", "needle c", 5, gone, "d.md"),
        ("b.md", "needle b", 2, None, "a.md"),
    ]


# Together


def test_it_answers_truly_while_an_agent_writes_and_others_ask(memory: Engine, finder: Finder) -> None:
    """Threads search and refresh while notes change, come and go; whatever is answered was true at some moment."""
    faults: list[BaseException] = []
    ending = threading.Event()

    def watch(work: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                while not ending.wait(0.001):  # the writer gets its turn
                    work()
            except BaseException as error:  # it is told by the test
                faults.append(error)

        return run

    def ask() -> None:
        found = finder.find(parse_query("needle", now_us=0), Scope.ALL)
        for note in found.text.notes:
            assert all("needle" in line.text for line in note.lines)
            assert len(note.lines) == note.total == 1
        assert all("needle" in hit.line.text for hit in found.past.hits)

    threads = [threading.Thread(target=watch(work)) for work in (ask, ask, lambda: finder.refresh() and None)]
    for thread in threads:
        thread.start()
    for number in range(60):
        create(memory, f"{number % 7}.md", f"needle {number}\n")
        if number % 5 == 0:
            do(memory, command="delete", path=f"/memories/{number % 7}.md")
    ending.set()
    for thread in threads:
        thread.join(30)
    assert not faults
    found = find(finder, "needle", Scope.PAST, limit=1_000)
    assert found.past.total == 60  # each text was another one
    assert sorted(texts(find(finder, "needle", Scope.TEXT))) == sorted(finder.paths)


def test_a_newer_query_need_not_wait_for_an_older_one(memory: Engine, finder: Finder) -> None:
    for number in range(300):
        create(memory, f"{number}.md", "needle\n")
    finder.refresh()
    with pytest.raises(SearchCancelled):
        finder.find(parse_query("needle", now_us=0), Scope.ALL, stop=lambda: True)
    with pytest.raises(SearchCancelled):
        finder.find(parse_query("re:n.e", now_us=0), Scope.PAST, stop=lambda: True)
    assert find(finder, "needle").text.total_notes == 300


def test_an_expression_that_is_given_up_is_told_with_the_answer(memory: Engine, finder: Finder) -> None:
    create(memory, "a.md", "a" * 80 + "-\n")
    found = find(finder, "re:^(a|aa)+$", Scope.TEXT)
    assert found.text.notes == ()
    assert found.problem.startswith("re:^(a|aa)+$ took too long at ")
    assert find(finder, "re:^a+-$", Scope.TEXT).problem == ""


def test_notes_that_are_read_at_once_are_found_as_those_that_are_read_bit_by_bit(
    memory: Engine, tmp_path: Path
) -> None:
    folder = tmp_path / "memories"
    for name, data in {
        "b/two.md": b"a word\n", "a.md": b"a Word\n", ".hidden/x.md": b"a word\n", "node_modules/y.md": b"a word\n",
        "binary": b"a word\xff", "large.md": b"a word\n" * 200_000, "zz.md": b"nothing\n",
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "link.md").symlink_to("a.md")
    (folder / "gone.md").symlink_to("nowhere")
    memory.reconcile()
    for hidden in (False, True):
        at_once, by_bits = Finder(memory, hidden=hidden), Finder(memory, hidden=hidden)
        at_once.refresh()
        while by_bits.refresh(seconds=0.0):
            pass
        assert at_once.is_complete
        assert list(at_once.paths) == list(by_bits.paths)
        for query in ("word", "w", "md"):
            found = [
                (each.names, each.text)
                for each in (one.find(parse_query(query, now_us=NOW_US), Scope.ALL) for one in (at_once, by_bits))
            ]
            assert found[0] == found[1]
            assert found[0][1].notes or query == "md"


def test_a_first_reading_that_is_stopped_leaves_nothing_behind(memory: Engine) -> None:
    create(memory, "gone.md", "a word\n")
    finder = Finder(memory)
    assert not finder.refresh(stop=lambda: True)
    do(memory, command="delete", path="/memories/gone.md")
    finder.refresh()
    assert not finder.find(parse_query("word", now_us=NOW_US), Scope.TEXT).text.notes
