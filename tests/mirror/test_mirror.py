"""A folder is kept equal to another place: what is carried, as whose, and what is not."""

import os
import shutil
import sys
import time
from pathlib import Path

import pytest

import memtui
from memtui import copying
from memtui.core.errors import FolderMissing, StateUnusable
from memtui.core.events import Version
from memtui.mirror import MirrorBusy, WipeFound, open_mirror
from memtui.postgres.admin import Admin, Grant
from memtui.postgres.dsn import parse_address
from tests.mirror.conftest import CLAUDE, NOTES, Pair, read_texts
from tests.pg_server import OwnServer


def test_both_sides_get_what_the_other_has(any_pair: Pair) -> None:
    assert any_pair.read() == {**NOTES, "d": None}
    any_pair.create("new.md", "n\n")
    any_pair.execute(command="str_replace", path="b.md", old_str="b", new_str="B")
    any_pair.execute(command="delete", path="c.md")
    any_pair.write(d__e_md="E\n", g__h_md="h\n")
    (any_pair.folder / "d" / "f.md").unlink()
    assert sorted(any_pair.tell()) == [
        "To the folder: b.md changed (Claude)",
        "To the folder: c.md deleted (Claude)",
        "To the folder: new.md created (Claude)",
        "To the source: d/e.md changed (another program)",
        "To the source: d/f.md deleted (another program)",
        "To the source: g/h.md created (another program)",
    ]
    texts = {"a.md": NOTES["a.md"], "b.md": "B\n", "new.md": "n\n", "d": None, "d/e.md": "E\n"}
    assert any_pair.read() == {**texts, "g": None, "g/h.md": "h\n"}
    assert any_pair.tell() == []


def test_renames_stay_renames(any_pair: Pair) -> None:
    any_pair.execute(command="rename", old_path="d", new_path="moved")
    (any_pair.folder / "b.md").rename(any_pair.folder / "bb.md")
    (any_pair.folder / "d" / "e.md").write_text("e\nmore\n", encoding="utf-8")  # under the old name
    assert sorted(any_pair.tell()) == [
        "To the folder: d renamed to moved (Claude)",
        "To the source: b.md renamed to bb.md (another program)",
        "To the source: moved/e.md changed (another program)",
    ]
    assert any_pair.read()["moved/e.md"] == "e\nmore\n"
    with memtui.open(any_pair.place) as there, memtui.open(any_pair.folder) as here:
        assert [row.moved_from for row in there.history.versions_of("bb.md")] == ["b.md", None]
        assert next(row.moved_from for row in here.history.versions_of("moved/f.md")) == "d/f.md"


def test_a_rename_and_a_change_before_it_come_together(pair: Pair) -> None:
    pair.execute(command="str_replace", path="a.md", old_str="one", new_str="ONE")
    pair.execute(command="rename", old_path="a.md", new_path="z.md")
    pair.write(a_md=NOTES["a.md"].replace("five", "FIVE"))
    pair.run()
    assert "a.md" not in pair.read()
    assert pair.read()["z.md"] == "ONE\ntwo\nthree\nfour\nFIVE\n"


def test_of_two_new_names_the_source_has_the_say(pair: Pair) -> None:
    pair.execute(command="rename", old_path="b.md", new_path="source.md")
    (pair.folder / "b.md").rename(pair.folder / "folder.md")
    assert pair.tell() == ["To the folder: folder.md renamed to source.md (Claude)"]
    assert {"source.md"} == set(pair.read()) - {*NOTES, "d"}


def test_changes_to_one_note_are_merged_with_their_authors(any_pair: Pair) -> None:
    any_pair.execute(command="str_replace", path="a.md", old_str="one", new_str="ONE")
    any_pair.write(a_md=NOTES["a.md"].replace("five", "FIVE"))
    assert any_pair.tell() == ["Merged: a.md (Claude)", "To the source: a.md changed (another program)"]
    assert any_pair.read()["a.md"] == "ONE\ntwo\nthree\nfour\nFIVE\n"
    assert any_pair.log(any_pair.folder)[-1].startswith("Claude write from ")
    assert any_pair.log(any_pair.place)[-1] == "mirror write for another program"


def test_lines_that_both_changed_are_kept_in_two_notes(any_pair: Pair) -> None:
    any_pair.execute(command="str_replace", path="a.md", old_str="three", new_str="source")
    any_pair.write(a_md=NOTES["a.md"].replace("three", "folder").replace("five", "FIVE"))
    assert any_pair.tell()[0].startswith(
        "Conflict: a.md: both changed the same lines; the folder's text is in a.conflict-"
    )
    texts = any_pair.read()
    (beside,) = [path for path in texts if path.startswith("a.conflict-")]
    assert texts["a.md"] == "one\ntwo\nsource\nfour\nFIVE\n"
    assert texts[beside] == "one\ntwo\nfolder\nfour\nFIVE\n"
    assert any_pair.tell() == []


def test_a_file_that_is_no_text_is_never_merged(pair: Pair) -> None:
    (pair.folder / "a.md").write_bytes(b"\xff folder")
    pair.create("a.md", "source\n")
    pair.run()
    (beside,) = pair.folder.glob("a.conflict-*.md")
    assert beside.read_bytes() == b"\xff folder"
    assert (pair.folder / "a.md").read_text() == "source\n"


@pytest.mark.parametrize("side", ["folder", "source"])
def test_what_comes_between_is_never_written_over(pair: Pair, side: str) -> None:
    """The side that takes a change is changed while that is read on the other side."""
    pair.execute(command="str_replace", path="a.md", old_str="one", new_str="ONE")
    pair.execute(memtui.Agent("Planner"), command="str_replace", path="a.md", old_str="two", new_str="TWO")
    if side == "source":
        pair.run()
        pair.write(a_md=(pair.folder / "a.md").read_text().replace("three", "THREE"))
    with open_mirror(pair.options()) as mirror:
        giver, taker = (mirror._source, mirror._folder) if side == "folder" else (mirror._folder, mirror._source)
        read = giver.get_text

        def change_first(version: Version) -> bytes | None:
            giver.get_text = read  # type: ignore[method-assign]
            text = taker.get_text(taker.get("a.md")) or b""  # type: ignore[arg-type]
            taker.engine.write("a.md", text.replace(b"five", b"FIVE"), based_on=taker.get("a.md"))
            return read(version)

        giver.get_text = change_first  # type: ignore[method-assign]
        list(mirror.sync())
    assert pair.read()["a.md"].splitlines()[0::4] == ["ONE", "FIVE"]  # type: ignore[union-attr]
    assert len(pair.read()) == len(NOTES) + 1, "and is no conflict"


def test_a_change_is_more_than_a_deletion(any_pair: Pair) -> None:
    any_pair.execute(command="delete", path="b.md")
    any_pair.write(b_md="B\n")
    any_pair.create("c.md", "C\n")
    (any_pair.folder / "c.md").unlink()
    any_pair.run()
    texts = any_pair.read()
    assert (texts["b.md"], texts["c.md"]) == ("B\n", "C\n")


def test_what_is_deleted_without_a_command_is_looked_at_twice(pair: Pair) -> None:
    with open_mirror(pair.options(pause=1_000)) as mirror:
        list(mirror.sync())
        assert mirror.wait_seconds is None
    (pair.folder / "b.md").unlink()
    pair.execute(command="delete", path="c.md")
    with open_mirror(pair.options(pause=1_000)) as mirror:
        assert [each.sentence for each in mirror.sync()] == ["To the folder: c.md deleted (Claude)"]
        assert mirror.wait_seconds
        assert not mirror.is_equal
        pair.write(b_md="b\n")
        with memtui.open(pair.folder):
            assert list(mirror.sync()) == []
        assert (mirror.wait_seconds, mirror.is_equal) == (None, True)
    (pair.folder / "b.md").unlink()
    assert pair.tell() == ["To the source: b.md deleted (another program)"]


@pytest.mark.parametrize("emptied", [False, True])
def test_a_wipe_stops_and_is_carried_only_when_accepted(pair: Pair, emptied: bool) -> None:
    for name in ("a.md", "b.md", "d/e.md"):
        if emptied:
            (pair.folder / name).write_text("")
        else:
            (pair.folder / name).unlink()
    pair.create("new.md", "n\n")
    with pytest.raises(WipeFound, match=r"3 of [56] notes are no longer in the folder"):
        pair.run()
    assert (pair.folder / "new.md").exists(), "other changes were carried"
    with memtui.open(pair.place) as memory:
        assert set(read_texts(memory)) == {*NOTES, "d", "new.md"}
    with pytest.raises(WipeFound):
        pair.run()
    assert len(pair.tell(accepts_wipes=True)) == 3
    pair.read()


def test_a_wipe_in_small_steps_is_one_as_well(pair: Pair) -> None:
    with open_mirror(pair.options()) as mirror:
        list(mirror.sync())
        for name in ("a.md", "b.md", "c.md"):
            (pair.folder / name).unlink()
            with memtui.open(pair.folder):
                pass
            list(mirror.sync())
            if name != "c.md":
                list(mirror.sync())
        with pytest.raises(WipeFound):
            list(mirror.sync())


def test_another_file_in_the_sources_place_deletes_nothing(pair: Pair, tmp_path: Path) -> None:
    for each in tmp_path.glob("store.db*"):
        each.unlink()
    with pytest.raises(FolderMissing, match="which was mirrored before"):
        pair.run()
    with memtui.open(pair.place):
        pass
    pair.create("b.md", "b\n")
    with pytest.raises(WipeFound, match="its record is another one than before"):
        pair.run()
    assert set(NOTES) <= {str(each.relative_to(pair.folder)) for each in pair.folder.rglob("*")}


def test_a_folder_that_is_not_there_any_more_is_missing(pair: Pair) -> None:
    shutil.rmtree(pair.folder)
    with pytest.raises(FolderMissing):
        pair.run()
    pair.folder.mkdir()
    with pytest.raises(WipeFound):
        pair.run()


def test_each_line_keeps_its_author(pair: Pair) -> None:
    pair.execute(command="str_replace", path="a.md", old_str="one", new_str="ONE")
    pair.execute(memtui.Agent("Planner"), command="str_replace", path="a.md", old_str="two", new_str="TWO")
    with memtui.open(pair.place) as memory:
        memory.write("b.md", b"mine\n", based_on=memory.journal.get_known("b.md").version)  # type: ignore[union-attr]
    pair.run()
    with memtui.open(pair.folder) as memory:
        data = (pair.folder / "a.md").read_bytes()
        names = [event.actor.name for event in memory.history.blame("a.md", data).lines if event]
        assert names[:2] == ["Claude", "Planner"]
        assert memory.history.blame("b.md", b"mine\n").lines[0].actor == memtui.Person()  # type: ignore[union-attr]


def test_what_was_one_event_is_one_event_again(pair: Pair) -> None:
    with memtui.open(pair.place) as memory:
        assert memory.files.delete(["d"]).problem == ""
    pair.run()
    assert pair.log(pair.folder)[-1].startswith("you delete from ")
    assert "d" not in pair.read()


def test_what_is_redacted_is_replaced_on_the_other_side(pair: Pair) -> None:
    with memtui.open(pair.place) as memory:
        assert memory.redact(match="three").problem == ""
    pair.write(a_md=NOTES["a.md"].replace("five", "FIVE"))
    pair.run()
    texts = pair.read()
    assert "three" not in str(texts["a.md"])
    with memtui.open(pair.place) as memory:
        versions = memory.journal.get_version_sizes()
        assert not [each for each in versions if b"three" in (memory.journal.get_text(each) or b"")]


def test_empty_directories_come_and_go(pair: Pair) -> None:
    (pair.folder / "empty" / "inner").mkdir(parents=True)
    pair.run()
    assert pair.read()["empty/inner"] is None
    pair.execute(command="delete", path="empty")
    pair.run()
    assert "empty" not in pair.read()


def test_what_cannot_be_carried_is_said_and_left(pair: Pair) -> None:
    os.symlink("a.md", pair.folder / "link.md")
    (pair.folder / ".git").mkdir()
    (pair.folder / ".git" / "config").write_text("[core]\n")
    settings = memtui.Settings(max_read_bytes=100)
    (pair.folder / "large.md").write_text("x" * 200)
    (pair.folder / "big.md").write_text("x" * 50)
    said = pair.tell(settings=settings)
    assert sorted(said) == [
        "Left out of the source: large.md: it is too large to be kept, 200 B",
        "Left out of the source: link.md: a link says something in its own place only",
        "To the source: big.md created (another program)",
    ]
    assert pair.last is not None
    assert set(pair.last.left) == {"large.md", "link.md"}
    with memtui.open(pair.place) as memory:
        assert set(read_texts(memory)) == {*NOTES, "d", "big.md"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_is_no_utf8_is_left(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    pair = Pair(tmp_path / "folder", str(tmp_path / "source"))
    pair.folder.mkdir()
    for place in (b"folder", b"source"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + place + b"/\xff.md")).write_text("x\n")
    pair.write(a_md="a\n")
    assert "Left out of the folder: \\xff.md: its name is not UTF-8" in pair.tell()
    assert (tmp_path / "source" / "a.md").exists()


def test_a_file_and_a_directory_of_one_name_are_left(pair: Pair) -> None:
    pair.create("x", "a file\n")
    (pair.folder / "x").mkdir()
    (pair.folder / "x" / "y.md").write_text("y\n")
    assert any("x: a file on one side and a directory on the other" in each for each in pair.tell())
    assert (pair.folder / "x" / "y.md").exists()


def test_what_a_person_protects_no_agent_changes_through_a_mirror(pair: Pair) -> None:
    with memtui.open(pair.place) as memory:
        memory.files.protect(["a.md"])
    pair.write(a_md="changed\n", b_md="B\n")
    said = pair.tell()
    assert "Left out of the source: a.md: a.md is protected by the person" in said
    assert "To the source: b.md changed (another program)" in said


def test_what_one_side_did_not_take_is_tried_again(pair: Pair) -> None:
    with memtui.open(pair.place) as memory:
        memory.files.protect(["a.md"])
    pair.write(a_md="changed\n")
    with open_mirror(pair.options()) as mirror:
        assert [each.kind for each in mirror.sync()] == ["left"]
        assert list(mirror.sync()) == []
        mirror._clock = lambda: time.monotonic() + 60
        assert mirror.retry_seconds == 0
        assert list(mirror.sync()) == [], "it is said once"
        with memtui.open(pair.place) as memory:
            memory.files.unprotect(["a.md"])
        mirror._clock = lambda: time.monotonic() + 120
        assert [each.sentence for each in mirror.sync()] == ["To the source: a.md changed (another program)"]
        assert (mirror.retry_seconds, dict(mirror.left)) == (None, {})


def test_two_that_were_never_mirrored_lose_nothing(tmp_path: Path) -> None:
    pair = Pair(tmp_path / "folder", f"sqlite:{tmp_path / 'store.db'}")
    pair.create("same.md", "same\n")
    pair.create("both.md", "a\nsource\n")
    pair.create("theirs.md", "t\n")
    pair.folder.mkdir()
    pair.write(same_md="same\n", both_md="a\nfolder\n", mine_md="m\n")
    pair.run()
    texts = pair.read()
    assert texts["both.md"] == "a\nsource\n"
    assert "a\nfolder\n" in texts.values()
    assert {"same.md", "theirs.md", "mine.md"} < set(texts)


def test_a_copy_is_no_stranger(pair: Pair, tmp_path: Path) -> None:
    copying.copy(pair.place, tmp_path / "copied")
    copied = Pair(tmp_path / "copied", pair.place)
    pair.execute(command="str_replace", path="a.md", old_str="one", new_str="ONE")
    copied.write(a_md=NOTES["a.md"].replace("five", "FIVE"), b_md="B\n")
    copied.run()
    assert copied.read()["a.md"] == "ONE\ntwo\nthree\nfour\nFIVE\n"
    assert copied.read()["b.md"] == "B\n"


def test_a_new_folder_is_made(pair: Pair, tmp_path: Path) -> None:
    other = Pair(tmp_path / "new", pair.place)
    other.run()
    assert other.read() == pair.read()
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_two_folders_of_one_source_do_not_take_each_others_marks(pair: Pair, tmp_path: Path) -> None:
    other = Pair(tmp_path / "other", pair.place)
    other.run()
    for number in range(4):
        pair.write(a_md=f"{number}\n")
        pair.run()
        other.run()
        other.write(b_md=f"{number}\n")
        other.run()
        pair.run()
    assert pair.read() == other.read()
    assert pair.read()["a.md"] == pair.read()["b.md"] == "3\n"


def test_one_mirror_at_a_time(pair: Pair) -> None:
    with open_mirror(pair.options()), pytest.raises(MirrorBusy), open_mirror(pair.options()):
        pass


def test_a_place_inside_the_other_is_refused(pair: Pair) -> None:
    inner = pair.folder / "d"
    for source, folder in ((str(inner), pair.folder), (str(pair.folder), inner), (str(pair.folder), pair.folder)):
        with pytest.raises(StateUnusable, match="inside the other"):
            Pair(folder, source).run()


def test_a_role_that_signs_as_one_agent_says_for_whom(server: OwnServer, tmp_path: Path) -> None:
    admin = Admin(parse_address(server.address("main")))
    name = f"bot{os.urandom(3).hex()}"
    admin.run(admin.plan_grant(Grant(name, "main", None, ("read", "write"), "Bot")))
    admin.close()
    pair = Pair(tmp_path / "folder", server.address(f"r{name}", role=name))
    pair.folder.mkdir()
    with memtui.open(pair.folder) as memory:
        create = {"command": "create", "path": "/memories/a.md", "file_text": "a\n"}
        assert not memory.execute(create, actor=CLAUDE).is_error
    pair.run()
    assert pair.log(pair.place) == ["Bot create for Claude"]
    pair.write(a_md="b\n")
    pair.run()
    assert pair.log(pair.place)[-1] == "Bot write for another program"
