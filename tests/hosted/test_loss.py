"""What the API refuses, and connections that break: nothing is lost, nothing comes twice, and each is said."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

import memtui
from memtui.core.errors import RemoteRefused, StateUnusable
from memtui.core.events import EntryKind, Person, Version, WatchMode, sha256
from memtui.engine import Engine
from memtui.hosted import api
from memtui.hosted import place as hosted
from memtui.memory import observe
from memtui.scan.samples import make_sample
from tests.conftest import wait_until
from tests.hosted.conftest import Hosting, Open, Wire, ask, read_copy
from tests.serve.conftest import ADA, READER


def lose() -> None:
    raise httpx2.ReadError("the connection was reset")


def version_of(text: str) -> Version:
    data = text.encode()
    return Version(EntryKind.FILE, sha256(data), len(data))


# Conflicts


def change(hosting: Hosting, path: str, content: str) -> Callable[[], object]:
    """Somebody else changes a memory."""
    found = hosting.find(path)
    return lambda: hosting.memories.update(found.id, memory_store_id=hosting.id, content=content)


def test_a_save_over_a_change_is_a_conflict_with_its_author(hosting: Hosting, wire: Wire, memory: Engine) -> None:
    wire.before = change(hosting, "/prefs.md", "- long answers\n")
    base = version_of("- short answers\n")
    done = memory.write("prefs.md", b"- mine\n", based_on=base)
    assert done.event is None
    assert [each.path for each in done.skipped] == ["prefs.md"]
    assert wire.sent == ["POST"], "it was tried once, and not by force"
    assert hosting.read_all()["/prefs.md"] == read_copy(memory)["/prefs.md"] == "- long answers\n"
    last = list(memory.events())[-1]
    assert (last.command, last.actor) == ("modified", memtui.Agent("user_ada"))
    assert memory.write("prefs.md", b"- mine\n", based_on=version_of("- long answers\n")).event is not None
    assert hosting.read_all()["/prefs.md"] == "- mine\n"


def test_an_edit_is_planned_anew_on_what_stands_there_by_now(hosting: Hosting, wire: Wire, memory: Engine) -> None:
    wire.before = change(hosting, "/prefs.md", "- short answers\n- more\n")
    answer = ask(memory, "str_replace", "prefs.md", old_str="short", new_str="long")
    assert not answer.is_error, answer.text
    assert hosting.read_all()["/prefs.md"] == "- long answers\n- more\n"
    wire.before = change(hosting, "/prefs.md", "- none\n")
    answer = ask(memory, "str_replace", "prefs.md", old_str="long", new_str="short")
    assert answer.is_error
    assert hosting.read_all()["/prefs.md"] == "- none\n"


@pytest.mark.parametrize("command", ["delete", "rename", "create"])
def test_each_command_meets_what_came_between(hosting: Hosting, wire: Wire, memory: Engine, command: str) -> None:
    prefs = hosting.find("/prefs.md")
    if command == "delete":
        wire.before = lambda: hosting.memories.delete(prefs.id, memory_store_id=hosting.id)
        assert ask(memory, "delete", "prefs.md").is_error, "it is not there any more"
    elif command == "rename":
        wire.before = lambda: hosting.create("/other.md", "theirs\n")
        assert ask(memory, "rename", old_path="/memories/prefs.md", new_path="/memories/other.md").is_error
        assert hosting.read_all()["/other.md"] == "theirs\n"
    else:
        wire.before = lambda: hosting.create("/new.md", "theirs\n")
        done = memory.write("new.md", b"mine\n", based_on=None)
        assert done.event is None
        assert hosting.read_all()["/new.md"] == "theirs\n"
    assert read_copy(memory) == hosting.read_all()
    assert not memory.journal.has_intents()


def test_a_memory_that_was_renamed_just_before_is_not_edited(hosting: Hosting, wire: Wire, memory: Engine) -> None:
    prefs = hosting.find("/prefs.md")
    wire.before = lambda: hosting.memories.update(prefs.id, memory_store_id=hosting.id, path="/theirs.md")
    answer = ask(memory, "str_replace", "prefs.md", old_str="short", new_str="long")
    assert "does not exist" in answer.text
    assert hosting.read_all()["/theirs.md"] == "- short answers\n", "what was sent is taken back"
    assert read_copy(memory) == hosting.read_all()
    assert memory.reconcile() == 0


def test_of_two_renames_the_later_one_stands(hosting: Hosting, wire: Wire, memory: Engine) -> None:
    prefs = hosting.find("/prefs.md")
    wire.before = lambda: hosting.memories.update(prefs.id, memory_store_id=hosting.id, path="/theirs.md")
    assert not ask(memory, "rename", old_path="/memories/prefs.md", new_path="/memories/ours.md").is_error
    memory.store.attach()
    assert "/ours.md" in read_copy(memory)
    assert read_copy(memory) == hosting.read_all()
    assert memory.reconcile() == 0


# Lost connections


def test_a_connection_that_is_refused_changes_nothing(hosting: Hosting, wire: Wire, memory: Engine) -> None:
    wire.is_cut = True
    answer = ask(memory, "create", "a.md", file_text="one\n")
    assert answer.text == "Error: could not create /memories/a.md: the memory store cannot be reached"
    assert "short answers" in ask(memory, "view", "prefs.md").text, "what this machine knows"
    with pytest.raises(RemoteRefused, match="cannot be reached"):
        memory.write("prefs.md", b"mine\n", based_on=version_of("- short answers\n"))
    wire.is_cut = False
    assert wire.sent == []
    assert not ask(memory, "create", "a.md", file_text="one\n").is_error
    assert hosting.read_all() == read_copy(memory)


@pytest.mark.parametrize("command", ["create", "str_replace", "rename", "delete"])
@pytest.mark.parametrize("is_done", [True, False])
def test_a_lost_answer_is_asked_for_and_the_change_never_made_twice(
    hosting: Hosting, wire: Wire, memory: Engine, command: str, is_done: bool
) -> None:
    before = hosting.read_all()
    if is_done:
        wire.after = lose
    else:
        wire.before = lose
    answer = {
        "create": lambda: ask(memory, "create", "a.md", file_text="one\n"),
        "str_replace": lambda: ask(memory, "str_replace", "prefs.md", old_str="short", new_str="long"),
        "rename": lambda: ask(memory, "rename", old_path="/memories/prefs.md", new_path="/memories/b.md"),
        "delete": lambda: ask(memory, "delete", "prefs.md"),
    }[command]()
    assert answer.is_error is not is_done, answer.text
    assert len(wire.sent) == is_done
    assert "was not made" in answer.text or is_done
    assert (hosting.read_all() == before) is not is_done
    assert read_copy(memory) == hosting.read_all()
    memory.store.attach()
    assert len([event for event in memory.events() if event.changes]) == 2 + is_done
    assert memory.reconcile() == 0


@pytest.mark.parametrize("is_done", [True, False])
def test_what_nobody_can_say_is_uncertain_until_the_store_is_back(
    hosting: Hosting, wire: Wire, memory: Engine, is_done: bool
) -> None:
    def cut() -> None:
        wire.is_cut = True
        lose()

    if is_done:
        wire.after = cut
    else:
        wire.before = cut
    answer = ask(memory, "create", "a.md", file_text="one\n")
    assert answer.is_error
    assert "it is not known whether /memories/a.md was changed" in answer.text
    assert "/a.md" not in read_copy(memory), "nothing counts that the store does not have"
    assert ask(memory, "create", "b.md", file_text="two\n").is_error
    wire.is_cut = False
    assert not ask(memory, "create", "c.md", file_text="three\n").is_error
    assert ("/a.md" in read_copy(memory)) is is_done
    assert read_copy(memory) == hosting.read_all()
    memory.store.attach()
    changes = [event for event in memory.events() if event.changes and event.actor == memtui.Agent("tester")]
    assert [event.path for event in changes] == ["/memories/a.md"] * is_done + ["/memories/c.md"]
    assert memory.reconcile() == 0
    assert not memory.journal.has_intents()
    assert memory.journal.verify().is_intact


def test_what_came_to_pass_unheard_is_recorded_before_what_came_after_it(
    hosting: Hosting, wire: Wire, memory: Engine
) -> None:
    def cut() -> None:
        wire.is_cut = True
        lose()

    wire.after = cut
    assert ask(memory, "create", "a.md", file_text="one\n").is_error
    change(hosting, "/a.md", "theirs\n")()
    wire.is_cut = False
    assert not ask(memory, "create", "b.md", file_text="two\n").is_error
    memory.store.attach()
    assert read_copy(memory) == hosting.read_all()
    rows = [(row.event.command, row.event.actor.name) for row in memory.history.versions_of("a.md")]
    assert rows == [("modified", "user_ada"), ("create", "tester")]
    assert not [event for event in memory.events() if event.aborted]
    assert memory.reconcile() == 0


def test_a_folder_that_was_deleted_unheard_is_deleted_by_its_author(
    hosting: Hosting, wire: Wire, memory: Engine
) -> None:
    def cut() -> None:
        wire.is_cut = True
        lose()

    wire.after = cut
    assert ask(memory, "delete", "notes").is_error
    wire.is_cut = False
    assert not ask(memory, "create", "b.md", file_text="two\n").is_error
    assert read_copy(memory) == hosting.read_all()
    deleted = [event for event in memory.events() if event.path == "/memories/notes" and event.changes]
    assert [(event.command, event.actor) for event in deleted] == [("delete", memtui.Agent("tester"))]
    assert memory.reconcile() == 0


def test_an_interrupt_after_the_store_has_a_change_leaves_it_to_the_next_one(
    hosting: Hosting, wire: Wire, memory: Engine
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    wire.after = interrupt
    with pytest.raises(KeyboardInterrupt):
        ask(memory, "create", "x/a.md", file_text="one\n")
    memory.store.attach()
    assert not ask(memory, "create", "b.md", file_text="two\n").is_error
    assert read_copy(memory) == hosting.read_all()
    recovered = [event for event in memory.events() if event.path == "/memories/x/a.md" and event.changes]
    assert [(event.actor, event.note) for event in recovered] == [(memtui.Agent("tester"), "recovered after a crash")]
    assert memory.reconcile() == 0


def test_of_many_changes_all_are_made_or_none(hosting: Hosting, wire: Wire, memory: Engine) -> None:
    before = hosting.read_all()
    sent: list[int] = []

    def refuse_the_second() -> None:
        sent.append(1)
        wire.before = change(hosting, "/prefs.md", "- theirs\n")

    wire.before = refuse_the_second
    texts = {"prefs.md": b"1\n", "notes/today.md": b"2\n"}
    done = memory.write_all(texts, based_on={path[1:]: text.encode() for path, text in before.items()})
    assert done.event is None
    assert sent, "the first one was made"
    assert wire.sent == ["POST"] * 3, "the first one, the second one, and the first one back"
    assert hosting.read_all() == read_copy(memory) == {**before, "/prefs.md": "- theirs\n"}
    memory.store.attach()
    assert memory.reconcile() == 0


# Refusals


def test_a_key_that_may_only_read_is_refused_in_the_apis_words(hosting: Hosting, open_store: Open) -> None:
    memory = open_store(READER)
    answer = ask(memory, "create", "a.md", file_text="one\n")
    assert answer.text.startswith("Error: could not create /memories/a.md: the API refused it: ")
    assert hosting.read_all() == read_copy(memory)


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("a.md", "x" * 102_401, "the API takes at most 102,400 bytes, and this has 102,401"),
        (".git/a.md", "x\n", "the API refused it: path: '/.git/a.md' is not valid"),
    ],
)
def test_what_the_api_does_not_take_is_said(hosting: Hosting, memory: Engine, path: str, text: str, words: str) -> None:
    answer = ask(memory, "create", path, file_text=text)
    assert answer.is_error
    assert words in answer.text
    assert read_copy(memory) == hosting.read_all()
    assert not memory.journal.has_intents()


def test_bytes_links_and_empty_folders_are_refused(hosting: Hosting, memory: Engine) -> None:
    with pytest.raises(RemoteRefused, match="only text in UTF-8"):
        memory.write("a.md", b"\xff\xfe", based_on=None)
    with pytest.raises(RemoteRefused, match="no folder in which no memory is"):
        memory.files.make_directory("empty")
    assert read_copy(memory) == hosting.read_all()


def test_a_limit_of_requests_is_said_with_its_time(wire: Wire, memory: Engine) -> None:
    answer = httpx2.Response(429, headers={"retry-after": "12"}, json={"type": "error", "error": {"message": "slow"}})
    inner = wire.handle_request

    def limit(request: httpx2.Request) -> httpx2.Response:
        return inner(request) if request.method == "GET" else answer

    wire.handle_request = limit  # type: ignore[method-assign]
    refused = ask(memory, "create", "a.md", file_text="one\n")
    assert refused.text.endswith("the API takes no more requests for now. Try again in 12 s")


def test_an_archived_store_is_read_and_not_changed(hosting: Hosting, open_store: Open, wire: Wire) -> None:
    hosting.stores.archive(hosting.id)
    memory = open_store()
    assert "short answers" in ask(memory, "view", "prefs.md").text
    answer = ask(memory, "delete", "prefs.md")
    assert "the memory store is archived: it can be read" in answer.text
    assert wire.sent == []


def test_a_store_that_is_archived_meanwhile_is_said(hosting: Hosting, memory: Engine) -> None:
    hosting.stores.archive(hosting.id)
    assert "archived" in ask(memory, "create", "a.md", file_text="one\n").text
    assert read_copy(memory) == hosting.read_all()


@pytest.mark.parametrize(
    ("environment", "place", "words"),
    [
        ({"ANTHROPIC_API_KEY": "a-key-that-nobody-has"}, None, "The API refused the key"),
        ({"ANTHROPIC_API_KEY": ""}, None, "There is no key for the API. Set ANTHROPIC_API_KEY"),
        ({}, "anthropic:memstore_none", "There is no memory store memstore_none for this key"),
        ({}, "anthropic:../x", "named by its id"),
        ({"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}, None, "The memory store cannot be reached"),
    ],
)
def test_what_cannot_be_opened_is_said_without_key_and_address(
    hosting: Hosting, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], place: str | None, words: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(StateUnusable, match=words) as refused:
        memtui.open(place or hosting.place)
    assert not any(each in str(refused.value) for each in ("a-key-that", ADA, "127.0.0.1", "http"))


def test_neither_key_nor_address_is_on_the_disk(hosting: Hosting, home: Path) -> None:
    with memtui.open(hosting.place) as engine:
        ask(engine, "create", "a.md", file_text="one\n")
        ask(engine, "create", ".git/a.md", file_text="one\n")
    for path in home.rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            assert ADA.encode() not in held
            assert str(hosting.port).encode() not in held


def test_another_store_of_the_same_id_is_recognised(hosting: Hosting, memory: Engine) -> None:
    memory.journal.set_metadata("hosted.begun", "1")
    with pytest.raises(StateUnusable, match="Another memory store"):
        memtui.open(hosting.place)


def test_read_only_nothing_that_changes_is_called(hosting: Hosting) -> None:
    with memtui.open(hosting.place, read_only=True) as engine:
        assert ask(engine, "create", "a.md", file_text="one\n").is_error
        assert "short" in ask(engine, "view", "prefs.md").text
    with observe(hosting.place) as observer:
        assert observer.journal.get_head()[0] == 2
    assert hosting.get_writes() == []


def test_who_follows_says_that_the_store_is_away_and_goes_on(hosting: Hosting, wire: Wire, memory: Engine) -> None:
    files = memory.journal.files
    assert files.bells
    wire.is_cut = True
    wait_until(lambda: files.status.mode is WatchMode.OFFLINE, "that the store is away")
    assert files.status.reason == "The memory store cannot be reached."
    hosting.create("/a.md", "one\n")
    wire.is_cut = False
    wait_until(lambda: "/a.md" in read_copy(memory), "what came meanwhile")
    wait_until(lambda: files.status.mode is WatchMode.LIVE, "that it is back")


def test_offline_what_is_known_is_shown(hosting: Hosting) -> None:
    with memtui.open(hosting.place):
        pass
    hosting.stop()
    with hosted.connect(hosting.place, offline=True) as engine:
        assert "/prefs.md" in read_copy(engine)
        hosting.start()
        assert not ask(engine, "create", "a.md", file_text="one\n").is_error
    assert "/a.md" in hosting.read_all()


# This machine


def test_a_change_that_this_machine_cannot_hold_is_uncertain_and_made_up_for(
    hosting: Hosting, memory: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(memory.store, "write", fail)
        assert "was changed, but" in ask(memory, "create", "a.md", file_text="one\n").text
    assert not ask(memory, "create", "b.md", file_text="two\n").is_error
    assert read_copy(memory) == hosting.read_all()
    made = [event for event in memory.events() if event.path == "/memories/a.md" and event.changes]
    assert [event.actor for event in made] == [memtui.Agent("tester")]
    assert memory.reconcile() == 0


def test_a_person_who_stops_in_the_middle_has_the_rest_made_up_for(hosting: Hosting, memory: Engine) -> None:
    for number in range(3):
        ask(memory, "create", f"d/{number}.md", file_text=f"{number}\n")
    head = memory.get_head()[0]
    memory.clear(actor=Person())
    memory.restore_directory("", head, progress=lambda done, _: done < 3)
    memory.store.attach()
    with memory.store.begin_transaction(1):
        pass
    assert read_copy(memory) == hosting.read_all()
    assert memory.reconcile() == 0


def test_what_the_server_leaves_out_of_a_text_is_taken_over(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    hosting = Hosting(serve(settings=memtui.Settings(secrets="redact")))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", hosting.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", ADA)
    try:
        with memtui.open(hosting.place) as engine:
            assert not ask(engine, "create", "a.md", file_text=f"key {make_sample('aws-key')} here\n").is_error
            engine.store.attach()
            assert read_copy(engine) == hosting.read_all()
            assert "[redacted" in read_copy(engine)["/a.md"]
            assert engine.reconcile() == 0
    finally:
        hosting.close()


# Answers that no API gives


@pytest.mark.parametrize(
    "answer",
    [
        httpx2.Response(200, json={"data": [{"type": "memory_version"}], "next_page": None}),
        httpx2.Response(200, json=[]),
        httpx2.Response(200, text="<html>", headers={"content-type": "text/html"}),
        httpx2.Response(302, headers={"location": "http://127.0.0.1:9/"}),
        httpx2.Response(418, json={"error": None}),
    ],
)
def test_an_answer_that_is_none_is_said_and_changes_nothing(
    wire: Wire, memory: Engine, answer: httpx2.Response
) -> None:
    before = read_copy(memory)
    wire.handle_request = lambda _: answer  # type: ignore[method-assign]
    refused = ask(memory, "create", "a.md", file_text="one\n")
    assert refused.is_error
    assert "127.0.0.1" not in refused.text
    store: Any = memory.store
    with pytest.raises(RemoteRefused):
        store.catch_up()
    assert read_copy(memory) == before


@pytest.mark.parametrize("path", ["/../x.md", "x.md", "/a//b.md", "/a\0b.md", "/./x", "/"])
def test_a_path_that_cannot_be_is_left_out(path: str) -> None:
    assert api._read_path(path) is None


def test_a_content_that_has_another_hash_is_refused(wire: Wire, memory: Engine, hosting: Hosting) -> None:
    hosting.create("/a.md", "one\n")
    inner = wire.handle_request

    def forge(request: httpx2.Request) -> httpx2.Response:
        response = inner(request)
        response.read()
        return httpx2.Response(response.status_code, content=response.content.replace(b"one", b"two"))

    wire.handle_request = forge  # type: ignore[method-assign]
    store: Any = memory.store
    with pytest.raises(RemoteRefused, match="does not have the SHA-256"):
        store.catch_up()
    assert "/a.md" not in read_copy(memory)


def test_the_sdk_sends_no_change_a_second_time(hosting: Hosting, wire: Wire) -> None:
    client = hosting.connect(transport=wire).with_options(max_retries=2)
    with hosted.connect(hosting.place, client=client) as engine:
        wire.before = lose
        assert "was not made" in ask(engine, "create", "a.md", file_text="one\n").text
    assert wire.sent == []
    assert hosting.find("/a.md") is None
