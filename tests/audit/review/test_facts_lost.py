"""Which of the statements that were dropped nothing says any more: precision first."""

import time

import pytest

from memtui.audit.facts import Dropped, lost, normalised, statements

KEPT = [
    ("- Anna is allergic to peanuts", "* anna is allergic to PEANUTS"),
    ("- Anna is allergic to peanuts", "1. Anna  is allergic   to peanuts."),
    ("- [ ] Call the dentist about the crown", "- [x] call the dentist about the crown"),
    ("Ben lives in Lisbon", "People: Ben lives in Lisbon, Carla in Porto, and Dora works in Faro these days."),
    ("Ben lives in Lisbon with two grey cats", "Ben lives in Lisbon\nwith two grey cats"),
    ("User prefers short answers", "Prefers short answers"),
    ("The user prefers short answers", "- preference: short answer"),
    ("**Timezone:** Europe/Lisbon", "timezone = Europe/Lisbon"),
    (
        "Deploys need the VPN connection switched on before starting the script",
        "Deploys need a VPN connection switched on before they start the script",
    ),
    (
        "The staging database is cleaned every Sunday evening by the nightly job",
        "The staging database is cleared every Sunday evening by the nightly job",
    ),
    ("Remember the recieved package for Anna", "Remember the received package for Anna"),
    ("Do not deploy on Fridays", "- Never deploy on Friday"),
    ("Don't deploy on Fridays", "do not deploy on Fridays"),
    ("ﬁle names are lower case", "file names are lower case"),
    ("The café closes at nine", "the cafe\u0301 closes at nine"),
]
LOST = [
    ("- Anna is allergic to peanuts", "- Ben is allergic to peanuts"),
    ("- Anna is allergic to peanuts", "- Anna is allergic to shellfish"),
    ("Order number 4711 is still open", "Order number 4712 is still open"),
    ("The limit of the budget is 3.11 million", "The limit of the budget is 3.12 million"),
    ("Do not deploy on Fridays", "Deploy on Fridays"),
    ("Deploy on Fridays", "Do not deploy on Fridays"),
    ("Meet Carla in Porto on Monday", "Meet Carla in Lisbon on Monday"),
    ("Ben lives in Lisbon", "Nothing like it stands here"),
    ("Ben lives in Lisbon", ""),
    ("The key of the safe is under the blue flower pot", "The flower pot is blue"),
]


@pytest.mark.parametrize(("dropped", "now"), KEPT)
def test_what_is_said_in_another_way_is_not_lost(dropped: str, now: str) -> None:
    assert lost([Dropped("a.md", 1, dropped, 1)], [f"# Notes\n\n{now}\n", "something else\n"]) == []


@pytest.mark.parametrize(("dropped", "now"), LOST)
def test_what_says_something_else_does_not_keep_it(dropped: str, now: str) -> None:
    gone = [Dropped("a.md", 1, dropped, 1)]
    assert lost(gone, [f"# Notes\n\n{now}\n", "something else\n"]) == gone


def test_halves_in_two_notes_do_not_make_a_statement() -> None:
    gone = [Dropped("a.md", 1, "Ben lives in Lisbon with two grey cats", 1)]
    assert lost(gone, ["Ben lives in Lisbon\n", "two grey cats\n"]) == gone


def test_the_same_statement_is_told_once_of_a_note() -> None:
    twice = [Dropped("a.md", 1, "- Ben lives in Lisbon", 1), Dropped("a.md", 5, "ben lives in lisbon", 2)]
    assert lost(twice, []) == twice[:1]


def test_headings_rules_fences_and_front_matter_are_no_statements() -> None:
    text = "---\nname: x\nmodified: 2026-11-20\n---\n# Title here\n\n```sh\n---\n| --- | --- |\n- A real statement\n"
    lines = text.split("\n")
    found = list(statements(lines, range(len(lines))))
    assert [(each.line, each.text) for each in found] == [(10, "- A real statement")]


def test_front_matter_that_is_not_closed_hides_nothing() -> None:
    lines = ["---", "Ben lives in Lisbon"]
    assert [each.text for each in statements(lines, range(2))] == ["Ben lives in Lisbon"]


def test_a_word_alone_is_not_missed() -> None:
    assert lost([Dropped("a.md", 1, "- Berlin", 1), Dropped("a.md", 2, "- the", 1)], []) == []


@pytest.mark.parametrize(
    "line", ["x" * 1_000_000, "a " * 500_000, "n't" * 300_000, "#" * 1_000_000, "|-" * 500_000, "\u202e" * 300_000]
)
def test_a_line_of_a_megabyte_does_not_hold_it_up(line: str) -> None:
    begin = time.process_time()
    found = list(statements([line], [0]))
    normalised(line)
    lost([Dropped("a.md", each.line, each.text, 1) for each in found], [line, line + "!"])
    assert time.process_time() - begin < 10
