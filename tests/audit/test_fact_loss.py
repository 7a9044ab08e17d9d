"""Which of the statements that were dropped nothing says any more: precision first."""

import pytest

from memtui.audit.fact_loss import DroppedStatement, find_lost_statements, find_statements, normalize_statement
from tests.bench.limits import at_most

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
    ("The lease ends on 2026-03-01", "The lease ends on 1 March 2026"),
    ("The lease ends on March 1, 2026", "Lease ends 2026-03-01"),
    ("The lease ends on 1 March 2026", "Lease ends: 1.3.2026"),
    ("Meeting with Carla moved to 2026-11-20 14:30", "Meeting with Carla moved to 20 Nov 2026, 14:30"),
    ("Release on 20th of November 2026", "Release on 20 November 2026"),
    ("The budget is 12,500 euros", "The budget is 12500 euros"),
    ("The limit is 10 %", "The limit is 10%"),
    ("Timeout is 30s", "Timeout is 30 s"),
    ("The office is on the 3rd floor", "The office is on the third floor"),
    ("There are three servers in Porto", "There are 3 servers in Porto"),
    ("Ben likes tea, coffee and dark chocolate", "Ben likes:\n- tea\n- coffee\n- dark chocolate"),
    ("Languages used: Python, Rust, and Go", "## Languages used\n- Python\n- Rust\n- Go"),
    ("Build with make, test with pytest and deploy with fabric", "- Build: make\n- Test: pytest\n- Deploy: fabric"),
    ("Anna works in Berlin and her manager is Dora", "- Anna works in Berlin\n- Her manager is Dora"),
    ("The API runs on port 8080 and the metrics on port 9090", "- API: port 8080\n- Metrics: port 9090"),
    ("Anna lives in Berlin", "Anna (Berlin, allergic to nuts) is our contact and lives there since 2020"),
    ("Standup is at 9:30", "Daily: standup at 9:30, lunch at 12:00, review at 16:00"),
    ("The user strongly prefers tabs over spaces", "Prefers tabs over spaces"),
    ("Always run the linter before committing", "Run linter before each commit"),
    ("We decided to use PostgreSQL for storage", "Storage: PostgreSQL (decided)"),
    ("Use uv instead of pip for installing packages", "Install packages using uv, not pip"),
    ("Never push to main without review", "Do not push to main without a review"),
    ("He can't eat gluten", "He cannot eat gluten"),
    ("Deploys aren't allowed on Fridays", "No deploys on Fridays are allowed"),
    ("| Anna | Berlin | peanuts |", "- Anna, Berlin: peanuts"),
    ("- **Anna**: _Berlin_", "Anna: Berlin"),
    ("See [the handbook](docs/handbook.md) for rules", "See the handbook for rules (docs/handbook.md)"),
    ("`make test` runs the tests", "Run tests with `make test`"),
    ("Ben likes tea and coffee", "Ben likes coffee and tea"),
    ("Friday is the day for deploys to Porto", "Deploys to Porto: Friday is the day"),
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
    ("The lease ends on 2026-03-01", "The lease ends on 2026-04-01"),
    ("The lease ends on 1 March 2026", "The lease ends on 1 March 2027"),
    ("The lease ends on 1 March 2026", "The lease ends on 3 January 2026"),
    ("The lease ends on 2026-03-01", "The lease ends on 1 April 2026"),
    ("The budget is 12,500 euros", "The budget is 12,600 euros"),
    ("The budget is 12,500 euros", "The budget is 125 euros"),
    ("The API runs on port 8080", "The API runs on port 8081"),
    ("Timeout is 30 s", "Timeout is 60 s"),
    ("Do not restart the database by hand", "Restart the database by hand"),
    ("Never deploy on Fridays", "Deploy on Fridays"),
    ("Anna is not allergic to nuts", "Anna is allergic to nuts"),
    ("Don't use eval in templates", "Use eval in templates"),
    ("No meetings on Mondays", "Meetings on Mondays"),
    ("Anna's manager is Dora", "Anna's manager is Bert"),
    ("Ben likes tea", "Ben likes coffee"),
    ("anna is allergic to peanuts", "ben is allergic to peanuts"),
    ("The database password is kept in vault", "The database is kept in vault storage"),
    ("Use tabs, not spaces", "Use spaces, not tabs"),
    ("Carla reports to Dora", "Dora reports to Carla"),
    ("Prefers light mode in the editor", "Prefers dark mode in the editor"),
    ("Version 3.11 is required", "Version 3.12 is required"),
    ("Call her before 9", "Call her after 9"),
    ("There are three servers in Porto", "There are four servers in Porto"),
    ("The meeting is at 14:30", "The meeting is at 15:30"),
    ("The server is in rack 4, row 2", "The server is in rack 2, row 4"),
    ("Ben likes tea, coffee and dark chocolate", "Ben likes:\n- tea\n- coffee"),
    ("Anna works in Berlin and her manager is Dora", "- Anna works in Berlin"),
    ("Kein Deployment am Freitag", "Deployment am Freitag"),
    ("Order 4711 was paid by card", "Order 4711 was paid in cash"),
    ("The price rose from 10 to 20", "The price rose from 20 to 10"),
    ("Ben is allergic to nuts", "## Allergic\n- Anna: nuts\n- Ben: peanuts"),
    ("Timeout is 30s", "Timeout is 30m"),
]


@pytest.mark.parametrize(("dropped", "now"), KEPT)
def test_what_is_said_in_another_way_is_not_lost(dropped: str, now: str) -> None:
    assert (
        find_lost_statements([DroppedStatement("a.md", 1, dropped, 1)], [f"# Notes\n\n{now}\n", "something else\n"])
        == []
    )


@pytest.mark.parametrize(("dropped", "now"), LOST)
def test_what_says_something_else_does_not_keep_it(dropped: str, now: str) -> None:
    gone = [DroppedStatement("a.md", 1, dropped, 1)]
    assert find_lost_statements(gone, [f"# Notes\n\n{now}\n", "something else\n"]) == gone


def test_halves_in_two_notes_do_not_make_a_statement() -> None:
    gone = [DroppedStatement("a.md", 1, "Ben lives in Lisbon with two grey cats", 1)]
    assert find_lost_statements(gone, ["Ben lives in Lisbon\n", "two grey cats\n"]) == gone


def test_the_same_statement_is_told_once_of_a_note() -> None:
    twice = [
        DroppedStatement("a.md", 1, "- Ben lives in Lisbon", 1),
        DroppedStatement("a.md", 5, "ben lives in lisbon", 2),
    ]
    assert find_lost_statements(twice, []) == twice[:1]


def test_headings_rules_fences_and_front_matter_are_no_statements() -> None:
    text = "---\nname: x\nmodified: 2026-11-20\n---\n# Title here\n\n```sh\n---\n| --- | --- |\n- A real statement\n"
    lines = text.split("\n")
    found = list(find_statements(lines, range(len(lines))))
    assert [(each.line, each.text) for each in found] == [(10, "- A real statement")]


def test_front_matter_that_is_not_closed_hides_nothing() -> None:
    lines = ["---", "Ben lives in Lisbon"]
    assert [each.text for each in find_statements(lines, range(2))] == ["Ben lives in Lisbon"]


def test_a_word_alone_is_not_missed() -> None:
    assert (
        find_lost_statements([DroppedStatement("a.md", 1, "- Berlin", 1), DroppedStatement("a.md", 2, "- the", 1)], [])
        == []
    )


PIECES = (
    "x",
    "a ",
    "n't",
    "#",
    "|-",
    "\u202e",
    "1,",
    "1.1.",
    "a_",
    "_",
    "1",
    "12 jan ",
    "2026-11-22 ",
    "'s",
    "1st of ",
    "1a",
)


@pytest.mark.sweep(keep=4)
@pytest.mark.parametrize("line", [piece * (1_000_000 // len(piece)) for piece in PIECES], ids=range(len(PIECES)))
def test_a_line_of_a_megabyte_does_not_hold_it_up(line: str) -> None:
    with at_most(10):
        found = list(find_statements([line], [0]))
        normalize_statement(line)
        find_lost_statements([DroppedStatement("a.md", each.line, each.text, 1) for each in found], [line, line + "!"])
