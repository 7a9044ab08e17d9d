"""`memtui mcp --ask`: a change waits for the person at a memtui that shows the folder."""

import queue
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memtui.agents.remote_approval import ApprovalQuestion, ApprovalServer
from memtui.core.approvals import Allow, Deny, Edit
from memtui.core.events import Agent, Event, Person
from memtui.fs.state import get_state_directory
from memtui.memory import connect
from tests.agents.mcp.pipe_client import LIMIT, Server
from tests.bench.limits import at_most

Start = Callable[..., Server]
CREATE = {"command": "create", "path": "/memories/a.md", "file_text": "theirs\n"}


class Person_(queue.Queue[ApprovalQuestion]):
    """Somebody at a running memtui."""

    def asked(self) -> ApprovalQuestion:
        """The next question."""
        return self.get(timeout=LIMIT)


@pytest.fixture
def person(folder: Path) -> Iterator[Person_]:
    connect(folder).close()
    person = Person_()
    desk = ApprovalServer(get_state_directory(str(folder)), person.put)
    desk.start()
    assert desk.wait_until_open(LIMIT)
    yield person
    desk.close()


def test_what_the_person_allows_is_written_and_what_is_declined_is_not(
    start: Start, person: Person_, folder: Path, events: Callable[[], list[Event]]
) -> None:
    server = start("--ask", "--name", "desk")
    number = server.begin_call(**CREATE)
    question = person.asked()
    assert (question.proposal.actor, question.proposal.path) == (Agent("desk"), "/memories/a.md")
    assert not (folder / "a.md").exists()
    question.answer(Allow())
    assert server.answer(number)["result"]["isError"] is False
    assert (folder / "a.md").read_text() == "theirs\n"

    number = server.begin_call(command="delete", path="/memories/a.md")
    person.asked().answer(Deny("it is still needed"))
    result = server.answer(number)["result"]
    assert result["isError"]
    assert result["content"][0]["text"].endswith("Their reason: it is still needed")
    assert (folder / "a.md").exists()

    number = server.begin_call(**{**CREATE, "path": "/memories/b.md"})
    person.asked().answer(Edit("mine\n"))
    text = server.answer(number)["result"]["content"][0]["text"]
    assert text.startswith("The user edited this change before it was written.")
    assert (folder / "b.md").read_text() == "mine\n"
    assert any(isinstance(event.actor, Person) for event in events())


def test_views_do_not_wait_for_a_change_that_does(start: Start, person: Person_) -> None:
    server = start("--ask")
    number = server.begin_call(**CREATE)
    question = person.asked()
    assert server.call({"command": "view", "path": "/memories"})[1] is False
    assert server.ask("resources/read", {"uri": "memory:///prefs.md"})["contents"]
    question.answer(Allow())
    assert server.answer(number)["result"]["isError"] is False


def test_what_was_allowed_for_good_is_not_asked_again(start: Start, person: Person_) -> None:
    server = start("--ask")
    number = server.begin_call(**CREATE)
    person.asked().answer(Allow(always="/"))
    assert server.answer(number)["result"]["isError"] is False
    assert server.call({"command": "delete", "path": "/memories/a.md"})[1] is False


def test_without_an_answer_it_is_refused_at_the_limit_and_nothing_is_written(start: Start, folder: Path) -> None:
    server = start("--ask", "--ask-seconds", "0.3")
    text, is_error = server.call(CREATE)
    assert is_error
    assert text == (
        "Error: could not create /memories/a.md: the user has to approve it and did not answer within 0.3 seconds. "
        "Nothing was changed"
    )
    assert not (folder / "a.md").exists()
    assert server.ask("tools/list")["tools"][0]["description"].endswith("read the answer.")


def test_several_that_wait_are_all_refused_by_the_limit_of_the_first(start: Start) -> None:
    server = start("--ask", "--ask-seconds", "3")
    with at_most(8, waiting=True):  # one after the other it would be nine
        numbers = [server.begin_call(**{**CREATE, "path": f"/memories/{name}.md"}) for name in "abc"]
        answers = [server.answer(number)["result"]["content"][0]["text"] for number in numbers]
        assert all("did not answer within 3 seconds" in answer for answer in answers)


def test_a_question_whose_client_gave_up_is_not_asked_any_more(
    start: Start, person: Person_, folder: Path, events: Callable[[], list[Event]]
) -> None:
    server = start("--ask")
    number = server.begin_call(**CREATE)
    question = person.asked()
    server.tell("notifications/cancelled", {"requestId": number})
    deadline = time.monotonic() + LIMIT
    while not question.closed_reason:
        assert time.monotonic() < deadline, "the question is still there"
        server.ask("ping")
    assert not question.answer(Allow())
    assert server.end() == 0
    assert not (folder / "a.md").exists()
    assert "stopped" in [event.note for event in events()]


def test_the_end_of_the_client_ends_its_question(start: Start, person: Person_, folder: Path) -> None:
    server = start("--ask")
    server.begin_call(**CREATE)
    person.asked()
    assert server.end() == 0
    assert not (folder / "a.md").exists()
