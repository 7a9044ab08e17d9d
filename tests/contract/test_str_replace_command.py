"""CONTRACT.md, section "str_replace", row by row."""

from typing import Any

import pytest

from memtui.core import edits
from memtui.core.errors import Refusal
from tests.bench.limits import at_most

DONE = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
TEN = "".join(f"{number}\n" for number in range(1, 11))


@pytest.mark.parametrize(
    ("text", "old", "new", "after", "snippet"),
    [
        (TEN, "5\n", "five\n", TEN.replace("5", "five"), "     3\t3\n     4\t4\n     5\tfive\n     6\t6\n     7\t7"),
        (TEN, "1\n2", "x", TEN.replace("1\n2", "x"), "     1\tx\n     2\t3\n     3\t4"),
        ("a", "a", "", "", "     1\t"),
        ("a b", " ", "\n", "a\nb", "     1\ta\n     2\tb"),
        ("a\r\nb\r\nc", "b", "B", "a\r\nB\r\nc", "     1\ta\r\n     2\tB\r\n     3\tc"),
        ("\ufeffa.b", "a.b", "a*b", "\ufeffa*b", "     1\t\ufeffa*b"),
        ("a{x}\\1$", "{x}\\1$", "\\g<0>{y}", "a\\g<0>{y}", "     1\ta\\g<0>{y}"),
        ("x\u2028y", "\u2028", "\x0c", "x\x0cy", "     1\tx\x0cy"),
        ("last\n", "\n", "", "last", "     1\tlast"),
    ],
)
def test_the_one_match_is_replaced_and_shown(
    world: Any, text: str, old: str, new: str, after: str, snippet: str
) -> None:
    world.put("f", text)
    answer = world.ask(command="str_replace", path="/memories/f", old_str=old, new_str=new)
    assert (answer.is_error, answer.text) == (False, DONE + snippet)
    assert world.tree() == {"f": after.encode()}


@pytest.mark.parametrize("given", [{}, {"new_str": None}, {"new_str": ""}])
def test_without_a_new_text_the_match_is_deleted(world: Any, given: dict[str, object]) -> None:
    world.put("f", "a b\n")
    assert not world.ask(command="str_replace", path="/memories/f", old_str=" b", **given).is_error
    assert world.tree() == {"f": b"a\n"}


def test_replacing_a_text_by_itself_succeeds_and_is_marked(world: Any) -> None:
    world.put("f", "a b\n")
    world.main.reconcile()
    before = world.picture()
    answer = world.ask(command="str_replace", path="/memories/f", old_str="b", new_str="b")
    assert (answer.is_error, answer.text, answer.event.no_change) == (False, DONE + "     1\ta b\n     2\t", True)
    assert world.picture() == before


@pytest.mark.parametrize("path", ["/memories/no", "/memories/d", "/memories", "/memories/f/x"])
@pytest.mark.parametrize("profile", ["docs", "sdk"])
def test_a_missing_path_and_a_directory_are_refused(world: Any, path: str, profile: str) -> None:
    world.put("f", "x")
    world.make("d")
    engine = world.engine(messages=profile)
    answer = world.ask(engine, command="str_replace", path=path, old_str="a", new_str="b")
    assert (answer.is_error, answer.text) == (
        True,
        f"Error: The path {path} does not exist. Please provide a valid path.",
    )


@pytest.mark.parametrize("old", ["b", "A", "a.", "a\r\n", "a\nb", "{old_str}"])
def test_no_match_is_refused(world: Any, old: str) -> None:
    world.put("f", "a\nc\n")
    answer = world.ask(command="str_replace", path="/memories/f", old_str=old, new_str="x")
    assert (answer.is_error, answer.text) == (
        True,
        f"No replacement was performed, old_str `{old}` did not appear verbatim in /memories/f.",
    )
    assert world.tree() == {"f": b"a\nc\n"}


@pytest.mark.parametrize(
    ("text", "old", "lines"),
    [
        ("x\ny\nx\n", "x", "1, 3"),
        ("x x\n", "x", "1, 1"),
        ("aaa", "aa", "1, 1"),
        ("a\na\na\n", "a\na", "1, 2"),
        ("x\n" * 21, "x", ", ".join(map(str, range(1, 21))) + " and 1 more"),
        ("x\n" * 20, "x", ", ".join(map(str, range(1, 21)))),
        ("a" * 5_000, "a" * 2_000, ", ".join(["1"] * 20) + " and 2,981 more".replace(",", "")),
        ("abab" * 30 + "\nab", "abab", ", ".join(["1"] * 20) + " and 39 more"),
    ],
)
def test_several_matches_are_refused_with_their_lines(world: Any, text: str, old: str, lines: str) -> None:
    world.put("f", text)
    answer = world.ask(command="str_replace", path="/memories/f", old_str=old, new_str="y")
    shown = old if len(old) <= 1_024 else f"{old[:1024]}[... {len(old) - 1024:,} more characters]"
    assert (answer.is_error, answer.text) == (
        True,
        f"No replacement was performed. Multiple occurrences of old_str `{shown}` in lines: {lines}. "
        "Please ensure it is unique",
    )
    assert world.tree() == {"f": text.encode()}


@pytest.mark.parametrize("path", ["/memories/f", "/memories/no"])
def test_an_empty_old_text_is_refused(world: Any, path: str) -> None:
    world.put("f", "a")
    answer = world.ask(command="str_replace", path=path, old_str="", new_str="y")
    assert (answer.is_error, answer.text) == (True, "Error: `old_str` must not be empty")


def test_a_link_inside_is_followed(resolver_world: Any) -> None:
    resolver_world.put("d/f", "old")
    (resolver_world.folder / "l").symlink_to("d/f")
    assert not resolver_world.ask(command="str_replace", path="/memories/l", old_str="old", new_str="new").is_error
    assert resolver_world.tree() == {"d": None, "d/f": b"new", "l": "d/f"}


@pytest.mark.timeout(30)
def test_counting_overlapping_matches_of_a_long_text_does_not_take_its_square() -> None:
    size = 1_000_000
    with at_most(20):  # it was minutes
        with pytest.raises(Refusal) as refused:
            edits.replace_once("ab" * (size // 2), "ab" * (size // 4), "", "f")
        assert str(refused.value).endswith(f" and {size // 4 + 1 - 20} more. Please ensure it is unique")


@pytest.mark.parametrize("old", ["a", "aa", "aba", "abab", "ababab", "aab", "aabaa", "abaab"])
@pytest.mark.parametrize(
    "text", ["aaaaaaaaab", "abababababaababababab", "aabaabaabaabxaabaab", "abaababaabaababaababaab" * 3]
)
def test_every_overlapping_match_is_counted(text: str, old: str) -> None:
    positions = [at for at in range(len(text)) if text.startswith(old, at)]
    if len(positions) < 2:
        return
    more = f" and {len(positions) - 20} more" if len(positions) > 20 else ""
    with pytest.raises(Refusal) as refused:
        edits.replace_once(text, old, "", "f")
    assert f"in lines: {', '.join(['1'] * min(len(positions), 20))}{more}. " in str(refused.value)
