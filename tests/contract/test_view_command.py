"""CONTRACT.md, section "view", row by row."""

import os
import re
import socket
from typing import Any

import pytest

import memtui
from memtui.core.edits import format_human_size
from tests.conftest import StandIn

HEAD = "Here's the content of /memories/{} with line numbers:\n"
LISTS = "Here're the files and directories up to 2 levels deep in {}, excluding hidden items and node_modules:\n"


def test_a_directory_is_listed_two_levels_deep_sorted_by_code_point(world: Any) -> None:
    for path in ("b.md", "a/x.md", "a/deep/er/y.md", "a b", "Z", "é", "a/.hidden", ".git/config", "node_modules/m.js"):
        world.put(path, "12345")
    world.make("empty")
    assert world.ask(command="view", path="/memories").text == LISTS.format("/memories") + (
        "45B\t/memories\n5B\t/memories/Z\n15B\t/memories/a/\n5B\t/memories/a/deep/\n5B\t/memories/a/x.md\n"
        "5B\t/memories/a b\n5B\t/memories/b.md\n0B\t/memories/empty/\n5B\t/memories/é"
    )


def test_a_subdirectory_is_listed_under_its_own_path_and_a_range_is_ignored(world: Any) -> None:
    world.put("a/b/c/d", "1")
    answer = world.ask(command="view", path="/memories/a//./", view_range=[7, -9])
    assert (answer.is_error, answer.text) == (
        False,
        LISTS.format("/memories/a") + "1B\t/memories/a\n1B\t/memories/a/b/\n1B\t/memories/a/b/c/",
    )


def test_an_empty_root_is_its_own_line_and_no_error(world: Any) -> None:
    answer = world.ask(command="view", path="/memories")
    assert (answer.is_error, answer.text) == (False, LISTS.format("/memories") + "0B\t/memories")


def test_hidden_things_are_left_out_of_listings_only(world: Any) -> None:
    world.put(".h/f", "x\n")
    assert world.ask(command="view", path="/memories").text.endswith("2B\t/memories")
    assert world.ask(command="view", path="/memories/.h").text.endswith("2B\t/memories/.h\n2B\t/memories/.h/f")
    assert world.ask(command="view", path="/memories/.h/f").text == HEAD.format(".h/f") + "     1\tx\n     2\t"
    assert not world.ask(command="create", path="/memories/.h/g", file_text="").is_error
    assert not world.ask(command="str_replace", path="/memories/.h/f", old_str="x", new_str="y").is_error
    assert world.tree()[".h/f"] == b"y\n"


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0B"), (1, "1B"), (1023, "1023B"), (1024, "1K"), (1025, "1.0K"), (1536, "1.5K"), (1 << 20, "1M"),
        (1_258_291, "1.2M"), (5 << 30, "5G"), (5 << 40, "5120G"),
    ],
)  # fmt: skip
def test_sizes_count_by_1024_and_drop_only_an_exact_decimal(size: int, shown: str) -> None:
    assert format_human_size(size) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "     1\t"),
        ("a", "     1\ta"),
        ("a\nb\n", "     1\ta\n     2\tb\n     3\t"),
        ("\n\n", "     1\t\n     2\t\n     3\t"),
        ("a\r\nb\rc\n", "     1\ta\r\n     2\tb\rc\n     3\t"),
        ("a\u2028b\x0cc\x0b\x85d", "     1\ta\u2028b\x0cc\x0b\x85d"),
        ("\ufeffa", "     1\t\ufeffa"),
        ("a\x00b\x1b[0m{x}", "     1\ta\x00b\x1b[0m{x}"),
    ],
)
def test_lines_are_split_on_newlines_only_and_numbered_six_wide(world: Any, text: str, shown: str) -> None:
    world.put("f", text)
    answer = world.ask(command="view", path="/memories/f")
    assert (answer.is_error, answer.text) == (False, HEAD.format("f") + shown)


@pytest.mark.parametrize(
    ("view_range", "numbers"),
    [
        ([1, 3], [1, 2, 3]), ([2, 2], [2]), ([0, 1], [1]), ([-5, 2], [1, 2]), ([2, 99], [2, 3]), ([2, -1], [2, 3, 4]),
        ((2, 3), [2, 3]), ([2.0, 3.0], [2, 3]), ([1, 10**400], [1, 2, 3]),
        ([-(10**5000), 1], [1]), (None, [1, 2, 3, 4]),
    ],
)  # fmt: skip
def test_a_range_is_fitted_to_the_file(world: Any, view_range: object, numbers: list[int]) -> None:
    world.put("f", "1\n2\n3\n")
    answer = world.ask(command="view", path="/memories/f", view_range=view_range)
    shown = [f"{number:6d}\t{number if number < 4 else ''}" for number in numbers]
    assert (answer.is_error, answer.text) == (False, HEAD.format("f") + "\n".join(shown))


@pytest.mark.parametrize(
    ("view_range", "shown"),
    [
        ([4, 5], "[4, 5]"), ([4, -1], "[4, -1]"), ([3, 2], "[3, 2]"), ([1, -2], "[1, -2]"), ([1], "[1]"), ([], "[]"),
        ([1, 2, 3], "[1, 2, 3]"), (["1", 2], '["1", 2]'), ([True, 2], "[true, 2]"), ([1.5, 2], "[1.5, 2]"),
        ([1, float("nan")], "[1, NaN]"), ([1, None], "[1, null]"), ("1,2", "1,2"), (5, "5"),
        ({"start": 1}, '{"start": 1}'),
        ([0, 0], "[0, 0]"), ([[1, 2]], "[[1, 2]]"), ((3, 2), "[3, 2]"), (False, "false"),
    ],
)  # fmt: skip
def test_a_range_outside_the_file_is_refused(world: Any, view_range: object, shown: str) -> None:
    world.put("f", "1\n2\n3\n")
    answer = world.ask(command="view", path="/memories/f", view_range=view_range)
    assert (answer.is_error, answer.text) == (
        True,
        f"Error: Invalid `view_range` parameter: {shown}. It should be [start_line, end_line] within the range of "
        "lines of the file: [1, 3], or [start_line, -1]",
    )


def test_an_empty_file_has_no_line_for_a_range(world: Any) -> None:
    world.put("f", "")
    for view_range in ([1, 1], [1, -1], [0, 0]):
        assert "[1, 0]" in world.ask(command="view", path="/memories/f", view_range=view_range).text


@pytest.mark.parametrize("path", ["/memories/no", "/memories/no/where", "/memories/f/below"])
def test_a_missing_path_is_refused(world: Any, path: str) -> None:
    world.put("f", "x")
    answer = world.ask(command="view", path=path)
    assert (answer.is_error, answer.text) == (
        True,
        f"The path {path} does not exist. Please provide a valid path.",
    )


def test_a_million_lines_are_too_many_and_one_less_is_not(world: Any) -> None:
    world.put("many", "\n" * 1_000_000)
    world.put("enough", "\n" * 999_999)
    answer = world.ask(command="view", path="/memories/many", view_range=[1, 2])
    assert (answer.is_error, answer.text) == (
        True,
        "File /memories/many exceeds maximum line limit of 999,999 lines.",
    )
    assert not world.ask(command="view", path="/memories/enough", view_range=[999_999, 999_999]).is_error


@pytest.mark.parametrize(
    "command",
    [
        {"command": "view"},
        {"command": "str_replace", "old_str": "a", "new_str": "b"},
        {"command": "insert", "insert_line": 0, "insert_text": "b"},
    ],
)
def test_what_is_not_utf8_is_neither_shown_nor_edited(world: Any, command: dict[str, object]) -> None:
    world.put("f", b"a\xff\n")
    answer = world.ask(**command, path="/memories/f")
    assert (answer.is_error, answer.text) == (True, "Error: The file /memories/f is not valid UTF-8 text")
    assert world.tree() == {"f": b"a\xff\n"}


def test_what_is_not_utf8_can_be_renamed_and_deleted(world: Any) -> None:
    world.put("f", b"a\xff\n")
    assert not world.ask(command="rename", old_path="/memories/f", new_path="/memories/g").is_error
    assert world.tree() == {"g": b"a\xff\n"}
    assert not world.ask(command="delete", path="/memories/g").is_error
    assert world.tree() == {}


@pytest.mark.parametrize("kind", ["fifo", "socket"])
def test_what_is_no_file_is_never_opened(resolver_world: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(resolver_world.folder)  # the name of a socket must be short
    if kind == "fifo":
        os.mkfifo("odd")
    else:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("odd")
    for command in (
        {"command": "view"},
        {"command": "str_replace", "old_str": "a"},
        {"command": "insert", "insert_line": 0, "insert_text": ""},
    ):
        answer = resolver_world.ask(**command, path="/memories/odd")
        assert (answer.is_error, answer.text) == (True, "Error: Unsupported file type for /memories/odd")
    assert resolver_world.ask(command="create", path="/memories/odd", file_text="").text == (
        "Error: File /memories/odd already exists"
    )
    assert not resolver_world.ask(command="delete", path="/memories/odd").is_error
    assert resolver_world.tree() == {}


def test_a_file_that_goes_between_two_looks_is_said_to_be_gone(plain_world: Any) -> None:
    class Hasty(StandIn):
        def get_node(self, path: Any, *, follow: bool = False) -> Any:
            plain_world.put("f", "x")
            return self._real.get_node(path, follow=follow)

        def read(self, path: Any, *, limit: int) -> Any:
            (plain_world.folder / path.relative).unlink()
            return self._real.read(path, limit=limit)

    plain_world.put("f", "x")
    plain_world.main.reconcile()
    engine = plain_world.engine(store=Hasty(plain_world.store()))
    assert plain_world.ask(engine, command="view", path="/memories/f").text == (
        "The file /memories/f no longer exists (may have been deleted or renamed concurrently)."
    )


def test_an_agents_view_is_cut_at_a_line_and_says_how_to_go_on(world: Any) -> None:
    world.put("f", "".join(f"line {number}\n" for number in range(1, 3_001)))
    answer = world.ask(command="view", path="/memories/f")
    shown = "\n".join(line[7:] for line in answer.text.split("\n")[1:-1])
    assert 16_000 - len("\nline 3000") < len(shown) <= 16_000
    last = answer.text.split("\n")[-1]
    found = re.fullmatch(r"\[Lines 1 to (\d+) of 3000 are shown\. To go on, view with view_range \[(\d+), -1\]\]", last)
    assert found
    assert int(found[2]) == int(found[1]) + 1
    assert answer.text.split("\n")[-2] == f"{int(found[1]):6d}\tline {found[1]}"


@pytest.mark.parametrize("text", ["x" * 30 + "\n", "x\r\n" * 3 + "x", "\n", "äö🙂\n"])
@pytest.mark.parametrize("limit", [400, 1_000, 16_000])
def test_following_the_hints_shows_every_line_once(world: Any, text: str, limit: int) -> None:
    world.put("f", text * 300)
    engine = world.engine(view_char_limit=limit)
    seen: list[str] = []
    view_range: object = None
    for _ in range(1_000):
        answer = world.ask(engine, command="view", path="/memories/f", view_range=view_range)
        assert not answer.is_error
        lines = answer.text.split("\n")[1:]
        found = re.fullmatch(r"\[Lines .* view_range \[(\d+), (-?\d+)\]\]", lines[-1])
        if not found:
            seen += lines
            break
        seen += lines[:-1]
        assert len("\n".join(line[7:] for line in lines[:-1])) <= limit
        view_range = [int(found[1]), int(found[2])]
    assert seen == [f"{number:6d}\t{line}" for number, line in enumerate((text * 300).split("\n"), 1)]


@pytest.mark.parametrize("before", ["", "first\n"])
@pytest.mark.parametrize("behind", ["", "\n", "\nnext\n"])
def test_a_line_over_the_limit_is_cut_and_can_be_seen_whole(world: Any, before: str, behind: str) -> None:
    text = f"{before}{'x' * 20_000}{behind}"
    world.put("f", text)
    number, lines = before.count("\n") + 1, text.removesuffix("\n").count("\n") + 1
    view = {"command": "view", "path": "/memories/f", **({"view_range": [number, -1]} if before and behind else {})}
    if before and not behind:
        assert world.ask(**view).text.endswith("[Lines 1 to 1 of 2 are shown. To go on, view with view_range [2, -1]]")
        view["view_range"] = [1, 2]
        assert world.ask(**view).text.endswith("[Lines 1 to 1 of 2 are shown. To go on, view with view_range [2, -1]]")
    else:
        more = f"; to go on, with view_range [{number + 1}, -1]" if number < lines else ""
        if number < lines or not before:
            assert world.ask(**view).text.split("\n")[1:] == [
                f"{number:6d}\t{'x' * 16_000}",
                f"[Line {number} has 20,000 characters; the first 16,000 are shown. To see all of it, view with "
                f"view_range [{number}, {number}]{more}]",
            ]
    whole = world.ask(command="view", path="/memories/f", view_range=[number, number])
    assert whole.text == f"{HEAD.format('f')}{number:6d}\t{'x' * 20_000}"


@pytest.mark.parametrize(("lines", "is_cut"), [(2_000, False), (2_001, True)])
def test_the_limit_counts_the_text_and_not_the_numbers_or_the_path(world: Any, lines: int, is_cut: bool) -> None:
    path = "/".join(["d" * 200] * 4)
    world.put(path, "\n".join(["1234567"] * lines))
    answer = world.ask(world.engine(view_char_limit=15_999), command="view", path=f"/memories/{path}")
    assert answer.text.endswith("]") is is_cut


def test_a_view_is_not_cut_for_a_person_nor_with_the_limit_off(world: Any) -> None:
    world.put("f", "line\n" * 10_000)
    view = {"command": "view", "path": "/memories/f"}
    assert world.main.execute(view, actor=memtui.Person()).text.endswith("\n 10001\t")
    engine = world.engine(view_char_limit=0)
    assert world.ask(engine, **view).text.endswith("\n 10001\t")


def test_a_long_listing_is_cut_for_an_agent_and_says_so(world: Any) -> None:
    for number in range(12):
        world.put(f"f{number:02}", "")
    engine = world.engine(listing_limit=10)
    lines = world.ask(engine, command="view", path="/memories").text.split("\n")
    assert lines[-2:] == [
        "0B\t/memories/f09",
        "[2 more entries are not shown. To go on, view with view_range [11, 12]]",
    ]
    assert len(lines) == 2 + 10 + 1
    rest = world.ask(engine, command="view", path="/memories", view_range=[11, 12]).text.split("\n")
    assert rest[1:] == ["0B\t/memories", "0B\t/memories/f10", "0B\t/memories/f11"]
    bad = world.ask(engine, command="view", path="/memories", view_range=[13, 14])
    assert (bad.is_error, "Invalid `view_range` parameter: [13, 14]" in bad.text) == (True, True)
    whole = engine.execute({"command": "view", "path": "/memories"}, actor=memtui.Person())
    assert whole.text.endswith("f11")


@pytest.mark.parametrize("limit", [1, 4, 7])
def test_following_the_hints_lists_every_entry_once(world: Any, limit: int) -> None:
    for number in range(9):
        world.put(f"{'abc'[number % 3]}/f{number}", "")
        world.put(f"g{number}", "")
    whole = world.ask(command="view", path="/memories").text.split("\n")[2:]
    engine, seen, view_range = world.engine(listing_limit=limit), list[str](), None
    for _ in range(40):
        lines = world.ask(engine, command="view", path="/memories", view_range=view_range).text.split("\n")
        found = re.search(r"view_range \[(\d+), (\d+)\]\]$", lines[-1])
        seen += lines[2 : -1 if found else None]
        if not found:
            break
        view_range = [int(found[1]), int(found[2])]
    assert seen == whole


def test_a_cut_listing_names_a_directory_to_view(world: Any) -> None:
    for name in "ab":
        for number in range(5):
            world.put(f"{name}/f{number}", "")
    lines = world.ask(world.engine(listing_limit=7), command="view", path="/memories").text.split("\n")
    assert lines[-1] == "[5 more entries are not shown. To go on, view /memories/b, or view with view_range [8, 12]]"


def test_a_name_that_could_forge_a_line_is_quoted_in_listings(resolver_world: Any) -> None:
    (resolver_world.folder / "a\n9G\t\x1b[31mforged").write_bytes(b"")
    os.close(os.open(os.fsencode(resolver_world.folder) + b"/caf\xe9", os.O_CREAT | os.O_WRONLY))
    lines = resolver_world.ask(command="view", path="/memories").text.split("\n")
    assert lines[1:] == [
        "0B\t/memories",
        '0B\t/memories/"a\\n9G\\t\\u001b[31mforged"',
        '0B\t/memories/"caf\\udce9"',
    ]


def test_links_are_listed_by_what_they_lead_to_unless_they_leave(resolver_world: Any, tmp_path: Any) -> None:
    folder = resolver_world.folder
    resolver_world.put("d/f", "123")
    (folder / "to-file").symlink_to("d/f")
    (folder / "to-dir").symlink_to(folder / "d")
    (folder / "gone").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    (folder / "up").symlink_to("..")
    (folder / "out").symlink_to(tmp_path)
    (folder / "etc").symlink_to("/etc/passwd")
    names = [line.split("\t")[1] for line in resolver_world.ask(command="view", path="/memories").text.split("\n")[1:]]
    assert names == [
        "/memories",
        "/memories/d/",
        "/memories/d/f",
        "/memories/to-dir/",
        "/memories/to-dir/f",
        "/memories/to-file",
    ]
