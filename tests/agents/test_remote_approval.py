"""One process asks, a person at another one answers."""

import contextlib
import os
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from queue import Queue
from textwrap import dedent
from typing import Any

import pytest

from memtui.agents import ipc
from memtui.agents.remote_approval import ApprovalQuestion, ApprovalServer, has_approval_server, request_approval
from memtui.core.approvals import Allow, Deny, Edit, Proposal, Stop, Unanswered, Verdict
from memtui.core.events import Agent, Change, EntryKind, Version, sha256
from memtui.fs.state import APPROVAL_SOCKET
from tests.bench.limits import at_most

BEFORE, AFTER = b"tea\n", "coffee \u202e\n".encode()


def proposal_of(before: bytes = BEFORE, after: bytes = AFTER, path: str = "notes/drinks.md") -> Proposal:
    texts = {sha256(text): text for text in (before, after)}
    was, will = (Version(EntryKind.FILE, sha256(text), len(text)) for text in (before, after))
    return Proposal(
        Agent("Claude Code", "a-model", "a-session"),
        "str_replace",
        f"/memories/{path}",
        None,
        "toolu_1",
        (Change(path, was, will),),
        texts,
        "The memory file has been edited.",
        {"command": "str_replace", "path": f"/memories/{path}"},
    )


class Person:
    """Somebody at a running memtui, who is asked."""

    def __init__(self, state: Path) -> None:
        self.asked: Queue[ApprovalQuestion] = Queue()
        self.ended: Queue[ApprovalQuestion] = Queue()
        self.failed: Queue[str] = Queue()
        self.desk = ApprovalServer(state, self.asked.put, ended=self.ended.put, failed=self.failed.put)
        self.desk.start()

    def question(self) -> ApprovalQuestion:
        return self.asked.get(timeout=10)


class Asker(threading.Thread):
    """Somebody who asks, and waits."""

    def __init__(self, state: Path, proposal: Proposal | None = None, seconds: float = 20, **options: Any) -> None:
        super().__init__()
        self.verdict: Verdict | None = None
        self._ask = lambda: request_approval(state, proposal or proposal_of(), seconds=seconds, **options)
        self.start()

    def run(self) -> None:
        self.verdict = self._ask()

    def answer(self) -> Verdict | None:
        self.join(20)
        assert not self.is_alive()
        return self.verdict


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[Callable[..., Person]]:
    people: list[Person] = []

    def come(state: Path = tmp_path, *, opens: bool = True) -> Person:
        people.append(Person(state))
        if opens:
            assert people[-1].desk.wait_until_open(10)
        return people[-1]

    yield come
    for person in people:
        person.desk.close()


@pytest.mark.parametrize(
    "verdict",
    [Allow(), Allow(always="notes"), Deny(), Deny("not \u202e now\n"), Edit("water\n" * 100_000), Stop()],
    ids=["yes", "always", "no", "reason", "edit", "stop"],
)
def test_the_answer_of_the_person_comes_back(somebody: Callable[..., Person], tmp_path: Path, verdict: Verdict) -> None:
    person, asker = somebody(), Asker(tmp_path)
    question = person.question()
    assert question.answer(verdict)
    assert asker.answer() == verdict


def test_the_question_arrives_as_it_was_asked(somebody: Callable[..., Person], tmp_path: Path) -> None:
    asked = proposal_of(b"x" * 1_000_000, b"\xff" * 1_000_000, path="odd \udcff/\x1b[31m")
    asked = replace(asked, again="It has changed.", draft="mine", new_path="/memories/b")
    person, asker = somebody(), Asker(tmp_path, asked)
    question = person.question()
    assert question.proposal == asked
    question.answer(Deny())
    asker.answer()


def test_a_second_answer_does_nothing(somebody: Callable[..., Person], tmp_path: Path) -> None:
    person, asker = somebody(), Asker(tmp_path)
    question = person.question()
    assert question.answer(Deny("no"))
    assert not question.answer(Allow())
    assert asker.answer() == Deny("no")


def test_who_asks_may_wait_for_a_server(somebody: Callable[..., Person], tmp_path: Path) -> None:
    asker = Asker(tmp_path)
    person = somebody()
    person.question().answer(Allow())
    assert asker.answer() == Allow()


def test_nobody_is_waited_for_unless_that_is_wanted(tmp_path: Path) -> None:
    assert request_approval(tmp_path, proposal_of(), seconds=60, wait_for_server=False) == Unanswered()
    assert request_approval(tmp_path / "gone", proposal_of(), seconds=60, wait_for_server=False) == Unanswered()


def test_the_limit_passes_where_nobody_comes(tmp_path: Path) -> None:
    assert request_approval(tmp_path, proposal_of(), seconds=0.05) == Unanswered(0.05)


def test_a_question_that_nobody_answers_in_time_says_so_on_both_sides(
    somebody: Callable[..., Person], tmp_path: Path
) -> None:
    person, asker = somebody(), Asker(tmp_path, seconds=0.2)
    question = person.question()
    assert person.ended.get(timeout=10) is question
    assert "in time" in question.closed_reason
    assert asker.answer() == Unanswered(0.2)
    assert not question.answer(Allow()), "what comes too late is not taken for an answer"


def test_an_asker_that_is_stopped_takes_its_question_away(somebody: Callable[..., Person], tmp_path: Path) -> None:
    stop = threading.Event()
    person, asker = somebody(), Asker(tmp_path, stop=stop.is_set)
    question = person.question()
    stop.set()
    assert asker.answer() == Stop()
    assert person.ended.get(timeout=10) is question
    assert "has ended" in question.closed_reason
    assert not question.answer(Allow())


def test_an_asker_that_is_killed_takes_its_question_away(
    somebody: Callable[..., Person], tmp_path: Path, run_python: Callable[..., Any]
) -> None:
    person = somebody()
    program = """
        import sys
        from memtui.agents.remote_approval import request_approval
        from memtui.core.approvals import Proposal
        from memtui.core.events import Agent, Change, Version
        from memtui.core.events import EntryKind
        change = Change("a.md", None, Version(EntryKind.FILE, "0" * 64, 1))
        proposal = Proposal(Agent("other"), "create", "/memories/a.md", None, None, (change,), {}, "")
        request_approval(sys.argv[1], proposal, seconds=60)
        """
    process = run_python(dedent(program), tmp_path, wait=False)
    try:
        question = person.question()
        assert question.proposal.actor == Agent("other")
        process.kill()
        assert person.ended.get(timeout=10) is question
    finally:
        process.kill()
        process.communicate()


OWNER = """
    import sys
    from memtui.agents.remote_approval import ApprovalServer
    desk = ApprovalServer(sys.argv[1], lambda question: print("asked", flush=True))
    desk.start()
    assert desk.wait_until_open(10)
    print("open", flush=True)
    sys.stdin.read()
    desk.close()
    """


@pytest.fixture
def owner(tmp_path: Path, run_python: Callable[..., Any]) -> Iterator[Any]:
    """Another memtui, in a process of its own, which has the desk and does not answer."""
    process = run_python(dedent(OWNER), tmp_path, wait=False, stdin=subprocess.PIPE)
    assert said_by(process) == "open\n"
    with process:
        yield process
        process.kill()


def said_by(process: Any) -> str:
    assert select.select([process.stdout], [], [], 20)[0]
    return str(process.stdout.readline())


@pytest.mark.parametrize("end", ["killed", "closed"])
def test_another_window_takes_over_within_a_second_and_is_asked_what_was_open(
    somebody: Callable[..., Person], tmp_path: Path, owner: Any, end: str
) -> None:
    other = somebody(opens=False)
    asker = Asker(tmp_path)
    assert said_by(owner) == "asked\n"
    assert not other.desk.is_open
    with at_most(1, waiting=True):
        if end == "killed":
            owner.kill()
        else:
            owner.stdin.close()
        assert other.desk.wait_until_open(30)
    other.question().answer(Allow())
    assert asker.answer() == Allow()


def test_who_would_not_wait_is_handed_on_to_the_next_window_all_the_same(
    somebody: Callable[..., Person], tmp_path: Path, owner: Any
) -> None:
    other = somebody(opens=False)
    asker = Asker(tmp_path, wait_for_server=False)
    assert said_by(owner) == "asked\n"
    owner.kill()
    other.question().answer(Deny("no"))
    assert asker.answer() == Deny("no")


def test_who_would_not_wait_does_not_wait_long_for_one_who_died(tmp_path: Path, owner: Any) -> None:
    asker = Asker(tmp_path, seconds=600, wait_for_server=False)
    assert said_by(owner) == "asked\n"
    owner.kill()
    verdict = asker.answer()
    assert isinstance(verdict, Unanswered)
    assert 0 < verdict.seconds < 20  # she was asked and did not answer: that is not as if nobody was there


def test_a_stale_socket_is_replaced(somebody: Callable[..., Person], tmp_path: Path, owner: Any) -> None:
    owner.send_signal(signal.SIGKILL)
    owner.wait(20)
    assert (tmp_path / APPROVAL_SOCKET).is_socket()
    assert not has_approval_server(tmp_path)
    person = somebody()
    assert has_approval_server(tmp_path)
    asker = Asker(tmp_path)
    person.question().answer(Allow())
    assert asker.answer() == Allow()


def test_nothing_is_left_when_the_last_window_closes(somebody: Callable[..., Person], tmp_path: Path) -> None:
    person = somebody()
    mode = (tmp_path / APPROVAL_SOCKET).stat().st_mode
    assert mode & 0o777 == 0o600
    person.desk.close()
    assert not (tmp_path / APPROVAL_SOCKET).exists()
    assert not has_approval_server(tmp_path)


def test_a_desk_that_never_began_can_be_closed(tmp_path: Path) -> None:
    ApprovalServer(tmp_path, print).close()


def test_many_ask_at_once_and_each_gets_its_own_answer(somebody: Callable[..., Person], tmp_path: Path) -> None:
    person = somebody()
    askers = {str(number): Asker(tmp_path, proposal_of(path=f"{number}.md")) for number in range(40)}
    for _ in askers:
        question = person.question()
        question.answer(Deny(question.proposal.changes[0].path.removesuffix(".md")))
    assert {number: asker.answer() for number, asker in askers.items()} == {n: Deny(n) for n in askers}


def test_a_crowd_waits_outside(somebody: Callable[..., Person], tmp_path: Path) -> None:
    person = somebody()
    crowd = []
    try:
        for _ in range(200):
            peer = ipc.connect_socket(str(tmp_path))
            if peer is not None:
                crowd.append(peer)
    finally:
        for peer in crowd:
            peer.close()
    asker = Asker(tmp_path)
    person.question().answer(Allow())
    assert asker.answer() == Allow()


GARBAGE = {
    "nothing": b"\n",
    "no JSON": b"GET / HTTP/1.1\r\n\r\n",
    "bytes": bytes(range(256)) + b"\n",
    "deep": b"[" * 1_000_000 + b"\n",
    "a number": b"1" * 100_000 + b"\n",
    "a list": b"[]\n",
    "another version": b'{"memtui":99,"ask":{}}\n',
    "an answer": ipc.encode_answer(Allow()),
    "two questions": ipc.encode_question(proposal_of(), 5) * 2,
    "no changes": ipc.encode_question(replace(proposal_of(), changes=()), 5),
    "a way out": ipc.encode_question(replace(proposal_of(), changes=(Change("../x", None, None),)), 5),
    "no hash": ipc.encode_question(proposal_of(), 5).replace(sha256(BEFORE).encode(), b"z" * 64),
    "for ever": ipc.encode_question(proposal_of(), float("inf")),
    "never": ipc.encode_question(proposal_of(), float("nan")),
    "a person": ipc.encode_question(proposal_of(), 5).replace(b'"Claude Code"', b"null"),
}


@pytest.mark.parametrize("said", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_sent_away_and_harms_nobody(somebody: Callable[..., Person], tmp_path: Path, said: bytes) -> None:
    person = somebody()
    peer = ipc.connect_socket(str(tmp_path))
    assert peer is not None
    with peer:
        peer.settimeout(20)
        try:
            peer.sendall(said)
            heard = peer.recv(100)
        except (ConnectionResetError, BrokenPipeError):
            heard = b""
    assert heard == b""
    asker = Asker(tmp_path)
    person.question().answer(Allow())
    assert asker.answer() == Allow()
    assert person.asked.empty()


def test_more_than_a_question_may_have_is_not_kept(somebody: Callable[..., Person], tmp_path: Path) -> None:
    somebody()
    peer = ipc.connect_socket(str(tmp_path))
    assert peer is not None
    with peer:
        peer.settimeout(20)
        with pytest.raises((ConnectionResetError, BrokenPipeError)):  # noqa: PT012 - sooner or later
            for _ in range(ipc.LIMIT // 1_000_000 + 2):
                peer.sendall(b" " * 1_000_000)
            peer.recv(1)
            raise ConnectionResetError


@pytest.mark.parametrize("said", [b"", b"\n", b"garbage\n", b'{"memtui":1,"verdict":{"kind":"maybe"}}\n', b"x" * 99])
def test_an_answer_that_is_none_is_not_taken_for_a_yes(tmp_path: Path, said: bytes) -> None:
    door = ipc.open_listener(str(tmp_path), 5)
    door.setblocking(True)
    stop = threading.Event()

    def misbehave() -> None:
        while not stop.is_set():
            peer, _ = door.accept()
            with peer, contextlib.suppress(OSError):
                peer.recv(1_000_000)
                peer.sendall(said)

    thread = threading.Thread(target=misbehave, daemon=True)
    thread.start()
    verdict = request_approval(tmp_path, proposal_of(), seconds=0.5)
    stop.set()
    with socket.socket(socket.AF_UNIX) as last:
        last.connect(str(tmp_path / APPROVAL_SOCKET))
    thread.join(20)
    door.close()
    assert verdict == Unanswered(0.5)


def test_a_path_that_is_too_long_for_a_socket_is_no_obstacle(somebody: Callable[..., Person], tmp_path: Path) -> None:
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("there is no way around it on this system")
    state = tmp_path / ("x" * 120) / ("y" * 120)
    state.mkdir(parents=True)
    person = somebody(state)
    assert has_approval_server(state)
    asker = Asker(state)
    person.question().answer(Allow())
    assert asker.answer() == Allow()


def test_a_state_directory_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    person = Person(tmp_path / "gone")
    assert "no such file" in person.failed.get(timeout=10)
    person.desk.close()


def test_what_is_no_socket_is_nobody(tmp_path: Path) -> None:
    (tmp_path / APPROVAL_SOCKET).write_text("not a socket")
    assert not has_approval_server(tmp_path)
    assert request_approval(tmp_path, proposal_of(), seconds=1, wait_for_server=False) == Unanswered()


def test_a_window_that_fails_does_not_take_the_desk_along(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked: Queue[ApprovalQuestion] = Queue()

    def fail(question: ApprovalQuestion) -> None:
        asked.put(question)
        raise RuntimeError("a bug in the window")

    desk = ApprovalServer(tmp_path, fail)
    desk.start()
    try:
        asker = Asker(tmp_path)
        asked.get(timeout=10).answer(Deny("no"))
        assert asker.answer() == Deny("no")
        assert desk.is_open
    finally:
        desk.close()
    assert "a bug in the window" in capsys.readouterr().err


def test_of_too_much_text_a_part_goes_along() -> None:
    small, large = b"small", b"x" * 20_000_000
    asked = proposal_of(small, large)
    arrived = ipc.decode_question(ipc.encode_question(asked, 5)).proposal
    assert arrived.changes == asked.changes
    assert arrived.texts == {sha256(small): small}
    assert arrived.get_data(arrived.changes[0].after) is None


def test_an_asker_that_goes_at_the_moment_of_its_answer_does_not_end_the_desk(tmp_path: Path) -> None:
    asked: list[ApprovalQuestion] = []
    came = threading.Event()

    def answer_late(question: ApprovalQuestion) -> None:
        asked.append(question)
        if len(asked) == 2:  # the answer and the end of the first one are there at the same look
            asked[0].answer(Allow())
            first.close()
        came.set()

    desk = ApprovalServer(tmp_path, answer_late)
    desk.start()
    assert desk.wait_until_open(10)
    try:
        first, second, third = (ipc.connect_socket(str(tmp_path)) for _ in range(3))
        assert first is not None
        assert second is not None
        assert third is not None
        for number, peer in enumerate((first, second, third), 1):
            came.clear()
            peer.setblocking(True)
            peer.sendall(ipc.encode_question(proposal_of(), 20))
            assert came.wait(10), f"question {number} was not heard"
        second.close()
        third.close()
    finally:
        desk.close()
