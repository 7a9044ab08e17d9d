"""CONTRACT.md, section "insert", row by row."""

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("text", "line", "inserted", "after"),
    [
        ("a\nb\n", 0, "x", "x\na\nb\n"),
        ("a\nb\n", 1, "x\n", "a\nx\nb\n"),
        ("a\nb\n", 2, "x", "a\nb\nx\n"),
        ("a\nb", 2, "x", "a\nb\nx\n"),
        ("a\nb", 0, "x", "x\na\nb\n"),
        ("", 0, "x", "x\n"),
        ("", 0, "", "\n"),
        ("a\n", 1, "", "a\n\n"),
        ("a\n", 0, "", "\na\n"),
        ("a\n", 1, "x\n\n", "a\nx\n\n"),
        ("a\n", 1, "\n", "a\n\n"),
        ("a\n\n", 1, "x", "a\nx\n\n"),
        ("a\n\n", 2, "x", "a\n\nx\n"),
        ("a\r\nb\r\n", 1, "x", "a\r\nx\nb\r\n"),
        ("a\r\nb\r\n", 1, "x\r\n", "a\r\nx\r\nb\r\n"),
        ("a\rb\u2028c\x0c\n", 1, "x", "a\rb\u2028c\x0c\nx\n"),
        ("\ufeffa\n", 0, "x", "x\n\ufeffa\n"),
        ("a\n", 1.0, "x", "a\nx\n"),
    ],
)
def test_the_text_goes_after_the_line_and_no_line_is_lost(
    world: Any, text: str, line: object, inserted: str, after: str
) -> None:
    world.put("f", text)
    answer = world.ask(command="insert", path="/memories/f", insert_line=line, insert_text=inserted)
    assert (answer.is_error, answer.text) == (False, "The file /memories/f has been edited.")
    assert world.tree() == {"f": after.encode()}


@pytest.mark.parametrize("path", ["/memories/no", "/memories/d", "/memories", "/memories/f/x"])
@pytest.mark.parametrize(
    ("profile", "text"),
    [
        ("docs", "Error: The path {} does not exist"),
        ("sdk", "The path {} does not exist. Please provide a valid path."),
    ],
)
def test_a_missing_path_and_a_directory_are_refused(world: Any, path: str, profile: str, text: str) -> None:
    world.put("f", "x")
    world.make("d")
    engine = world.engine(messages=profile)
    answer = world.ask(engine, command="insert", path=path, insert_line=0, insert_text="x")
    assert (answer.is_error, answer.text) == (True, text.format(path))


@pytest.mark.parametrize(
    ("text", "line", "n_lines"),
    [("a\nb\n", 3, 2), ("a\nb\n", -1, 2), ("a\nb", 3, 2), ("", 1, 0), ("\n", 2, 1), ("a\n\n", 3, 2), ("", 1e300, 0)],
)
@pytest.mark.parametrize("profile", ["docs", "sdk"])
def test_a_line_outside_the_file_is_refused(world: Any, text: str, line: float, n_lines: int, profile: str) -> None:
    world.put("f", text)
    engine = world.engine(messages=profile)
    before = world.picture()
    answer = world.ask(engine, command="insert", path="/memories/f", insert_line=line, insert_text="x")
    shown = str(int(line)) if line < 1e6 else f"{str(int(line))[:256]}[... 45 more characters]"
    assert answer.is_error
    assert answer.text == (
        f"Error: Invalid `insert_line` parameter: {shown}. It should be within the range of lines of the file: "
        f"[0, {n_lines}]"
        if profile == "docs"
        else f"Invalid `insert_line` parameter: {shown}. It should be within the range [0, {n_lines}]."
    )
    assert world.picture() == before


def test_a_link_inside_is_followed(resolver_world: Any) -> None:
    resolver_world.put("d/f", "old\n")
    (resolver_world.folder / "l").symlink_to("d/f")
    assert not resolver_world.ask(command="insert", path="/memories/l", insert_line=1, insert_text="new").is_error
    assert resolver_world.tree() == {"d": None, "d/f": b"old\nnew\n", "l": "d/f"}
