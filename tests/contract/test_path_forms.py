"""CONTRACT.md, section "Paths", row by row, for every field of every command that takes a path."""

import os
from typing import Any

import pytest

from memtui.core.paths import MAX_LEVELS

COMMANDS: dict[str, dict[str, object]] = {
    "view": {"command": "view"},
    "create": {"command": "create", "file_text": "new"},
    "str_replace": {"command": "str_replace", "old_str": "a", "new_str": "b"},
    "insert": {"command": "insert", "insert_line": 0, "insert_text": "b"},
    "delete": {"command": "delete"},
    "rename from": {"command": "rename", "new_path": "/memories/other"},
    "rename to": {"command": "rename", "old_path": "/memories/f"},
}
MAKING = ("create", "rename to")
ESCAPES = "Error: Path {} would escape /memories directory"
OUTSIDE = "Error: Path must start with /memories, got: {}"
FORBIDDEN = "Error: Path {} contains a character that is not allowed"


def command_on(name: str, path: object) -> dict[str, object]:
    field = {"rename from": "old_path", "rename to": "new_path"}.get(name, "path")
    return {**COMMANDS[name], field: path}


@pytest.fixture
def filled(world: Any) -> Any:
    return world.fill({"f": "a\n", "d/f": "a\n"})


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/memories/..", ESCAPES),
        ("/memories/../etc/passwd", ESCAPES),
        ("/memories/d/../f", ESCAPES),
        ("/memories/d/../../memories/f", ESCAPES),
        ("/memories/d/..//x", ESCAPES),
        ("memories/f", OUTSIDE),
        ("/etc/x", OUTSIDE),
        ("/memoriesX", OUTSIDE),
        ("/memories_bak/s", OUTSIDE),
        ("", OUTSIDE),
        (" /memories/f", OUTSIDE),
        ("//", OUTSIDE),
        ("/./memoriesX", OUTSIDE),
        ("/MEMORIES/f", OUTSIDE),
        ("/", OUTSIDE),
        ("f", OUTSIDE),
    ],
)
def test_what_leaves_the_folder_by_its_spelling_is_refused(filled: Any, name: str, path: str, text: str) -> None:
    before = filled.picture()
    answer = filled.ask(**command_on(name, path))
    assert (answer.is_error, answer.text) == (True, text.format(path))
    assert filled.picture() == before


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (None, "null"), (5, "5"), (True, "true"), (["/memories/f"], '["/memories/f"]'),
        ({"path": "/memories/f"}, '{"path": "/memories/f"}'), (b"/memories/f", "b'/memories/f'"), (1.5, "1.5"),
    ],
)  # fmt: skip
def test_what_is_no_string_is_refused(filled: Any, name: str, path: object, shown: str) -> None:
    answer = filled.ask(**command_on(name, path))
    assert (answer.is_error, answer.text) == (True, OUTSIDE.format(shown))


@pytest.mark.parametrize("start", ["/memories", "//memories", "///memories", "/./memories", "/.//./memories"])
@pytest.mark.parametrize("end", ["", "/", "//", "/./"])
def test_a_path_is_the_same_however_many_slashes_and_dots_it_has(filled: Any, start: str, end: str) -> None:
    listed = filled.ask(command="view", path="/memories")
    assert filled.ask(command="view", path=start + end).text == listed.text
    assert filled.ask(command="delete", path=start + end).text == "Error: Cannot delete the /memories directory itself"
    moved = filled.ask(command="rename", old_path=start + end, new_path="/memories/x")
    assert moved.text == "Error: Cannot rename the /memories directory itself"
    made = filled.ask(command="create", path=f"{start}//n{end}", file_text="")
    assert made.text == "File created successfully at: /memories/n"


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/memories/a\\b", "/memories/a\\b"),
        ("/memories/..\\x", "/memories/..\\x"),
        ("/memories/a\x00b", "/memories/a\\x00b"),
        ("/memories/a\nb", "/memories/a\\nb"),
        ("/memories/a\tb", "/memories/a\\tb"),
        ("/memories/\x1b[31m", "/memories/\\x1b[31m"),
        ("/memories/\x1f", "/memories/\\x1f"),
        ("/memories/a\x7f", "/memories/a\\x7f"),
        ("/memories/a\ud800", "/memories/a<U+D800>"),
        ("/memories/a\udcff", "/memories/a\\xff"),
    ],
)
def test_control_characters_backslashes_and_surrogates_are_refused(
    filled: Any, name: str, path: str, shown: str
) -> None:
    before = filled.picture()
    answer = filled.ask(**command_on(name, path))
    assert (answer.is_error, answer.text) == (True, FORBIDDEN.format(shown))
    assert filled.picture() == before


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    "tail",
    [
        "%2e%2e/x", "%2E%2e", "%2e", ".%2e", "a%2fb", "a%2Fb", "%5cx", "%00", "a%0ab", "a%7f", "%252e%252e", "%25252f",
        "d/%2e%2e%2f%2e%2e%2fetc", "%c0%ae%c0%ae", "%e0%80%af", "a%25%32%66",
    ],
)  # fmt: skip
def test_percent_encoding_is_refused_where_it_would_mean_another_path(filled: Any, name: str, tail: str) -> None:
    before = filled.picture()
    path = f"/memories/{tail}"
    answer = filled.ask(**command_on(name, path))
    assert answer.is_error
    assert answer.text in (ESCAPES.format(path), FORBIDDEN.format(path))
    assert filled.picture() == before


@pytest.mark.parametrize("tail", ["100%", "%zz", "a%20b", "%41", "50%25", "%", "%e2%82%ac"])
def test_other_percent_signs_are_ordinary_and_never_decoded(world: Any, tail: str) -> None:
    assert not world.ask(command="create", path=f"/memories/{tail}", file_text="x").is_error
    assert world.tree() == {tail: b"x"}


@pytest.mark.parametrize(
    "character",
    [*map(chr, (0x202A, 0x202E, 0x2066, 0x2069, 0x200B, 0x2060, 0xFEFF, 0xE0000, 0xE0041, 0xE007F, 0x2028, 0x2029))],
)
def test_a_name_that_deceives_is_never_made_but_can_be_viewed_moved_away_and_deleted(
    world: Any, character: str
) -> None:
    name = f"a{character}b"
    world.put(name, "a\n")
    world.put("f", "x")
    world.main.reconcile()
    shown = f"/memories/a<U+{ord(character):04X}>b"
    for command in MAKING:
        answer = world.ask(**command_on(command, f"/memories/{name}x"))
        assert (answer.is_error, answer.text) == (True, FORBIDDEN.format(shown + "x"))
    assert not world.ask(command="view", path=f"/memories/{name}").is_error
    assert not world.ask(command="rename", old_path=f"/memories/{name}", new_path="/memories/clean").is_error
    assert world.tree() == {"clean": b"a\n", "f": b"x"}
    world.put(name, "a\n")
    assert not world.ask(command="delete", path=f"/memories/{name}").is_error
    assert world.tree() == {"clean": b"a\n", "f": b"x"}


@pytest.mark.parametrize("name", COMMANDS)
def test_names_paths_and_depths_over_the_limits_are_refused(filled: Any, name: str) -> None:
    before = filled.picture()
    long_name = "/memories/" + "é" * 128
    long_path = "/memories/" + "/".join(["n" * 200] * 6)
    deep = "/memories" + "/d" * (MAX_LEVELS + 1)
    endless = "/memories" + "/d" * 10_000
    for path, words in (
        (long_name, "has a name of over 255 bytes"),
        (long_path, "is over 1,024 bytes long"),
        (deep, "is more than 20 levels deep"),
        (endless, "is over 1,024 bytes long"),
        ("/memories/" + "x" * 1_000_000, "has a name of over 255 bytes"),
    ):
        answer = filled.ask(**command_on(name, path))
        shown = path if len(path) <= 256 else f"{path[:256]}[... {len(path) - 256:,} more characters]"
        assert (answer.is_error, answer.text) == (True, f"Error: Path {shown} {words}")
    assert filled.picture() == before


def test_names_paths_and_depths_at_the_limits_are_taken(world: Any) -> None:
    for path in ("é" * 127 + "x", "/".join(["n" * 252] * 3 + ["n" * 255]), "/".join(["d"] * MAX_LEVELS)):
        assert len(f"/memories/{path}".encode()) <= 1_024
        assert not world.ask(command="create", path=f"/memories/{path}", file_text="x").is_error
        assert world.tree()[path] == b"x"


@pytest.mark.parametrize(
    "name", ["~", "$HOME", "a b", "<b>", "🙂", "漢字", "שלום", "a\u200cb", "👩\u200d💻", "-rf", "[x]", "..."]
)
def test_ordinary_characters_are_stored_as_given(world: Any, name: str) -> None:
    answer = world.ask(command="create", path=f"/memories/{name}", file_text="x")
    assert (answer.is_error, answer.text) == (False, f"File created successfully at: /memories/{name}")
    assert world.tree() == {name: b"x"}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("target", ["/etc", "..", "../..", "d/../..", "/", "other-link/.."])
def test_a_link_that_leaves_is_refused_anywhere_on_the_way(resolver_world: Any, name: str, target: str) -> None:
    resolver_world.put("f", "a\n")
    resolver_world.make("d")
    (resolver_world.folder / "other-link").symlink_to(".")
    (resolver_world.folder / "link").symlink_to(target)
    resolver_world.main.reconcile()
    before = resolver_world.picture()
    path = "/memories/link/hosts"
    answer = resolver_world.ask(**command_on(name, path))
    assert (answer.is_error, answer.text) == (
        True,
        f"Error: Path {path} would escape /memories directory via symlink",
    )
    assert resolver_world.picture() == before


@pytest.mark.parametrize("name", ["view", "create", "str_replace", "insert"])
@pytest.mark.parametrize("target", ["/etc/hosts", "../outside"])
def test_a_link_that_leaves_is_refused_at_the_end(resolver_world: Any, name: str, target: str) -> None:
    (resolver_world.folder.parent / "outside").write_text("a\n")
    (resolver_world.folder / "link").symlink_to(target)
    answer = resolver_world.ask(**command_on(name, "/memories/link"))
    assert (answer.is_error, answer.text) == (
        True,
        "Error: Path /memories/link would escape /memories directory via symlink",
    )
    assert (resolver_world.folder.parent / "outside").read_text() == "a\n"


def test_links_inside_are_followed_on_the_way_relative_and_absolute(resolver_world: Any) -> None:
    resolver_world.put("a/b/f", "x")
    folder = resolver_world.folder
    (folder / "rel").symlink_to("a/b")
    (folder / "abs").symlink_to(folder / "a")
    (folder / "a/up").symlink_to("../a/./b/../b/")
    (folder / "chain").symlink_to("rel/../up")
    for path in ("rel/f", "abs/b/f", "a/up/f", "chain/f", "abs/up/f"):
        assert resolver_world.ask(command="view", path=f"/memories/{path}").text.endswith("     1\tx"), path


def test_a_loop_of_links_is_an_answer(resolver_world: Any) -> None:
    folder = resolver_world.folder
    (folder / "one").symlink_to("two")
    (folder / "two").symlink_to("one")
    for name in COMMANDS:
        if name not in ("delete", "rename from", "rename to"):
            assert resolver_world.ask(**command_on(name, "/memories/one")).is_error
        resolver_world.put("f", "a\n")
        assert resolver_world.ask(**command_on(name, "/memories/one/x")).is_error
    assert sorted(os.listdir(folder)) == ["f", "one", "two"]
