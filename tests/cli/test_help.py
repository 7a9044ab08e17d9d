"""Help fits on the smallest screen, and says what there is."""

import pytest

import memtui
from memtui.cli import main
from memtui.cli.help import TOPICS
from memtui.cli.verbs import VERBS


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["help"], *([name, "--help"] for name in VERBS)], ids=" ".join)
def test_help_fits_on_a_screen(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


def test_help_lists_every_verb_by_what_it_is_for_and_begins_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert all(line.startswith("  memtui ") for line in lines[2:5])
    listed = [line for line in lines if any(line.startswith(f"  {group} ") for group in VERBS.groups)]
    width = 2 + max(map(len, VERBS.groups)) + 2
    assert [name for line in listed for name in line[width:].split()] == list(VERBS)
    assert {line[:width].strip() for line in listed} == set(VERBS.groups)


@pytest.mark.parametrize("name", VERBS)
def test_help_of_a_verb_has_an_example_and_needs_nothing_else(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    first = capsys.readouterr().out
    assert f"memtui {name}" in first.split("Usage:")[0].split("\n", 1)[1]
    for words in (*([["help", name]] if name not in TOPICS else []), ["-h", name], [name, "--nonsense", "-h"]):
        assert main(words) == 0
        assert capsys.readouterr().out == first


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version_is_said(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([option]) == 0
    assert capsys.readouterr().out == f"memtui {memtui.__version__}\n"


@pytest.mark.parametrize("name", VERBS)
def test_what_options_do_is_in_one_column(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    own = capsys.readouterr().out.split("Usage:")[1].split("\n\n")[1]
    rows = [line for line in own.splitlines() if line.startswith("  -")]
    assert len({line.rindex("  ") for line in rows}) <= 1
