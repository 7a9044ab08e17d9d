"""The graph of a folder through its events: now, kept up, at any event, and from what was kept."""

import json
from pathlib import Path

import pytest

import memtui
from memtui.fs.state import KNOWN_NOTES
from memtui.knowledge import cache, source
from memtui.knowledge.cache import keep_known_notes, read_known_notes
from memtui.knowledge.parse import parse_note
from memtui.knowledge.past import blame_edges, compare_graphs
from memtui.knowledge.source import GraphStopped
from tests.conftest import fill
from tests.knowledge.graphs import list_edges

CLAUDE = memtui.Agent("Claude")
NOTES = {f"n{number:02}.md": f"# Note {number}\n\n- next [[n{(number + 1) % 20:02}]]\n" for number in range(20)}


def _do(memory: memtui.Engine, **command: str) -> int:
    answer = memory.execute(command, actor=CLAUDE)
    assert not answer.is_error, answer.text
    return answer.event.seq


def test_the_graph_follows_what_happens(tmp_path: Path) -> None:
    folder = fill(
        tmp_path / "m", {"a.md": "[[b]]", "d/c.md": "", ".hidden/x.md": "", "p.png": b"\x89PNG\0", "l.log": ""}
    )
    with memtui.open(folder) as memory:
        graph = memory.graph()
        assert sorted(graph) == ["a.md", "d/c.md", "l.log", "p.png"]
        assert graph.get_note("p.png") is None
        _do(memory, command="create", path="/memories/b.md", file_text="[c](d/c.md)")
        assert memory.graph() is graph
        assert list_edges(graph) == [("a.md", "b", ("b.md",)), ("b.md", "d/c.md", ("d/c.md",))]
        _do(memory, command="rename", old_path="/memories/d", new_path="/memories/e")
        (folder / "a.md").write_text("nothing")
        memory.reconcile()
        assert list_edges(memory.graph()) == [("b.md", "d/c.md", ())]
        _do(memory, command="delete", path="/memories/b.md")
        assert sorted(memory.graph()) == ["a.md", "e/c.md", "l.log", "p.png"]


def test_the_graph_of_each_event_is_the_one_that_was(tmp_path: Path) -> None:
    folder = fill(tmp_path / "m", NOTES)
    with memtui.open(folder) as memory:
        then = {memory.get_head()[0]: list_edges(memory.graph())}
        for step in (
            {"command": "rename", "old_path": "/memories/n03.md", "new_path": "/memories/d/other.md"},
            {"command": "delete", "path": "/memories/n05.md"},
            {"command": "create", "path": "/memories/x.md", "file_text": "[[n07]] [[Note 3]]"},
            {"command": "str_replace", "path": "/memories/x.md", "old_str": "n07", "new_str": "n08"},
        ):
            seq = _do(memory, **step)
            then[seq] = list_edges(memory.graph())
        for seq, edges in then.items():
            assert list_edges(memory.graph(seq)) == edges
        assert list_edges(memory.graph(0)) == list_edges(memory.graph(min(then)))
        assert list_edges(memory.graph()) == then[max(then)]


def test_what_two_graphs_differ_in(tmp_path: Path) -> None:
    folder = fill(tmp_path / "m", {"a.md": "[[b]] [[x]]", "b.md": "", "c.md": "[[b]]"})
    with memtui.open(folder) as memory:
        first = memory.get_head()[0]
        _do(memory, command="create", path="/memories/a.md", file_text="[[x]] [[y]]")
        _do(memory, command="rename", old_path="/memories/b.md", new_path="/memories/y.md")
        changes = compare_graphs(memory.graph(first), memory.graph()).edges
        edges = [(each.sign, each.after or each.before) for each in changes]
        found = {(sign, edge.source, edge.wanted) for sign, edge in edges if edge is not None}
        assert found == {("-", "a.md", "b"), ("+", "a.md", "y"), ("~", "c.md", "b")}


def test_edges_are_blamed_through_renames(tmp_path: Path) -> None:
    folder = fill(tmp_path / "m", {"a.md": "[[one]]"})
    with memtui.open(folder) as memory:
        added = _do(memory, command="create", path="/memories/a.md", file_text="[[one]]\n- uses [[two]]\n")
        _do(memory, command="rename", old_path="/memories/a.md", new_path="/memories/b.md")
        gone = _do(memory, command="create", path="/memories/b.md", file_text="- uses [[two]]\n")
        back = _do(memory, command="create", path="/memories/b.md", file_text="[[one]] - uses [[two]]\n")
        lives = {
            (life.key[2], life.key[0], life.added and life.added.seq, life.removed and life.removed.seq)
            for life in blame_edges(memory.knowledge, memory.history, "b.md")
        }
        assert lives == {
            ("one", "wiki", 1, gone),
            ("two", "relation", added, back),
            ("one", "wiki", back, None),
            ("two", "wiki", back, None),
        }


def test_what_was_read_is_kept_and_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fill(tmp_path / "m", NOTES)
    state = tmp_path / "state"
    with memtui.open(folder, state=state) as memory:
        edges = list_edges(memory.graph())
    kept = state / KNOWN_NOTES
    assert kept.stat().st_mode & 0o077 == 0
    (folder / "n00.md").write_text("[[n02]]")
    read: list[str] = []

    def note_read(data: bytes, path: str) -> object:
        read.append(path)
        return parse_note(data.decode(), path)

    monkeypatch.setattr(source, "read_note", note_read)
    with memtui.open(folder, state=state) as memory:
        assert list_edges(memory.graph()) == [("n00.md", "n02", ("n02.md",)), *edges[1:]]
    assert read == ["n00.md"]


def test_a_note_comes_back_as_it_was_read(tmp_path: Path) -> None:
    text = (
        "---\ntitle: T\naliases: [A]\ntype: x\npermalink: p\nstatus: s\ntags: [t]\n---\n# H\n\n- r [[a#b|c]] (d)\n"
        "- [o] @due:2026-06 text #tag (e)\n[m](<x y.md>) [q][r] @z.md [[\ud800]]\n\n[r]: s.md\n"
    )
    note = parse_note(text, "d/a.md")
    keep_known_notes(tmp_path / "kept", {("d/a.md", "1"): note, ("b.md", "2"): None})
    assert read_known_notes(tmp_path / "kept") == {("d/a.md", "1"): note, ("b.md", "2"): None}


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "no json", "another version", "directory"])
def test_what_is_damaged_is_as_if_it_were_not_there(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kept"
    keep_known_notes(path, {("a.md", "1"): parse_note("# A", "a.md")})
    assert read_known_notes(path)
    data = path.read_bytes()
    match damage:
        case "cut":
            path.write_bytes(data[:-5])
        case "changed":
            path.write_bytes(data.replace(b'"A"', b'"B"'))
        case "empty":
            path.write_bytes(b"")
        case "no json":
            path.write_bytes(b"\n")
        case "another version":
            monkeypatch.setattr(cache, "hash_packages", lambda _: "other")
        case _:
            path.unlink()
            path.mkdir()
    assert read_known_notes(path) == {}


def test_what_is_redacted_is_not_kept(tmp_path: Path) -> None:
    folder = fill(tmp_path / "m", {**NOTES, "s.md": "- [key] hunter2 #secret\n"})
    state = tmp_path / "state"
    with memtui.open(folder, state=state) as memory:
        memory.graph()
        assert b"hunter2" in (state / KNOWN_NOTES).read_bytes()
        assert memory.redact(match="hunter2", reason="").texts
        assert not (state / KNOWN_NOTES).exists()
        note = memory.graph().get_note("s.md")
        assert note is not None
        assert "hunter2" not in str(note)
        assert "hunter2" not in json.dumps([str(each) for each in memory.graph(1).notes])


def test_nothing_is_kept_where_nothing_may_be_written(tmp_path: Path) -> None:
    folder = fill(tmp_path / "m", NOTES)
    with memtui.open(folder, state=tmp_path / "state"):
        pass
    with memtui.open(folder, state=tmp_path / "state", read_only=True) as memory:
        assert len(memory.graph()) == 20
    assert not (tmp_path / "state" / KNOWN_NOTES).exists()
    with memtui.open_in_memory() as memory:
        _do(memory, command="create", path="/memories/a.md", file_text="[[a]]")
        assert list_edges(memory.graph()) == [("a.md", "a", ("a.md",))]


def test_reading_can_be_given_up_and_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_AT_ONCE", 3)
    asked: list[int] = []
    with memtui.open(fill(tmp_path / "m", NOTES)) as memory:

        def stop() -> bool:
            asked.append(1)
            return len(asked) > 2

        with pytest.raises(GraphStopped):
            memory.knowledge.get_current(stop=stop)
        assert len(memory.knowledge.get_current()) == 20
