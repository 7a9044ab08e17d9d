"""A text that must go is gone from history, files and disk; the events stay, and the chain holds."""

from typing import Any

import pytest

import memtui
import memtui.engine.redaction
from memtui.core.history import RedactionResult
from memtui.engine import Engine
from memtui.journal import chain
from memtui.journal.bodies import unpack_body
from tests.conftest import set_clock

SECRET = 'tok-7Hq2-ÄÖ"x'


def insist_on_chain(engine: Engine) -> None:
    previous = chain.START
    for _, body, hash in engine.journal._query("SELECT seq, body, hash FROM events ORDER BY seq", ()):
        previous = chain.hash_link(previous, unpack_body(body))
        assert previous == hash


def bytes_of_state(world: Any) -> bytes:
    return b"".join(path.read_bytes() for path in world.state.rglob("*") if path.is_file())


def holds_secret(data: bytes) -> bool:
    return b"7Hq2" in data


@pytest.fixture
def with_secret(plain_world: Any) -> Any:
    plain_world.ask(command="create", path="/memories/a", file_text="harmless\n")
    plain_world.ask(command="str_replace", path="/memories/a", old_str="harmless", new_str=f"token {SECRET} here")
    plain_world.ask(command="insert", path="/memories/a", insert_line=0, insert_text="top")
    plain_world.ask(command="create", path="/memories/b", file_text=f"{SECRET}\n" * 100)
    plain_world.ask(command="delete", path="/memories/b")
    plain_world.ask(command="create", path="/memories", file_text=SECRET)  # refused, and its arguments are kept
    plain_world.put("c", f"from outside: {SECRET}")
    plain_world.main.reconcile()
    return plain_world


def test_a_match_is_gone_from_history_files_and_disk(with_secret: Any) -> None:
    engine = with_secret.main
    assert holds_secret(bytes_of_state(with_secret))
    rehearsed = engine.redact(match=SECRET, rehearse=True)
    assert holds_secret(with_secret.tree()["a"])
    done = engine.redact(match=SECRET, reason="leaked token")
    assert (done.problem, done.left) == ("", ())
    assert rehearsed.texts == done.texts > 3
    assert with_secret.tree() == {"a": b"top\ntoken [redacted] here\n", "c": b"from outside: [redacted]"}
    assert not holds_secret(bytes_of_state(with_secret))
    assert not any(holds_secret(repr(event).encode()) for event in engine.events())
    assert done.event.note.startswith("leaked token: ")
    assert done.event.command == "redact"
    insist_on_chain(engine)
    rows = engine.history.versions_of("a")
    assert [row.event.command for row in rows] == ["redact", "insert", "str_replace", "create"]
    assert engine.history.text(rows[1].after) is None
    assert engine.history.text(rows[-1].after) == b"harmless\n"
    assert with_secret.engine().reconcile() == 0
    assert engine.redact(match=SECRET).problem.startswith("Nothing was removed: it is not in the history")


def test_all_that_a_path_ever_held_goes_with_its_file(with_secret: Any) -> None:
    done = with_secret.main.redact(path="a", reason="it must go")
    assert "a" not in with_secret.tree()
    assert all(with_secret.main.history.text(row.after or row.before) is None for row in done_rows(with_secret, "a"))
    assert with_secret.main.history.text(with_secret.main.history.versions_of("c")[0].after)
    assert [change.path for change in done.changes] == ["a"]
    insist_on_chain(with_secret.main)


def done_rows(world: Any, path: str) -> list[Any]:
    return [row for row in world.main.history.versions_of(path) if row.event.command != "redact"]


def test_what_one_event_wrote_goes_and_what_was_before_stays(with_secret: Any) -> None:
    done = with_secret.main.redact(event=4, reason="")
    assert done.problem == ""
    assert 4 in done.events
    event = with_secret.main.history.get_event(4)
    assert event.answer is None
    assert event.arguments is None
    assert with_secret.main.history.text(event.changes[0].after) is None
    assert with_secret.main.history.find_deleted()[0].is_stored is False
    assert holds_secret(with_secret.tree()["a"])
    assert "no longer kept in the history" in with_secret.main.undo([5]).problem


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"event": 99}, "there is no event 99"),
        ({"path": "nowhere"}, "there is no history of nowhere"),
        ({"match": ""}, ""),
    ],
)
def test_what_cannot_be_removed_is_said(with_secret: Any, asked: dict[str, Any], problem: str) -> None:
    head = with_secret.main.get_head()
    done = with_secret.main.redact(**asked)
    assert done.problem.startswith("Nothing was removed")
    assert problem in done.problem
    assert isinstance(done, RedactionResult)
    assert with_secret.main.get_head() == head


def test_exactly_one_thing_is_redacted_at_a_time(with_secret: Any) -> None:
    for asked in ({}, {"event": 1, "path": "a"}, {"match": "a", "version": "0" * 64}):
        with pytest.raises(ValueError, match="give one of"):
            with_secret.main.redact(**asked)


def test_one_version_is_removed_and_no_file_that_holds_it(with_secret: Any) -> None:
    engine = with_secret.main
    rows = engine.history.versions_of("a")
    current, secret = rows[0].after, rows[1].after
    before = with_secret.tree()
    assert engine.redact(version=secret.sha256, reason="it must go").problem == ""
    assert engine.history.text(secret) is None
    assert engine.history.text(rows[-1].after) == b"harmless\n"
    engine.redact(version=current.sha256)
    assert engine.history.text(current) == before["a"]
    assert with_secret.tree() == before
    assert engine.redact(version="0" * 64).problem.startswith("Nothing was removed")
    insist_on_chain(engine)


def test_a_text_in_names_is_said_since_it_stays(with_secret: Any) -> None:
    with_secret.ask(command="create", path="/memories/7Hq2-name", file_text="7Hq2")
    done = with_secret.main.redact(match="7Hq2")
    assert any("part of the chain" in sentence for sentence in done.left)
    assert any("Rename the file" in sentence for sentence in done.left)


def test_a_removed_text_that_comes_again_is_kept_again(with_secret: Any) -> None:
    with_secret.main.redact(path="b")
    with_secret.ask(command="create", path="/memories/b", file_text=f"{SECRET}\n" * 100)
    with_secret.ask(command="delete", path="/memories/b")
    assert with_secret.main.undo([with_secret.main.get_head()[0]]).problem == ""
    assert holds_secret(with_secret.tree()["b"])


def test_old_texts_go_and_what_stands_now_stays(world: Any) -> None:
    clock = [0]
    set_clock(world.main, lambda: clock[0])
    for day in range(5):
        clock[0] = day * 86_400_000_000_000
        world.ask(command="create", path="/memories/a", file_text=f"day {day}\n" * 100)
        world.ask(command="create", path=f"/memories/{day}", file_text=f"only {day}\n" * 100)
    world.ask(command="delete", path="/memories/0")
    rehearsed = world.main.prune(older_than_us=2 * 86_400_000_000 + 1, rehearse=True)
    assert rehearsed.texts == 2  # day 0 and 1 of a, replaced before the third day; 0 went on the fifth
    before = world.tree()
    done = world.main.prune(older_than_us=2 * 86_400_000_000 + 1)
    assert (done.texts, done.events[0].actor, done.events[0].command) == (2, memtui.core.events.Memtui(), "redact")
    assert world.tree() == before
    texts = [world.main.history.text(row.after) for row in done_rows(world, "a")]
    assert [text is None for text in texts] == [False, False, False, True, True]
    everything = world.main.prune(max_bytes=1)
    assert everything.texts == 3
    assert world.main.prune(max_bytes=1).texts == 0
    assert all(world.main.history.text(world.main.history.versions_of(str(day))[0].after) for day in range(1, 5))
    insist_on_chain(world.main)


def test_settings_prune_when_the_folder_is_looked_at_once_a_day(plain_world: Any) -> None:
    clock = [0]
    engine = plain_world.engine(keep_days=2)
    set_clock(engine, lambda: clock[0])
    for day in range(6):
        clock[0] = day * 86_400_000_000_000
        engine.execute(
            {"command": "create", "path": "/memories/a", "file_text": f"day {day}\n"}, actor=memtui.Agent("a")
        )
        engine.reconcile()
    texts = [engine.history.text(row.after) for row in done_rows(plain_world, "a")]
    assert texts[0] == b"day 5\n"
    assert texts[-1] is None
    assert sum(text is None for text in texts) == 2
    insist_on_chain(engine)


def test_a_damaged_journal_that_was_set_aside_is_named_since_it_is_not_searched(with_secret: Any) -> None:
    (with_secret.state / "journal-damaged-20260101T000000.db").write_bytes(b"who knows")
    done = with_secret.main.redact(match=SECRET)
    assert any("journal-damaged-20260101T000000.db" in sentence for sentence in done.left)


def test_many_small_secrets_leave_nothing_on_the_disk(plain_world: Any) -> None:
    for number in range(200):
        plain_world.ask(command="create", path=f"/memories/{number}", file_text=f"secret-{number:03}-{number * 7919}\n")
    removed = [f"secret-{number:03}-{number * 7919}" for number in range(0, 200, 10)]
    for secret in removed:
        assert plain_world.main.redact(match=secret).problem == ""
    kept = bytes_of_state(plain_world)
    assert not [secret for secret in removed if secret.encode() in kept]


def test_what_other_notes_hold_as_well_is_not_lost_there(plain_world: Any) -> None:
    for name in ("a", "b", "template", "empty"):
        text = "" if name == "empty" else "the same text\n"
        plain_world.ask(command="create", path=f"/memories/{name}", file_text=text)
    plain_world.ask(command="create", path="/memories/b", file_text="other\n")
    done = plain_world.main.redact(path="a")
    assert plain_world.tree() == {"b": b"other\n", "template": b"the same text\n", "empty": b""}
    assert any("template too: it stays there" in sentence for sentence in done.left)
    plain_world.ask(command="delete", path="/memories/template")
    assert plain_world.main.undo([plain_world.main.get_head()[0]]).problem == ""
    emptied = plain_world.ask(command="create", path="/memories/second", file_text="").event
    assert plain_world.main.redact(event=emptied.seq).changes == ()
    assert plain_world.tree()["empty"] == b""


def test_the_beginning_of_a_secret_that_was_cut_off_goes_as_well(plain_world: Any) -> None:
    long = "x" * 16_380 + SECRET + "y" * 1_000
    refused = plain_world.ask(command="create", path="/memories", file_text=long).event
    assert "tok-" in refused.arguments
    done = plain_world.main.redact(match=SECRET)
    assert refused.seq in done.events
    assert plain_world.main.history.get_event(refused.seq).arguments is None


def test_what_is_lost_and_not_back_yet_is_kept_whatever_the_settings_say(plain_world: Any) -> None:
    clock = [0]
    engine = plain_world.engine(keep_bytes=1)
    set_clock(engine, lambda: clock[0])
    for number in range(6):
        plain_world.put(f"{number}", f"{number}" * 5_000)
    engine.reconcile()
    before = plain_world.tree()
    clock[0] = 30 * 86_400_000_000_000
    for number in range(6):
        (plain_world.folder / f"{number}").unlink()
    engine.reconcile()
    assert engine.restore_loss().skipped == ()
    assert plain_world.tree() == before


def test_what_stood_there_lately_is_not_removed_for_its_bytes_alone(plain_world: Any) -> None:
    clock = [0]
    engine = plain_world.engine(keep_bytes=1)
    set_clock(engine, lambda: clock[0])
    for day in (0, 20, 21):
        clock[0] = day * 86_400_000_000_000
        command = {"command": "create", "path": "/memories/a", "file_text": f"day {day}\n"}
        engine.execute(command, actor=memtui.Agent("a"))
        engine.reconcile()
    texts = [engine.history.text(row.after) for row in done_rows(plain_world, "a")]
    assert texts == [b"day 21\n", b"day 20\n", b"day 0\n"]
    clock[0] = 40 * 86_400_000_000_000
    engine.reconcile()
    assert [engine.history.text(row.after) for row in done_rows(plain_world, "a")] == [b"day 21\n", None, None]


def test_a_reason_does_not_hold_what_it_is_about(with_secret: Any) -> None:
    done = with_secret.main.redact(match=SECRET, reason=f"remove {SECRET}")
    assert done.problem == "Nothing was removed: the reason contains the text itself, and reasons stay."
    assert not any(SECRET in event.note for event in with_secret.main.events())


def test_a_secret_of_several_lines_goes_from_answers_and_arguments_as_they_spell_it(plain_world: Any) -> None:
    key = "-----BEGIN KEY-----\nqW3\\rT7\nzX9cV\n-----END KEY-----"
    commands: list[Any] = [{"command": key}, {"command": "view", "path": key}, [key]]
    commands.append({"command": "create", "path": "x", "file_text": key})
    for command in commands:
        plain_world.main.execute(command, actor=memtui.Agent("a"))
    done = plain_world.main.redact(match=key)
    texts = [(event.answer or "") + (event.arguments or "") for event in plain_world.main.events()]
    assert not [text for text in texts if "zX9cV" in text]
    assert any("part of the chain" in sentence for sentence in done.left)


def test_a_text_that_is_written_again_meanwhile_is_said_and_kept(
    plain_world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_world.ask(command="create", path="/memories/a", file_text=SECRET)
    clean = memtui.engine.redaction.Redactor._redact_files

    def late(self: Any, *arguments: Any, **options: Any) -> Any:
        done = clean(self, *arguments, **options)
        plain_world.ask(command="create", path="/memories/b", file_text=SECRET)
        return done

    monkeypatch.setattr(memtui.engine.redaction.Redactor, "_redact_files", late)
    done = plain_world.main.redact(match=SECRET)
    assert "b got the text while it was removed. Redact again." in done.left
    assert plain_world.main.history.text(plain_world.main.history.get_version_at("b", 99)) == SECRET.encode()


def test_names_among_many_that_were_moved_or_found_together_are_told(plain_world: Any) -> None:
    engine = plain_world.main
    for number in range(70):
        plain_world.put(f"notes/{number}-7Hq2", "x\n" if number else "7Hq2\n")
    engine.reconcile()  # one event, which names the directory only
    moved = engine.files.move({"notes/1-7Hq2": "one", "notes/2-7Hq2": "two"})
    engine.files.move({"one": "three", "two": "four"})
    done = engine.redact(match="7Hq2")
    assert moved.event is not None
    (told,) = [sentence for sentence in done.left if sentence.startswith("Names and notes of events")]
    assert told == f"Names and notes of events are part of the chain and stay: see #1, #{moved.event.seq}."
