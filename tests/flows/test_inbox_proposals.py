"""What Gemini CLI proposes is asked about with its exact change, and is written or dropped as the person says."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import memtui
from memtui.agents.remote_approval import ApprovalQuestion
from memtui.core.approvals import Allow, Deny, Edit, Verdict
from memtui.engine import Engine
from memtui.flows.approvals import describe_request, describe_verdict, format_deadline
from memtui.flows.inbox import InboxQuestions

PATCH = """--- {0}/MEMORY.md
+++ {0}/MEMORY.md
@@ -1,2 +1,2 @@
 # Project Memory
-- one
+- 1
--- /dev/null
+++ {0}/build.md
@@ -0,0 +1,1 @@
+- make
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("GEMINI_CLI_HOME", raising=False)
    folder = tmp_path / ".gemini/tmp/app/memory"
    (folder / ".inbox/private").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Project Memory\n- one\n")
    (folder / ".inbox/private/extraction.patch").write_text(PATCH.format(folder))
    return folder


class Person:
    """Takes the questions, and waits for what comes of answers."""

    def __init__(self, memory: Engine) -> None:
        self.questions: list[ApprovalQuestion] = []
        self.words: list[str] = []
        self.inbox = InboxQuestions(memory, self.questions.append, self.words.append)
        self.inbox.ask()

    def answer(self, question: ApprovalQuestion, verdict: Verdict) -> None:
        assert question.answer(verdict)
        for thread in threading.enumerate():
            if thread.name == "memtui-inbox":
                thread.join(30)


@pytest.fixture
def memory(folder: Path, tmp_path: Path) -> Iterator[Engine]:
    with memtui.open(folder, state=tmp_path / "state") as memory:
        yield memory


@pytest.fixture
def person(memory: Engine) -> Person:
    return Person(memory)


def test_a_patch_that_is_being_written_is_asked_about_once_it_is_whole(person: Person, folder: Path) -> None:
    person.questions.clear()
    patch, text = folder / ".inbox/private/second.patch", PATCH.format(folder).replace("build.md", "test.md")
    for written in ("", text[:20], text[:20]):
        patch.write_text(written)
        person.inbox.ask()
    assert person.questions == []
    assert len(person.words) == 1, "it is told once"
    assert "second.patch cannot be applied" in person.words[0]
    patch.write_text(text)
    person.inbox.ask()
    assert [question.proposal.path for question in person.questions] == ["/memories/MEMORY.md", "/memories/test.md"]
    person.inbox.ask()
    assert len(person.questions) == 2


def test_what_the_first_look_at_the_folder_finds_concerns_it(person: Person, memory: Engine, folder: Path) -> None:
    (first,) = [event for event in memory.events() if event.command == "found"]
    assert person.inbox.concerns([first])
    (folder / "other.md").write_text("x\n")
    head = memory.get_head()[0]
    memory.reconcile()
    assert not person.inbox.concerns(memory.events(after=head))


def test_each_file_is_a_question_with_its_exact_change(person: Person) -> None:
    edit, new = person.questions
    assert describe_request(edit.proposal) == "Gemini CLI asks to overwrite MEMORY.md"
    assert describe_request(new.proposal) == "Gemini CLI asks to create build.md"
    assert [edit.proposal.text(each.after) for each in edit.proposal.files] == ["# Project Memory\n- 1\n"]
    assert format_deadline(edit) == "you answer"
    person.inbox.ask()
    assert len(person.questions) == 2


def test_what_is_allowed_is_written_and_named_in_the_index_and_the_patch_goes(
    person: Person, folder: Path, memory: Engine
) -> None:
    edit, new = person.questions
    person.answer(edit, Allow())
    assert (folder / "MEMORY.md").read_text() == "# Project Memory\n- 1\n"
    assert (folder / ".inbox/private/extraction.patch").exists()
    person.answer(new, Allow())
    assert (folder / "build.md").read_text() == "- make\n"
    assert (folder / "MEMORY.md").read_text() == f"# Project Memory\n- 1\n- See {folder}/build.md for build notes.\n"
    assert not (folder / ".inbox/private/extraction.patch").exists()
    authors = {event.path: event.actor.name for event in memory.events() if event.command == "create"}
    assert authors == {"/memories/MEMORY.md": "Gemini CLI", "/memories/build.md": "Gemini CLI"}
    assert [(event.actor.name, event.command) for event in memory.events()][-1] == ("you", "delete")
    assert person.words == []


def test_what_is_dropped_is_not_written_and_the_patch_goes(person: Person, folder: Path) -> None:
    for question in person.questions:
        person.answer(question, Deny())
    assert (folder / "MEMORY.md").read_text() == "# Project Memory\n- one\n"
    assert not (folder / "build.md").exists()
    assert not (folder / ".inbox/private/extraction.patch").exists()


def test_a_text_of_the_persons_own_is_written(person: Person, folder: Path) -> None:
    person.answer(person.questions[0], Edit("# Project Memory\n- uno\n"))
    assert (folder / "MEMORY.md").read_text() == "# Project Memory\n- uno\n"


def test_a_note_that_changed_meanwhile_is_asked_about_again(person: Person, folder: Path) -> None:
    (folder / "MEMORY.md").write_text("# Project Memory\n- by hand\n")
    person.answer(person.questions[0], Allow())
    assert (folder / "MEMORY.md").read_text() == "# Project Memory\n- by hand\n"
    again = person.questions[2]
    assert again.proposal.again
    person.answer(again, Deny())
    assert (folder / "MEMORY.md").read_text() == "# Project Memory\n- by hand\n"


@pytest.mark.parametrize("make", [lambda text: text.replace("- one", "- uno"), lambda _: "no patch"])
def test_what_cannot_be_applied_is_told_and_left(make: Callable[[str], str], folder: Path, memory: Engine) -> None:
    path = folder / ".inbox/private/extraction.patch"
    path.write_text(make(path.read_text()))
    person = Person(memory)
    assert person.questions == []
    (words,) = person.words
    assert words.startswith("A proposal of Gemini CLI in .inbox/private/extraction.patch cannot be applied: it ")
    assert path.exists()


def test_the_answer_says_what_comes_of_it(person: Person) -> None:
    proposal = person.questions[0].proposal
    said = [describe_verdict(each, proposal, is_waiting=False) for each in (Allow(), Edit("x"), Deny("why"))]
    assert said == ["Allowed: MEMORY.md is written."] * 2 + ["Denied: MEMORY.md stays as it is."]


def test_in_another_folder_nothing_is_asked(tmp_path: Path, folder: Path) -> None:
    other = tmp_path / "other"
    (other / ".inbox/private").mkdir(parents=True)
    (other / ".inbox/private/extraction.patch").write_text((folder / ".inbox/private/extraction.patch").read_text())
    with memtui.open(other, state=tmp_path / "other-state") as memory:
        person = Person(memory)
    assert (person.questions, person.words) == ([], [])
