"""What a person types, as it is read."""

import re
from datetime import UTC, datetime

import pytest

from memtui.search.query import FILTERS, Filters, InvalidQuery, MatchKind, Query, Term, parse_query

_NOW = int(datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp() * 1e6)


def _read(text: str) -> Query:
    return parse_query(text, now_us=_NOW)


def _bad(text: str) -> InvalidQuery:
    with pytest.raises(InvalidQuery) as caught:
        _read(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("   ", []),
        ("a b", [[Term("a")], [Term("b")]]),
        ("a | b c", [[Term("a"), Term("b")], [Term("c")]]),
        ("a | b | c", [[Term("a"), Term("b"), Term("c")]]),
        ("| a", [[Term("|")], [Term("a")]]),
        ("a |", [[Term("a")]]),
        ("'a", [[Term("a", MatchKind.EXACT)]]),
        ("^a", [[Term("a", MatchKind.PREFIX)]]),
        ("a$", [[Term("a", MatchKind.SUFFIX)]]),
        ("^a$", [[Term("a", MatchKind.EQUAL)]]),
        ("$", [[Term("$")]]),
        ("!a", [[Term("a", MatchKind.EXACT, negated=True)]]),
        ("!^a", [[Term("a", MatchKind.PREFIX, negated=True)]]),
        ("!a$", [[Term("a", MatchKind.SUFFIX, negated=True)]]),
        ("!'a", [[Term("a", MatchKind.FUZZY, negated=True)]]),
        ("! ' ^ !^ ^$", []),
        ("a\\ b", [[Term("a b")]]),
        ("'a\\ b c", [[Term("a b", MatchKind.EXACT)], [Term("c")]]),
        ("Ab", [[Term("Ab", case=True)]]),
        ('"a b" c', [[Term("a b", MatchKind.EXACT)], [Term("c")]]),
        ('!"a b"', [[Term("a b", MatchKind.EXACT, negated=True)]]),
        ('"a b', [[Term('"a')], [Term("b")]]),
        ('say "hi"you', [[Term("say")], [Term('"hi"you')]]),
        ("TODO: x", [[Term("TODO:", case=True)], [Term("x")]]),
        ("https://a.b", [[Term("https://a.b")]]),
        ("std::string", [[Term("std::string")]]),
        ("10:14", [[Term("10:14")]]),
        ("c:x", [[Term("c:x")]]),
        ("'foo:bar", [[Term("foo:bar", MatchKind.EXACT)]]),
        ("note:", [[Term("note:")]]),
    ],
)
def test_words_are_read_as_fzf_reads_them(text: str, terms: list[list[Term]]) -> None:
    query = _read(text)
    assert [list(group) for group in query.terms] == terms
    assert (query.filters, query.pattern, query.is_empty) == (Filters(), None, not terms)


def test_a_fuzzy_word_is_a_run_of_letters_in_a_text() -> None:
    assert _read("a ^b | 'c !d").text_terms == (
        (Term("a", MatchKind.EXACT),),
        (Term("b", MatchKind.PREFIX), Term("c", MatchKind.EXACT)),
        (Term("d", MatchKind.EXACT, negated=True),),
    )  # fmt: skip


def test_it_is_known_whether_there_is_anything_to_look_for() -> None:
    assert [_read(text).has_positive_terms for text in ("a", "re:x", "!a", "by:me", "", "!a b")] == [
        True, True, False, False, False, True,
    ]  # fmt: skip


def test_filters_combine_with_words_in_any_order() -> None:
    query = _read('by:Claude pg tag:#X in:/memories/projects/ !tag:old "a b" type:.JSON -by:"My Agent" flag:sec')
    assert query.filters == Filters(
        by=("claude",), within=("projects/",), tags=("x",), types=("json",), flags=("secret",),
        without=Filters(by=("my agent",), tags=("old",)),
    )  # fmt: skip
    assert [term.text for group in query.terms for term in group] == ["pg", "a b"]


def test_a_filter_that_is_being_typed_is_ignored() -> None:
    for text in ("by:", "since:", "flag:", 'by:"', "re:", "-tag:"):
        query = _read(f"{text} a" if text != "re:" else "a re:")
        assert (query.terms, query.filters) == (((Term("a"),),), Filters()) or text == 'by:"'
    assert not _read("in:").filters


def test_since_and_until_take_the_moments_of_the_log() -> None:
    filters = _read("since:2d until:2026-11-20").filters
    assert filters.since.first_us == _NOW - 2 * 86_400_000_000
    assert filters.until is not None
    assert filters.until.last_us is not None
    assert filters.accepts_event(5, _NOW - 3 * 3_600_000_000 * 24) is False
    assert filters.accepts_event(5, filters.since.first_us + 1) is True
    assert filters.accepts_event(5, filters.until.last_us + 1) is False
    assert _read('since:"2 days ago"').filters.since.first_us == filters.since.first_us
    numbered = _read("since:41 until:43").filters
    assert [seq for seq in range(40, 46) if numbered.accepts_event(seq, 0)] == [42, 43]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("autor:me x", "There is no filter autor:. Filters: by:, since:,"),
        ("tags:me x", "There is no filter tags:. Did you mean tag:? Filters: by:,"),
        ("flag:evil x", "There is no flag evil. Flags: secret, hidden, planted, broken."),
        ("since:soon x", "since: Can't read 'soon' as a time. Try 2h, yesterday, 10:14 or an event number"),
        ("!since:2d x", "since: cannot be negated. Use until:2d."),
        (
            "x re:a(b",
            "Invalid regular expression after re: missing ), unterminated subpattern, at character 2 of a(b",
        ),
    ],
)
def test_what_cannot_be_read_is_said_and_the_rest_goes_on(text: str, words: str) -> None:
    error = _bad(text)
    assert str(error).startswith(words)
    assert error.rest.terms == ((Term("x"),),)


def test_an_unknown_filter_names_those_that_exist_and_how_to_look_for_the_words() -> None:
    said = str(_bad("wrote:claude"))
    assert all(f"{name}:" in said for name in FILTERS)
    assert said.endswith("write 'wrote:claude")
    assert "\x1b" not in str(_bad("wrote:\x1b[31m"))


def test_a_regular_expression_takes_the_rest_with_its_spaces_but_not_the_filters() -> None:
    query = _read("word re:ver. \\d+ | x  by:claude")
    assert query.pattern is not None
    assert (query.pattern.pattern, query.filters.by, len(query.terms)) == ("ver. \\d+ | x", ("claude",), 1)
    assert query.pattern.flags & re.MULTILINE


@pytest.mark.parametrize(
    ("pattern", "text", "is_found"),
    [
        ("abc", "xABCx", True),
        ("aBc", "xabcx", False),
        ("\\S\\D", "ab", True),
        ("^b$", "a\nB\nc", True),
        ("(?P<Name>a)", "A", True),
        ("[[a]", "[", True),
    ],
)
def test_a_regular_expression_has_smart_case(pattern: str, text: str, is_found: bool) -> None:
    compiled = _read(f"re:{pattern}").pattern
    assert compiled is not None
    assert bool(compiled.search(text)) is is_found


@pytest.mark.parametrize("pattern", ["*", "\\", "(?P<a", "[z-a]"])
def test_a_regular_expression_that_is_none_is_no_crash(pattern: str) -> None:
    assert str(_bad(f"re:{pattern}")).startswith("Invalid regular expression after re: ")


@pytest.mark.parametrize("pattern", ["a{99999999999}", "(" * 5_000])
def test_a_regular_expression_that_is_too_large_is_no_crash(pattern: str) -> None:
    assert str(_bad(f"re:{pattern}")).startswith("The regular expression after re: is too large: ")


@pytest.mark.parametrize(
    ("folder", "paths"),
    [
        ("projects/", ["projects/a.md", "projects/x/b.md"]),
        ("proj", ["projects/a.md", "projects/x/b.md", "old/projects/c.md"]),
        ("prj", ["projects/a.md", "projects/x/b.md", "old/projects/c.md"]),
        ("projects/x", ["projects/x/b.md"]),
        ("Proj", []),
        ("/", ["projects/a.md", "projects/x/b.md", "old/projects/c.md", "projects.md"]),
    ],
)
def test_in_is_a_path_from_the_top_or_like_a_folder(folder: str, paths: list[str]) -> None:
    every = ["projects/a.md", "projects/x/b.md", "old/projects/c.md", "projects.md"]
    takes = _read(f"in:{folder}").filters.accepts_path
    assert [path for path in every if takes(path)] == paths
    not_in = _read(f"-in:{folder}").filters.accepts_path
    assert [path for path in every if not not_in(path)] == paths


def test_each_filter_judges() -> None:
    by = _read("by:cl by:you").filters
    assert [by.accepts_actors([name]) for name in ("Claude", "you", "outside", "agent:you")] == [
        True,
        True,
        False,
        False,
    ]
    assert not _read("-by:outside").filters.accepts_actors(["Claude", "outside"])
    tags = _read("tag:a tag:b -tag:c").filters
    assert [tags.accepts_tags(has) for has in (["A", "b/x"], ["a"], ["a", "b", "c/d"], [])] == [
        True,
        False,
        False,
        False,
    ]
    types = _read("type:json type:user -type:xml").filters
    assert [types.accepts_types(has) for has in (["json"], ["md", "user"], ["md"], ["xml", "user"])] == [
        True, True, False, False,
    ]  # fmt: skip
    flags = _read("flag:secret -flag:hidden").filters
    assert [flags.accepts_flags(has) for has in (["secret"], ["secret", "hidden"], [])] == [True, False, False]
    assert Filters().accepts_path("a") and Filters().accepts_actors([]) and Filters().accepts_tags([])  # noqa: PT018
    assert (by.concerns_actors, tags.concerns_text, by.concerns_text) == (True, True, False)
    assert _read("since:2d").filters.concerns_time


@pytest.mark.parametrize("text", ["!" * 9_999, "| " * 5_000, '"' * 9_999, "a:" * 5_000, "\\ " * 5_000, "by:x " * 999])
def test_any_query_is_read(text: str) -> None:
    said = ""
    try:
        _read(text)
    except InvalidQuery as error:
        said = str(error)
    assert len(said) < 400


def test_a_file_that_was_pasted_is_no_query() -> None:
    bad = _bad("a " * 500_000)
    assert str(bad) == "The query has 1,000,000 characters; the limit is 10,000."
    assert bad.rest.is_empty
