"""Clean-ups told as one, with what they dropped."""

from typing import Any

import pytest

import memtui
from memtui.core.events import Change, EntryKind, Event, Outside, Version, sha256
from memtui.engine import Engine
from memtui.journal.sqlite import Journal
from memtui.review.inbox_builder import build_inbox
from memtui.review.marks import Review
from memtui.review.runs import MOST_LOST
from memtui.store.memory import MemoryStore

DREAM = memtui.Agent("dream", "a-model", "night-1")
PLAIN = memtui.Agent("Claude", "a-model", "session-1")
MINUTE = 60_000_000


def lost(found: Any) -> list[str]:
    return [fact.text for run in found.runs for fact in run.lost]


def notes(table: Any) -> None:
    table.write("people.md", "# People\n- Anna is allergic to peanuts\n- Ben lives in Lisbon with two cats\n")
    table.write("food.md", "- Prefers short answers over long ones\n- Order number 4711 is still open\n")
    table.write("work.md", "The deploy script needs the VPN switched on first.\nNever push to main on Fridays.\n")
    table.done()


def test_a_clean_up_that_calls_itself_so_is_one_run_with_the_facts_that_it_lost(table: Any) -> None:
    notes(table)
    table.write("people.md", "# People\n- Ben lives in Lisbon with two cats\n", DREAM)
    table.write("food.md", "* prefers SHORT answers over long ones\n* Order number 4712 is still open\n", DREAM)
    table.do(DREAM, command="delete", path="work.md")
    table.write(
        "summary.md", "Push to main on Fridays. For deploys, the deploy script needs VPN switched on first.\n", DREAM
    )
    found = table.inbox()
    (run,) = found.runs
    assert (run.actor, run.session) == ("dream", "night-1")
    assert set(run.paths) == {"people.md", "food.md", "work.md", "summary.md"}
    assert (run.first, run.last) == (found.since + 1, found.until)
    assert sorted(lost(found)) == [
        "- Anna is allergic to peanuts",
        "- Order number 4711 is still open",
        "Never push to main on Fridays.",
    ]
    assert {file.run for file in found.files} == {1}
    fact = next(fact for fact in run.lost if "Anna" in fact.text)
    assert (fact.path, fact.line) == ("people.md", 2)
    assert table.memory.history.get_event(fact.seq).path == "/memories/people.md"


def test_many_files_that_lose_much_are_a_run_whoever_did_it(table: Any) -> None:
    for number in range(6):
        table.write(f"n{number}.md", "".join(f"- item {10 * number + line} of the list\n" for line in range(5)))
    table.done()
    for number in range(6):
        table.write(f"n{number}.md", f"- item {10 * number} of the list\n")
    (run,) = table.inbox().runs
    assert (run.actor, len(run.paths), run.removed) == ("Claude", 6, 24)
    assert len(run.lost) == 24


def test_a_burst_from_outside_is_a_run(table: Any) -> None:
    for name in "abc":
        (table.folder / f"{name}.md").unlink()
    (table.folder / "d.md").write_text("merged: a one a two a three b one b two b three c one c two c three d\n")
    table.memory.reconcile()
    (run,) = table.inbox().runs
    assert (run.actor, len(run.paths)) == ("outside", 4)


def test_a_few_edits_are_no_run(table: Any) -> None:
    notes(table)
    table.do(PLAIN, command="str_replace", path="people.md", old_str="two cats", new_str="three cats")
    table.do(PLAIN, command="str_replace", path="food.md", old_str="short", new_str="brief")
    table.do(PLAIN, command="delete", path="work.md")
    assert table.inbox().runs == ()


def test_what_somebody_brought_back_is_not_lost(table: Any) -> None:
    notes(table)
    table.do(DREAM, command="delete", path="work.md")
    table.do(DREAM, command="delete", path="people.md")
    table.do(DREAM, command="delete", path="food.md")
    assert len(lost(table.inbox())) == 6
    assert table.memory.undo([table.memory.get_head()[0]]).event is not None
    assert lost(table.inbox())[:2] == [
        "The deploy script needs the VPN switched on first.",
        "Never push to main on Fridays.",
    ]
    assert len(lost(table.inbox())) == 4


def test_what_a_run_wrote_itself_and_dropped_again_is_not_lost(table: Any) -> None:
    notes(table)
    table.write("scratch.md", "Step seven of my plan is nearly finished.\n", DREAM)
    table.do(DREAM, command="str_replace", path="scratch.md", old_str="seven", new_str="eight")
    table.do(DREAM, command="delete", path="work.md")
    table.do(DREAM, command="delete", path="scratch.md")
    assert not [text for text in lost(table.inbox()) if "Step" in text]


def test_what_was_moved_to_another_note_and_put_in_other_letters_first_is_followed(table: Any) -> None:
    notes(table)
    table.do(DREAM, command="str_replace", path="people.md", old_str="- Anna is", new_str="* anna is")
    table.do(DREAM, command="str_replace", path="people.md", old_str="* anna is allergic to peanuts\n", new_str="")
    table.do(DREAM, command="delete", path="food.md")
    assert "anna is allergic to peanuts" in " ".join(lost(table.inbox()))


def test_what_a_person_takes_back_is_no_run(table: Any) -> None:
    for number in range(6):
        table.write(f"n{number}.md", "x\n" * 10)
    table.done()
    first = table.memory.get_head()[0] - 5
    assert table.memory.undo(range(first, first + 6)).event is not None
    assert table.inbox().runs == ()


def version(text: str) -> Version:
    return Version(EntryKind.FILE, sha256(text.encode()), len(text))


@pytest.mark.parametrize(
    ("actor", "pause", "runs"),
    [
        (PLAIN, 9, 1),
        (PLAIN, 11, 0),
        (memtui.Agent("Claude"), 4, 1),
        (memtui.Agent("Claude"), 6, 0),
        (Outside(), 1, 1),
        (Outside(), 3, 0),
    ],
)
def test_a_longer_pause_ends_a_run(actor: Any, pause: int, runs: int) -> None:
    journal = Journal(None)
    texts = {version(f"{at}\n").sha256 or "": f"{at}\n".encode() for at in range(6)}
    for at in range(6):
        text = version(f"{at}\n")
        changes = (Change(f"{at}.md", None, text),)
        journal.append_events(
            [Event(at_us=at, actor=PLAIN, command="create", path=f"/memories/{at}.md", changes=changes)], texts=texts
        )
    head = journal.get_head()[0]
    for at in range(6):
        changes = (Change(f"{at}.md", version(f"{at}\n"), None),)
        journal.append_events(
            [Event(at_us=MINUTE * pause * at, actor=actor, command="delete", path="/memories", changes=changes)]
        )
    with Engine(MemoryStore(), journal) as engine:
        assert len(build_inbox(engine, Review(), since=head).runs) == runs


def test_others_may_act_in_between(table: Any) -> None:
    notes(table)
    table.do(DREAM, command="delete", path="work.md")
    table.write("people.md", "Anna is allergic to peanuts\n", PLAIN)
    table.do(DREAM, command="delete", path="food.md")
    (run,) = table.inbox().runs
    assert run.paths == ("food.md", "work.md")


def test_where_a_text_is_not_kept_it_is_not_said_that_nothing_was_lost(table: Any) -> None:
    notes(table)
    for name in ("people", "food", "work"):
        table.do(DREAM, command="delete", path=f"{name}.md")
    table.memory.redact(match="Anna", reason="a secret")
    (run,) = table.inbox().runs
    assert run.unsearched == "some texts are not kept or cannot be compared"
    assert "Never push to main on Fridays." in [fact.text for fact in run.lost]


def test_no_more_than_some_facts_are_told_and_the_others_are_counted(table: Any) -> None:
    many = "".join(f"- the item {number} has the code x{number}\n" for number in range(MOST_LOST + 10))
    table.write("a.md", many)
    table.write("b.md", "- one more note that says a thing\n")
    table.done()
    for name in ("a.md", "b.md"):
        table.do(DREAM, command="delete", path=name)
    (run,) = table.inbox().runs
    assert (len(run.lost), run.unlisted, run.unsearched) == (MOST_LOST, 11, "")
