"""What a query finds in texts: which notes, which of their lines, in which order."""

import itertools
import re
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.search import matcher
from memtui.search.matcher import QueryMatcher, SearchPattern, SearchText, build_line_hit
from memtui.search.query import parse_query
from memtui.search.results import SearchCancelled, TextResults
from memtui.search.text_index import TextIndex


def texts_of(notes: dict[str, str | bytes | None], *, room: int = 1 << 30) -> TextIndex:
    data = {path: text.encode() if isinstance(text, str) else text for path, text in notes.items()}
    texts = TextIndex(data.get, room=room)
    for path, each in data.items():
        texts.put(path, each)
    return texts


def wanted(query: str) -> QueryMatcher:
    return QueryMatcher(parse_query(query, now_us=0))


def lines(found: TextResults) -> dict[str, list[int]]:
    return {note.path: [line.line for line in note.lines] for note in found.notes}


def find(query: str, notes: dict[str, str | bytes | None]) -> dict[str, list[int]]:
    return lines(texts_of(notes).find(wanted(query)))


def test_a_note_holds_all_words_and_its_lines_with_all_of_them_are_shown() -> None:
    notes: dict[str, str | bytes | None] = {
        "one.md": "alpha\nbeta\nalpha then beta\n",
        "spread.md": "alpha\n-\nbeta\n",
        "half.md": "alpha only\n",
    }
    assert find("alpha beta", notes) == {"one.md": [3], "spread.md": [1, 3]}
    assert find("alpha", notes) == {"half.md": [1], "one.md": [1, 3], "spread.md": [1]}


def test_words_side_by_side_come_first_then_those_on_a_line_then_those_apart_each_newest_first() -> None:
    notes: dict[str, str | bytes | None] = {
        "apart.md": "pg\nmigration",
        "old-line.md": "migration of pg",
        "new-line.md": "pg, a migration",
        "phrase.md": "the PG migration",
    }
    when = {"apart.md": 9, "old-line.md": 1, "new-line.md": 5, "phrase.md": 0}
    found = texts_of(notes).find(wanted("pg migr"), recency=when.__getitem__)
    assert list(lines(found)) == ["phrase.md", "new-line.md", "old-line.md", "apart.md"]


def test_capitals_count_only_in_a_word_that_has_one() -> None:
    notes: dict[str, str | bytes | None] = {"a.md": "Straße\nSTRASSE\nstrasse\nΟΔΟΣ οδός\n"}
    assert find("strasse", notes) == {"a.md": [1, 2, 3]}
    assert find("straße", notes) == {"a.md": [1, 2, 3]}
    assert find("Straße", notes) == {"a.md": [1]}
    assert find("STR", notes) == {"a.md": [2]}
    assert find("οδοσ", notes) == {"a.md": [4]}


def test_what_must_not_be_there_rules_out_the_note_and_not_only_the_line() -> None:
    notes: dict[str, str | bytes | None] = {"a.md": "tea\ndraft\n", "b.md": "tea\n"}
    assert find("tea !draft", notes) == {"b.md": [1]}
    assert find("!draft", notes) == {}  # there is nothing to show


def test_one_of_several_words_is_enough_where_a_bar_is_between_them() -> None:
    notes: dict[str, str | bytes | None] = {"a.md": "red\nx\n", "b.md": "x\nblue\n", "c.md": "x\n"}
    assert find("red | blue", notes) == {"a.md": [1], "b.md": [2]}
    assert find("x red | blue", notes) == {"a.md": [1, 2], "b.md": [1, 2]}


def test_the_edges_of_a_line_can_be_asked_for_whatever_its_end() -> None:
    notes: dict[str, str | bytes | None] = {"a.md": "- lock\r\nthe - lock\r\n- lock it\r\n"}
    assert find("'-\\ lock", notes) == {"a.md": [1, 2, 3]}
    assert find("^-\\ lock", notes) == {"a.md": [1, 3]}
    assert find("lock$", notes) == {"a.md": [1, 2]}
    assert find("^-\\ lock$", notes) == {"a.md": [1]}


def test_matches_are_marked_where_they_stand_even_where_letters_change_their_number() -> None:
    hit = build_line_hit(1, "Straße und STRASSE", wanted("strasse"))
    assert [hit.text[start:end] for start, end in hit.spans] == ["Straße", "STRASSE"]
    assert hit.column == 1
    overlapping = build_line_hit(1, "banana", wanted("ana | nan"))
    assert overlapping.spans == ((1, 5),)


def test_a_long_line_is_cut_around_its_first_match_and_its_column_is_that_of_the_whole() -> None:
    line = "x" * 5_000 + "needle" + "y" * 5_000
    hit = build_line_hit(7, line, wanted("needle"))
    assert len(hit.text) < 260
    assert hit.text.startswith("…x")
    assert hit.text.endswith("y…")
    assert hit.text[slice(*hit.spans[0])] == "needle"
    assert (hit.line, hit.column) == (7, 5_001)
    assert build_line_hit(7, line, wanted("needle"), whole=True).text == line
    twice = build_line_hit(7, line + "needle", wanted("needle"))
    assert [twice.text[start:end] for start, end in twice.spans] == ["needle"]  # the other one is cut off
    assert build_line_hit(7, "needle" + "y" * 500, wanted("needle")).text.startswith("needle")
    assert build_line_hit(7, "y" * 500 + "needle", wanted("needle")).text.endswith("needle")


def test_a_line_of_a_million_matches_is_shown_at_once() -> None:
    hit = build_line_hit(1, "ab" * 500_000, wanted("a"))
    assert len(hit.text) < 260
    assert hit.spans[:2] == ((0, 1), (2, 3))
    assert len(build_line_hit(1, "ab" * 500_000, wanted("a"), whole=True).spans) == 1_000


def test_what_is_no_text_is_counted_and_never_shown() -> None:
    found = texts_of({"a.bin": b"\xff\xfe needle", "gone.md": None, "b.md": "needle"}).find(wanted("needle"))
    assert list(lines(found)) == ["b.md"]
    assert (found.unread, found.looked, found.of) == (2, 3, 3)


def test_more_than_the_limit_is_counted() -> None:
    notes: dict[str, str | bytes | None] = {f"{number:04d}.md": "x\nx\n" for number in range(300)}
    found = texts_of(notes).find(wanted("x"), limit=10, per_note=1)
    assert (len(found.notes), found.total_notes, found.total_lines, found.lines_at_least) == (10, 300, 600, False)
    assert (len(found.notes[0].lines), found.notes[0].total) == (1, 2)
    many: dict[str, str | bytes | None] = {f"{number:04d}.md": "x\nx\n" for number in range(3_000)}
    found = texts_of(many).find(wanted("x"), limit=10)
    assert (found.total_notes, found.total_lines, found.lines_at_least) == (3_000, 20, True)


def test_an_expression_matches_line_by_line() -> None:
    notes: dict[str, str | bytes | None] = {"a.md": "v1\nversion v12 here\nv\n1\n", "b.md": "V3 and v4\n"}
    assert find(r"re:v\d+", notes) == {"a.md": [1, 2], "b.md": [1]}
    assert find(r"re:^v\d+$", notes) == {"a.md": [1]}
    assert find(r"re:V\d", notes) == {"b.md": [1]}
    assert find(r"re:v\s1", notes) == {}  # never across lines
    assert find(r"re:(?<=n )v", notes) == {"a.md": [2]}
    assert find(r"re:\Av", notes) == {"a.md": [1, 2, 3], "b.md": [1]}
    assert find(r"here re:v\d+", notes) == {"a.md": [2]}
    assert find(r"re:end(?!\s)", {"a.md": "the end\nof it\n"}) == {"a.md": [1]}  # there is nothing behind it


def test_an_expression_that_would_take_for_ever_is_given_up_in_time_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()  # by this clock each attempt takes a hundredth of a second, on any machine
    monkeypatch.setattr(matcher, "time", SimpleNamespace(perf_counter=lambda: next(ticks) / 100))
    notes: dict[str, str | bytes | None] = {f"{number:02d}.md": "a" * 70 + "-\n" for number in range(50)}
    asked = QueryMatcher(parse_query("re:(a|aa)+$", now_us=0))
    asked.pattern = SearchPattern(re.compile("(a|aa)+$", re.MULTILINE), a_match=0.01, in_all=0.095)
    assert lines(texts_of(notes).find(asked)) == {}
    assert asked.pattern.given_up == 10
    told = "took too long at 10 places, which were skipped. Then the search stopped. Avoid nested repeats."
    assert asked.pattern.warning.endswith(told)


def test_what_was_given_up_is_told_with_what_was_found_before() -> None:
    texts = texts_of({"a.md": "aab\n", "z.md": "a" * 40 + "\n" + "a" * 70 + "-\n"})
    asked = QueryMatcher(parse_query("re:^(a|aa)+$", now_us=0))
    asked.pattern = SearchPattern(re.compile("^(a|aa)+$", re.MULTILINE), a_match=0.02, in_all=5)
    found = texts.find(asked)
    assert lines(found) == {"z.md": [1]}
    assert asked.pattern.given_up >= 1
    assert "re:^(a|aa)+$ took too long at" in asked.pattern.warning


LETTERS = st.text("abAB \n", max_size=12)
QUERIES = st.lists(
    st.sampled_from(["a", "ab", "b", "A", "aB", "!a", "!b", "'ba", "^a", "b$", "a | b"]), max_size=3
).map(" ".join)


@given(notes=st.lists(LETTERS, min_size=1, max_size=6), queries=st.lists(QUERIES, min_size=1, max_size=6))
def test_typing_on_finds_exactly_what_a_fresh_search_finds(notes: list[str], queries: list[str]) -> None:
    named: dict[str, str | bytes | None] = {f"{number}.md": text for number, text in enumerate(notes)}
    kept, outside = texts_of(named), texts_of(named, room=4)
    for number, query in enumerate(queries):
        if number:  # meanwhile the notes change
            path, text = f"{number % len(notes)}.md", notes[-1 - number % len(notes)]
            if number % 3 == 2:
                named.pop(path, None)
                kept.remove(path)
            else:
                named[path] = text
                kept.put(path, text.encode())
            outside = texts_of(named, room=4)
        fresh = texts_of(named).find(wanted(query))
        for each in (kept, outside):
            found = each.find(wanted(query))
            assert sorted(lines(found).items()) == sorted(lines(fresh).items())
            assert (found.total_notes, found.total_lines) == (fresh.total_notes, fresh.total_lines)


@given(text=LETTERS, words=st.lists(st.sampled_from(["a", "ab", "B", "bA"]), min_size=1, max_size=3))
def test_the_lines_that_are_found_are_those_that_hold_the_words(text: str, words: list[str]) -> None:
    def has(line: str, word: str) -> bool:
        return word in (line if word != word.lower() else line.lower())

    split = text.split("\n")
    together = [at for at, line in enumerate(split, 1) if all(has(line, word) for word in words)]
    apart = [at for at, line in enumerate(split, 1) if any(has(line, word) for word in words)]
    everywhere = all(any(has(line, word) for line in split) for word in words)
    expected = (together or apart) if everywhere else []
    assert find(" ".join(words), {"a.md": text}).get("a.md", []) == expected


def test_a_search_that_nobody_waits_for_is_given_up() -> None:
    texts = texts_of({f"{number}.md": "x" for number in range(2_000)})
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    with pytest.raises(SearchCancelled):
        texts.find(wanted("x"), stop=stop)
    assert asked == 4
    assert texts.find(wanted("x")).total_notes == 2_000  # and nothing is left of it


def test_a_text_for_which_there_is_no_room_is_read_for_each_search() -> None:
    read: list[str] = []

    def reading(path: str) -> bytes:
        read.append(path)
        return b"needle"

    texts = TextIndex(reading, room=13)
    for path in ("a.md", "b.md", "c.md"):
        texts.put(path, b"needle")
    assert list(lines(texts.find(wanted("needle")))) == ["a.md", "b.md", "c.md"]
    assert set(read) == {"c.md"}


def test_a_text_in_capitals_weighs_twice_and_is_folded_line_by_line() -> None:
    text = SearchText("ẞ\nÄ\r\nİ".encode())
    assert text.folded.count(b"\n") == text.data.count(b"\n")
    assert text.weight == len(text.data) + len(text.folded)
    assert SearchText(b"plain").weight == 5


@pytest.mark.parametrize(
    ("written", "text", "is_too_large"),
    [("a{99999999}", "a" * 9, True), ("((a{100}){100}){100}", "a" * 9, True), ("(?:[ab]c){19999}", "ac", True),
     ("(?:ab){3,99999}", "ababab", False), ("((a{10}){10}){10}", "a" * 1_000, False), ("[{]{5}", "{{{{{", False),
     (r"\{99999999}", "{99999999}", False)],
)  # fmt: skip
def test_an_expression_that_would_fill_the_memory_is_refused(written: str, text: str, *, is_too_large: bool) -> None:
    pattern = SearchPattern(re.compile(written))
    assert pattern.warning.startswith("The regular expression after re: is too large") is is_too_large
    assert (pattern.search(text) == (0, len(text))) is not is_too_large
    assert pattern.may_match(text) is not is_too_large
