"""Moves after which every link leads to where it led, as one event that one undo takes back."""

import functools
import random
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import memtui
from memtui.engine import Engine
from memtui.flows import link_rewriting
from memtui.flows.link_rewriting import plan_deleted_links, plan_moved_links
from memtui.knowledge.graph import Graph
from memtui.knowledge.parse import parse_note
from tests.sampling import EVERY, many

_WORDS = ("alpha", "beta", "gamma", "delta", "Grüner Tee", "release plan", "ana_notes", "feedback-tabs", "todo (old)")
_FOLDERS = ("", "projects", "projects/billing", "people", "notes/2026")
_parse = functools.cache(parse_note)
_MARK = re.compile(r"^mark: (\d+)$", re.MULTILINE)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "memories").mkdir()
    with memtui.open(tmp_path / "memories", state=tmp_path / "state") as memory:
        yield memory


def read_all(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write_all(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())


def make_notes(chance: random.Random, count: int) -> dict[str, str]:
    """Notes that link each other in each form, some of them ambiguously or to nothing."""
    paths: list[str] = []
    for number in range(count):
        folder = chance.choice(_FOLDERS)
        paths.append(f"{folder}/{chance.choice(_WORDS)} {number}.md".lstrip("/") if number % 3 else f"n{number}.md")
    texts: dict[str, str] = {}
    for number, path in enumerate(paths):
        lines = [f"# Title {number}" if number % 2 else "", f"mark: {number}", ""]
        lines += [make_link(chance, path, chance.choice(paths)) for _ in range(chance.randrange(5))]
        end = "\r\n" if number % 11 == 0 else "\n"
        front = f"---\ntitle: Note {number}\npermalink: perma/{number}\n---\n" if number % 7 == 0 else ""
        texts[path] = front + end.join(lines) + end
    return texts


def make_link(chance: random.Random, source: str, target: str) -> str:
    up = "../" * source.count("/")
    stem = target.removesuffix(".md")
    name = stem.rpartition("/")[2]
    return chance.choice(
        [
            f"see [[{name}]] and `[[{name}]]`",
            f"- part_of [[{stem}]] (since May)",
            f"[[{name}#Title|its label]]!",
            f"![[{target}]]",
            f"[label]({up}{target.replace(' ', '%20').replace('(', '%28').replace(')', '%29')}#title)",
            f"[label](<{up}{target}> 'title')",
            f"- [x [y] z](</memories/{target}>): described",
            f"@{up}{target.replace(' ', chr(92) + ' ')} is imported" if "(" not in target else "nothing",
            f"    - indented [[{name}]]",
            "[nowhere](no/such.md) and [[nobody]]",
        ]
    )


def read_meaning(files: dict[str, bytes]) -> dict[str, list[str | None]]:
    """By the mark of each note, the marks of the notes to which its links lead, one for each link."""
    texts = {path: data.decode() for path, data in files.items()}
    marks = {path: found[1] for path, text in texts.items() if (found := _MARK.search(text.replace("\r", "")))}
    graph = Graph({path: _parse(text, path) for path, text in texts.items()})
    return {
        marks[path]: [marks[edge.targets[0]] if len(edge.targets) == 1 else None for edge in graph.get_edges(path)]
        for path in texts
    }


def choose_moves(chance: random.Random, paths: list[str]) -> dict[str, str]:
    one, other = chance.sample(paths, 2)
    number = chance.randrange(10_000)
    folders = sorted({path.rpartition("/")[0] for path in paths} - {""})
    match chance.randrange(5):
        case 0:
            return {one: f"{chance.choice(_FOLDERS)}/renamed {number}.md".lstrip("/")}
        case 1:
            return {one: f"{one.rpartition('/')[0]}/{chance.choice(_WORDS)} {number}.md".lstrip("/")}
        case 2 if folders:
            folder = chance.choice(folders)
            return {folder: f"dir {number}"}
        case 3:
            return {one: other, other: one}
    return {each: f"archive {number}/{each.rpartition('/')[2]}" for each in chance.sample(paths, 5)}


@pytest.mark.sweep
@pytest.mark.timeout(3_600 if EVERY else 300)
def test_random_moves_break_no_link_and_one_undo_restores_the_bytes(memory: Engine, tmp_path: Path) -> None:
    folder, chance = tmp_path / "memories", random.Random(1)
    notes, moves_made = (2_000, 500) if EVERY else (many(300, 120), many(80, 25))
    write_all(folder, make_notes(chance, notes))
    memory.reconcile()
    before = read_all(folder)
    meaning = read_meaning(before)
    rewritten = 0
    for _ in range(moves_made):
        moves = choose_moves(chance, sorted(before))
        head = memory.get_head()[0]
        result, plan = link_rewriting.move(memory, moves, plan_moved_links(memory, moves))
        if result.event is None:
            assert result.problem
            assert read_all(folder) == before
            continue
        assert memory.get_head()[0] == head + 1 == result.event.seq, "one event"
        after = read_all(folder)
        now = read_meaning(after)
        assert all(each.link.form == "import" and "(" in (each.target or "") for each in plan.left), "no such import"
        left = {_MARK.search(after[each.source].decode().replace("\r", ""))[1] for each in plan.left}  # type: ignore[index]
        for mark, targets in meaning.items():
            for was, then in zip(targets, now[mark], strict=True):
                assert was in (None, then) or mark in left, (moves, mark)
        rewritten += len(plan.rewritten)
        undone = memory.undo([result.event.seq])
        assert undone.event is not None, undone.problem
        assert read_all(folder) == before
        if chance.randrange(2):
            assert memory.undo([undone.event.seq]).event is not None
            assert read_all(folder) == after
            before, meaning = after, now
    assert rewritten > 20


def test_what_an_agent_writes_meanwhile_is_kept(memory: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    write_all(folder, {"tea.md": "x\n", "a.md": "[[tea]]\n", "b.md": "[[tea]]\n"})
    memory.reconcile()
    planned = plan_moved_links(memory, {"tea.md": "chai.md"})
    (folder / "a.md").write_text("an agent: [[tea]] and [[b]]\n")
    result, plan = link_rewriting.move(memory, {"tea.md": "chai.md"}, planned)
    assert result.event is not None
    assert (folder / "a.md").read_text() == "an agent: [[chai]] and [[b]]\n"
    assert len(plan.rewritten) == 2


def test_writers_lose_nothing_to_moves(memory: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    write_all(folder, {"tea.md": "x\n", "log.md": "# Log\n\n[[tea]]\n"})
    memory.reconcile()
    moved = threading.Event()
    lines = 0

    def write() -> None:
        nonlocal lines
        while not moved.is_set() or lines < 5:
            insert = {"command": "insert", "path": "/memories/log.md", "insert_line": 3, "insert_text": f"{lines}\n"}
            assert not memory.execute(insert, actor=memtui.Agent("writer")).is_error
            lines += 1

    writer = threading.Thread(target=write)
    writer.start()
    name = "tea.md"
    try:
        for number in range(5):
            new = f"tea {number}.md"
            result, _ = link_rewriting.move(memory, {name: new}, plan_moved_links(memory, {name: new}))
            if result.event is not None:
                name = new
    finally:
        moved.set()
        writer.join()
    text = (folder / "log.md").read_text().split("\n")
    assert sorted(map(int, filter(str.isdecimal, text))) == list(range(lines))
    assert name != "tea.md"
    assert f"[[{name.removesuffix('.md')}]]" in text


def test_the_history_of_a_note_goes_on_where_its_own_links_were_rewritten(memory: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    write_all(folder, {"tea.md": "one\n\n[b](b.md)\n", "b.md": "x\n"})
    memory.reconcile()
    result, _ = link_rewriting.move(memory, {"tea.md": "a/tea.md"}, plan_moved_links(memory, {"tea.md": "a/tea.md"}))
    assert result.event is not None
    assert (folder / "a/tea.md").read_text() == "one\n\n[b](../b.md)\n"
    rows = memory.history.versions_of("a/tea.md")
    assert [(row.path, row.moved_from) for row in rows] == [("a/tea.md", "tea.md"), ("tea.md", None)]
    blame = memory.history.blame("a/tea.md", (folder / "a/tea.md").read_bytes())
    assert [event and event.seq for event in blame.lines] == [result.event.seq - 1] * 2 + [result.event.seq]


def test_links_to_deleted_notes_become_words_as_one_event(memory: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    write_all(folder, {"tea.md": "x\n", "MEMORY.md": "- [Tea](tea.md): t\n- [B](b.md)\n", "b.md": "[[tea|cup]]\n"})
    memory.reconcile()
    before = read_all(folder)
    result, plan = link_rewriting.delete(memory, ["tea.md"], plan_deleted_links(memory, ["tea.md"]))
    assert result.event is not None
    assert read_all(folder) == {"MEMORY.md": b"- [B](b.md)\n", "b.md": b"cup\n"}
    assert link_rewriting.format_done(plan, is_rewritten=True) == "Rewrote 2 links in 2 notes."
    assert memory.undo([result.event.seq]).event is not None
    assert read_all(folder) == before


def test_protected_notes_are_left_and_named(memory: Engine, tmp_path: Path) -> None:
    write_all(tmp_path / "memories", {"tea.md": "x\n", "kept/a.md": "[[tea]]\n", "b.md": "[[tea]]\n"})
    memory.reconcile()
    memory.files.protect(["kept"])
    _, plan = link_rewriting.move(memory, {"tea.md": "chai.md"}, plan_moved_links(memory, {"tea.md": "chai.md"}))
    words = link_rewriting.format_done(plan, is_rewritten=True)
    assert words == "Rewrote 1 link in 1 note. 1 link is broken now (protected): kept/a.md:1 (tea)."
    assert (tmp_path / "memories/kept/a.md").read_text() == "[[tea]]\n"
