"""Names as they are found: the same ones as fzf finds, the wanted one first, and in spite of a typing error."""

import random
import shutil
import subprocess

import pytest

from memtui.search import names as search_names
from memtui.search.names import NameIndex
from memtui.search.query import parse_query
from memtui.search.results import NameResults, SearchCancelled

_FOLDER = [
    "MEMORY.md",
    "README.md",
    "scratch.txt",
    "user_preferences.md",
    "archive/2024/old_preferences.md",
    "archive/old.txt",
    "archive/postgres_notes_old.md",
    "decisions/0001-use-postgres.md",
    "decisions/0002-drop-redis.md",
    "decisions/0012-feature-flags.md",
    "feedback/code_review_tone.md",
    "feedback/commit-messages.md",
    "feedback/no_mocks_in_tests.md",
    "learnings/docker_compose_networking.md",
    "learnings/kubernetes/ingress_timeouts.md",
    "learnings/postgis_mirror.md",
    "learnings/postgres_migrations.md",
    "learnings/postgres_locking.md",
    "learnings/python_packaging.md",
    "learnings/redis_eviction.md",
    "meetings/2026-11-03-billing-kickoff.md",
    "meetings/2026-11-10-standup.md",
    "meetings/2026-11-17-standup.md",
    "meetings/2026-11-18-retro.md",
    "notes/2026-11-19-session.md",
    "notes/2026-11-20-session.md",
    "notes/billing-questions.md",
    "people/alice.md",
    "people/bob.md",
    "people/Carla Müller.md",
    "people/team.json",
    "projects/README.md",
    "projects/billing/README.md",
    "projects/billing/invoice_pipeline.md",
    "projects/billing/migration_plan.md",
    "projects/billing/status.json",
    "projects/billing/todo.xml",
    "projects/memtui/architecture.md",
    "projects/memtui/roadmap.md",
    "projects/memtui/searchIndexDesign.md",
    "projects/memtui/todo.md",
    "projects/onboarding/checklist.md",
    "projects/onboarding/welcome-mail.txt",
    "reference/api_keys_location.md",
    "reference/grafana_dashboards.md",
    "reference/linear_project_board.md",
    "travel/berlin/hotel.md",
    "travel/lisbon/flat_hunting.md",
    "travel/packing-list.md",
]

_FZF = shutil.which("fzf")

_WANTED = [
    ("pg migr", "learnings/postgres_migrations.md"),
    ("migration", "projects/billing/migration_plan.md"),
    ("migplan", "projects/billing/migration_plan.md"),
    ("postgres lock", "learnings/postgres_locking.md"),
    ("uspref", "user_preferences.md"),
    ("pref", "user_preferences.md"),
    ("readme", "README.md"),
    ("bill readme", "projects/billing/README.md"),
    ("todo", "projects/memtui/todo.md"),
    ("todo xml", "projects/billing/todo.xml"),
    ("status", "projects/billing/status.json"),
    ("billing", "notes/billing-questions.md"),
    ("sid", "projects/memtui/searchIndexDesign.md"),
    ("ID", "projects/memtui/searchIndexDesign.md"),
    ("arch", "projects/memtui/architecture.md"),
    ("mem", "MEMORY.md"),
    ("memory", "MEMORY.md"),
    ("1119", "notes/2026-11-19-session.md"),
    ("standup 17", "meetings/2026-11-17-standup.md"),
    ("session 11-20", "notes/2026-11-20-session.md"),
    ("dec 12", "decisions/0012-feature-flags.md"),
    ("ff", "decisions/0012-feature-flags.md"),
    ("muller", "people/Carla Müller.md"),
    ("Müller", "people/Carla Müller.md"),
    ("ppl/al", "people/alice.md"),
    ("api", "reference/api_keys_location.md"),
    ("k8s | kube ingress", "learnings/kubernetes/ingress_timeouts.md"),
    ("'redis", "learnings/redis_eviction.md"),
    ("redis !evict", "decisions/0002-drop-redis.md"),
    ("^proj plan", "projects/billing/migration_plan.md"),
    ("json$", "people/team.json"),
    ("json$ bill", "projects/billing/status.json"),
    ("^scratch.txt$", "scratch.txt"),
    ("lisbon", "travel/lisbon/flat_hunting.md"),
    ("hotel", "travel/berlin/hotel.md"),
    ("mock", "feedback/no_mocks_in_tests.md"),
    ("crt", "feedback/code_review_tone.md"),
    ("invpipe", "projects/billing/invoice_pipeline.md"),
]
"""What was typed, and the name that was meant."""

_MISTYPED = [
    ("migartion", "projects/billing/migration_plan.md"),
    ("postgers", "learnings/postgres_locking.md"),
    ("prefernces", "user_preferences.md"),
    ("architcture", "projects/memtui/architecture.md"),
    ("kubernets ingres", "learnings/kubernetes/ingress_timeouts.md"),
    ("stadnup 17", "meetings/2026-11-17-standup.md"),
    ("postgresmigrtions", "learnings/postgres_migrations.md"),
    ("searh desing", "projects/memtui/searchIndexDesign.md"),
    ("chekclist", "projects/onboarding/checklist.md"),
    ("grafanna", "reference/grafana_dashboards.md"),
    ("alcie", "people/alice.md"),
    ("invioce", "projects/billing/invoice_pipeline.md"),
    ("pakcing lsit", "travel/packing-list.md"),
    ("evicton", "learnings/redis_eviction.md"),
    ("roadmpa", "projects/memtui/roadmap.md"),
    ("onbaord chek", "projects/onboarding/checklist.md"),
    ("welcoem", "projects/onboarding/welcome-mail.txt"),
]
"""What was typed with a mistake, and the name that was meant."""


def _find(query: str, paths: list[str] = _FOLDER, **options: object) -> NameResults:
    return NameIndex(paths).find(parse_query(query, now_us=0), **options)  # type: ignore[arg-type]


def _fzf(query: str, paths: list[str]) -> list[str]:
    ran = subprocess.run(
        [_FZF or "fzf", "--filter", query], input="\n".join(paths), capture_output=True, text=True, check=False,
        env={"LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    return ran.stdout.splitlines()


needs_fzf = pytest.mark.skipif(_FZF is None, reason="fzf is not installed")


@pytest.mark.parametrize(("query", "wanted"), _WANTED)
def test_the_name_that_was_meant_comes_first(query: str, wanted: str) -> None:
    found = _find(query)
    assert [hit.path for hit in found.hits + found.similar][:1] == [wanted], [hit.path for hit in found.hits][:4]


@pytest.mark.parametrize(("query", "wanted"), _MISTYPED)
def test_a_typing_error_still_finds_it(query: str, wanted: str) -> None:
    found = _find(query)
    assert wanted in [hit.path for hit in found.similar][:2] or [hit.path for hit in found.hits][:1] == [wanted]


@needs_fzf
def test_the_name_that_was_meant_comes_first_more_often_than_with_fzf() -> None:
    ours = sum([hit.path for hit in _find(query).hits[:1]] == [wanted] for query, wanted in _WANTED)
    theirs = sum(_fzf(query, _FOLDER)[:1] == [wanted] for query, wanted in _WANTED)
    assert ours >= theirs
    assert ours == len(_WANTED)


def _random_query(chance: random.Random) -> str:
    """A query whose words are pieces of names, some mangled, with the signs of fzf."""

    def word() -> str:
        path = chance.choice(_FOLDER)
        begin = chance.randrange(len(path))
        piece = path[begin : begin + chance.randint(1, 9)].replace(" ", "\\ ")
        if chance.random() < 0.4:
            piece = "".join(letter for letter in piece if letter != "\\" and chance.random() < 0.7)
        if chance.random() < 0.2:
            piece = piece.upper()
        sign = chance.choice(["", "", "", "'", "^", "!", "!^", "!'"])
        return sign + (piece or "a") + chance.choice(["", "", "", "$"])

    words = [word() for _ in range(chance.randint(1, 3))]
    return chance.choice([" ", " ", " | "]).join(words)


@needs_fzf
def test_the_same_names_match_as_with_fzf() -> None:
    chance = random.Random(5)
    paths = [path for path in _FOLDER if path.isascii()]
    found_something = 0
    for _ in range(150):
        query = _random_query(chance)
        theirs = _fzf(query, paths)
        ours = _find(query, paths, limit=1_000)
        assert sorted(hit.path for hit in ours.hits) == sorted(theirs), query
        assert ours.total == len(theirs)
        found_something += 0 < len(theirs) < len(paths)
    assert found_something > 50


def test_the_letters_that_match_are_told() -> None:
    hit = _find("pg migr").hits[0]
    assert "".join(hit.path[start:end] for start, end in hit.spans) == "pgmigr"
    assert (19, 23) in hit.spans  # "migr" as a run at the start of its word
    assert _find("^proj plan md$").hits[0].spans[0] == (0, 4)
    assert _find("re:plan.md").hits[0].spans == ((27, 34),)


def test_the_own_name_goes_before_the_folders_and_the_newest_before_equal_ones() -> None:
    paths = ["plan/a.md", "x/plan_b.md", "y/plan_c.md"]
    found = _find("plan", paths, recency={"plan/a.md": 9, "x/plan_b.md": 1, "y/plan_c.md": 2}.__getitem__)
    assert [hit.path for hit in found.hits] == ["y/plan_c.md", "x/plan_b.md", "plan/a.md"]


def test_filters_alone_find_the_newest_first() -> None:
    found = _find("in:travel", recency=_FOLDER.index, accept=lambda path: path.startswith("travel"))
    assert [hit.path for hit in found.hits] == [path for path in reversed(_FOLDER) if path.startswith("travel")]
    every = _find("", recency=_FOLDER.index)
    assert ([hit.path for hit in every.hits], every.similar) == (_FOLDER[::-1], ())


def test_what_is_similar_stands_apart_and_leaves_out_what_was_ruled_out() -> None:
    found = _find("postgrzs")
    assert found.hits == ()
    assert [hit.path for hit in found.similar if "postgres" not in hit.path] == ["learnings/postgis_mirror.md"]
    assert {hit.path for hit in found.similar[:-1]} == {path for path in _FOLDER if "postgres" in path}
    assert not any("migr" in hit.path for hit in _find("postgrzs !migr").similar)
    assert not any("old" in hit.path for hit in _find("postgrzs", accept=lambda path: "old" not in path).similar)
    assert _find("'postgrzs").similar == ()
    both = _find("postgres")
    assert not {hit.path for hit in both.hits} & {hit.path for hit in both.similar}


def test_names_come_and_go() -> None:
    names = NameIndex(["a/one.md"])
    query = parse_query("one", now_us=0)
    assert [hit.path for hit in names.find(query).hits] == ["a/one.md"]
    names.add("one.txt")
    names.add("one.txt")
    assert [hit.path for hit in names.find(query).hits] == ["one.txt", "a/one.md"]
    names.remove("a/one.md")
    names.remove("never there")
    assert [hit.path for hit in names.find(query).hits] == ["one.txt"]
    assert [hit.path for hit in names.find(parse_query("!z", now_us=0)).hits] == ["one.txt"]
    assert (len(names), "one.txt" in names, "a/one.md" in names) == (1, True, False)
    for number in range(3_000):
        names.add(f"{number}.md")
        names.remove(f"{number}.md")
    assert [hit.path for hit in names.find(parse_query("o", now_us=0)).hits] == ["one.txt"]
    assert names.find(parse_query("1234", now_us=0)) == NameResults()


def test_narrowing_finds_what_the_whole_query_finds_from_the_start() -> None:
    chance = random.Random(7)
    names = NameIndex(_FOLDER)
    for _ in range(60):
        query = _random_query(chance)
        for end in range(1, len(query) + 1):
            if chance.random() < 0.1:
                names.add(f"{query[:end]}{chance.random()}.md".replace("/", "_"))
            typed = parse_query(query[:end], now_us=0)
            fresh = NameIndex(list(names._number))
            assert {hit.path for hit in names.find(typed, limit=999).hits} == {
                hit.path for hit in fresh.find(typed, limit=999).hits
            }, query[:end]


def _many(count: int) -> list[str]:
    chance = random.Random(1)
    words = [part for path in _FOLDER for part in path.rpartition(".")[0].replace("/", "_").split("_")]
    paths: dict[str, None] = {}
    while len(paths) < count:
        folders = [chance.choice(words) for _ in range(chance.randint(0, 2))]
        name = chance.choice("_- ").join(chance.choice(words) for _ in range(chance.randint(1, 3)))
        paths["/".join([*folders, f"{name}{chance.choice(['', chance.randint(1, 999)])}.md"])] = None
    return list(paths)


def test_the_best_of_very_many_are_the_best_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = _many(6_000)
    names, age = NameIndex(paths), {path: number for number, path in enumerate(paths)}
    for typed in ("p", "re", "pg", "todo", "post mig", "bill", "prefs", "11-1"):
        query = parse_query(typed, now_us=0)
        quick = names.find(query, limit=20, recency=age.__getitem__)
        with monkeypatch.context() as patched:
            patched.setattr(search_names, "_SCORED", 1_000_000)
            every = names.find(query, limit=20, recency=age.__getitem__)
        assert quick.total == every.total > 0
        assert [hit.path for hit in quick.hits] == [hit.path for hit in every.hits], typed


def test_who_does_not_wait_gets_no_answer() -> None:
    with pytest.raises(SearchCancelled):
        _find("a", stop=lambda: True)
    asked = iter([False, False, True])
    with pytest.raises(SearchCancelled):
        NameIndex(_many(5_000)).find(parse_query("a", now_us=0), stop=lambda: next(asked, True))


@pytest.mark.parametrize(
    "path",
    ["İstanbul.md", "ﬁle.md", "日本語/メモ.md", "a\udcff.md", "e\u0301te\u0301.md", "👨‍👩‍👧.md", "\n", "a" * 1_000],
)
def test_any_name_is_found_by_its_own_letters(path: str) -> None:
    names = NameIndex([path, "other.md"])
    for word in {path[0], path[:3], path[-3:]} - {"\n"}:
        (found, *_) = [hit for hit in names.find(parse_query(f"'{word}", now_us=0)).hits if hit.path == path]
        assert all(0 <= start < end <= len(path) for start, end in found.spans)


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [
        ("plan", "x/plan_b.md", "x/a_plan.md"),  # at the start of the file's own name
        ("plan", "x/a_plan.md", "x/explan.md"),  # at the start of a word
        ("plan", "x/explan.md", "x/expxlxaxn.md"),  # in a run
        ("plan", "x/myPlan.md", "x/myxplan.md"),  # at a capital
        ("pm", "post_migr.md", "postmodern.md"),  # starts of words
        ("pm", "p_m.md", "pxxxxxxxxxxxxxxxxxm.md"),  # with a short gap
        ("xb", "x_b.md", "axxb.md"),  # the first letter counts double
        ("b2", "b_2.md", "bx2.md"),
    ],
)
def test_a_match_is_better_for_the_reasons_that_fzf_has(query: str, better: str, worse: str) -> None:
    for paths in ([better, worse], [worse, better]):
        hits = _find(query, paths).hits
        assert [hit.path for hit in hits] == [better, worse]
        assert hits[0].score > hits[1].score


def test_a_file_that_is_called_exactly_so_comes_first_however_old_it_is() -> None:
    paths = ["old/plan.md", *(f"plan_{number}.md" for number in range(3_000))]
    age = {path: number for number, path in enumerate(paths)}
    for count in (3, len(paths)):
        hits = _find("plan", paths[:count], recency=age.__getitem__, limit=20).hits
        assert [hit.path for hit in hits[:2]] == ["old/plan.md", paths[count - 1]]


def test_an_exact_word_that_becomes_a_fuzzy_one_finds_more() -> None:
    names = NameIndex(["abc.md", "a_b_c.md", *(f"{number}.txt" for number in range(9))])
    assert names.find(parse_query("'ab", now_us=0)).total == 1
    assert names.find(parse_query("abc", now_us=0)).total == 2
    assert names.find(parse_query("^ab", now_us=0)).total == 1
    assert names.find(parse_query("'abc", now_us=0)).total == 1
    assert names.find(parse_query("a !b", now_us=0)).total == 0
    assert names.find(parse_query("a !bc", now_us=0)).total == 1


@pytest.mark.parametrize(
    ("typed", "path", "expected"),
    [
        ("remind", "learnings/postgres_migrations.md", True),
        ("remind", "notes/reminders.md", False),
        ("igr", "postgres_migrations.md", False),
        ("pm", "postgres_migrations.md", False),
        ("pgmigr", "postgres_migrations.md", False),
        ("pg migr", "postgres_migrations.md", False),
        ("gres note", "postgres_note.md", False),
        ("osrs note", "postgres_note.md", True),
    ],
)
def test_letters_that_lie_apart_inside_words_are_scattered(typed: str, path: str, expected: bool) -> None:
    [hit] = NameIndex([path]).find(parse_query(typed, now_us=0), limit=9).hits
    assert hit.is_scattered is expected
