"""Properties that hold for every text and every sequence of commands."""

import difflib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memtui
from memtui.core import diffs, edits
from memtui.core.errors import Refusal
from memtui.core.events import EntryKind
from memtui.engine import Engine
from memtui.journal.sqlite import Journal
from memtui.store.folder import FolderStore
from tests.bench.limits import at_most
from tests.sampling import many

ME = memtui.Agent("a")
LINE = st.sampled_from(["a", "b", "aa", "ab", "", "c\r", "é", "\ufeff", "\u2028", "x\x0cy", "\t"])
TEXT = st.builds(
    lambda bom, lines, end: bom + "\n".join(lines) + end,
    st.sampled_from(["", "\ufeff"]),
    st.lists(LINE, max_size=8),
    st.sampled_from(["", "\n", "\r\n", "\n\n"]),
) | st.text(max_size=30).filter(lambda text: text.isprintable() or "\n" in text).map(
    lambda text: text.encode("utf-8", "replace").decode()
)
OLD = st.text(st.sampled_from("ab\n\r"), min_size=1, max_size=3)


def naive_lines(text: str) -> list[str]:
    lines = text.split("\n")
    whole = [line + "\n" for line in lines[:-1]]
    return [*whole, lines[-1]] if lines[-1] else whole


@given(TEXT, OLD, TEXT)
def test_a_replacement_leaves_every_character_outside_the_match(text: str, old: str, new: str) -> None:
    found = sum(text.startswith(old, at) for at in range(len(text)))
    if found != 1:
        with pytest.raises(Refusal):
            edits.replace_once(text, old, new, "/memories/f")
        return
    at = text.index(old)
    edit = edits.replace_once(text, old, new, "/memories/f")
    assert edit.text == text[:at] + new + text[at + len(old) :]


@given(TEXT, OLD, TEXT)
def test_a_snippet_is_a_part_of_the_view_around_the_change(text: str, old: str, new: str) -> None:
    if sum(text.startswith(old, at) for at in range(len(text))) != 1:
        return
    edit = edits.replace_once(text, old, new, "/memories/f")
    lines = edit.text.split("\n")
    first = text[: text.index(old)].count("\n")
    shown = range(max(first - 2, 0), min(first + 3, len(lines)))
    assert edits.format_snippet(edit.text, edit.position) == "\n".join(
        f"{number + 1:6d}\t{lines[number]}" for number in shown
    )


@given(TEXT, st.integers(-2, 12), TEXT)
def test_an_insertion_keeps_every_line_and_ends_in_a_newline(text: str, line: int, inserted: str) -> None:
    before = naive_lines(text)
    assert edits.count_lines(text) == len(before)
    if not 0 <= line <= len(before):
        with pytest.raises(Refusal):
            edits.insert_at_line(text, line, inserted)
        return
    after = edits.insert_at_line(text, line, inserted)
    if before and not before[-1].endswith("\n"):
        before[-1] += "\n"
    middle = inserted.removesuffix("\n") + "\n"
    assert after == "".join(before[:line]) + middle + "".join(before[line:])


@given(TEXT, st.integers(1, 9))
def test_the_view_of_a_whole_is_its_ranges_put_together(text: str, size: int) -> None:
    whole = edits.format_view(text, "/memories/f").split("\n", 1)[1]
    n_lines = edits.count_lines(text)
    parts = []
    for start in range(1, n_lines + 1, size):
        end = start + size - 1 if start + size <= n_lines else -1
        parts.append(edits.format_view(text, "/memories/f", [start, end]).split("\n", 1)[1])
    assert "\n".join(parts) == (whole if n_lines else "")
    assert whole == "\n".join(f"{number:6d}\t{line}" for number, line in enumerate(text.split("\n"), 1))


@given(TEXT, TEXT)
def test_a_diff_turns_one_text_into_the_other_and_counts_as_it_shows(before: str, after: str) -> None:
    old, new = diffs.split_lines(before), diffs.split_lines(after)
    assert (old, new) == (naive_lines(before), naive_lines(after))
    blocks = diffs.find_hunks(old, new)
    rebuilt: list[str] = []
    at = 0
    for block in blocks:
        assert old[at : block.old_start] == new[len(rebuilt) : block.new_start]
        rebuilt += old[at : block.old_start] + new[block.new_start : block.new_end]
        at = block.old_end
    assert rebuilt + old[at:] == new
    counts = diffs.count_changes(before, after)
    assert counts.added - counts.removed == len(new) - len(old)
    assert (counts == (0, 0)) == (before == after)
    shown = diffs.format_unified(before, after)
    plus = sum(line.startswith("+") for line in shown)
    minus = sum(line.startswith("-") for line in shown)
    assert plus - minus == len(new) - len(old)
    assert bool(shown) == (before != after)


@given(TEXT, TEXT)
def test_a_diff_agrees_with_difflib(before: str, after: str) -> None:
    old, new = naive_lines(before), naive_lines(after)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    codes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    naive_added = sum(j2 - j1 for _, _, _, j1, j2 in codes)
    counts = diffs.count_changes(before, after)
    assert counts.added <= max(naive_added, len(new))
    assert diffs.count_changes(after, before).added - diffs.count_changes(after, before).removed == len(old) - len(new)
    changed = diffs.compare_texts(before, after).changed_lines
    kept = [line for number, line in enumerate(new, 1) if number not in changed]
    remaining = iter(old)
    assert all(line in remaining for line in kept)  # what is not marked stood there, in this order
    if not codes:
        assert changed == set()


@given(TEXT, TEXT, st.integers(0, 3))
def test_a_unified_diff_applies(before: str, after: str, context: int) -> None:
    shown = diffs.format_unified(before, after, context=context)
    old = before.split("\n") if before else []
    new = after.split("\n") if after else []
    for line in shown:
        if line.startswith("@@"):
            old_part, new_part = line.split(" ")[1:3]
            old_at, old_size = (int(part) for part in old_part[1:].split(","))
            new_at, new_size = (int(part) for part in new_part[1:].split(","))
            old_left = old[old_at - 1 : old_at - 1 + old_size]
            new_left = new[new_at - 1 : new_at - 1 + new_size]
        elif line.startswith(" "):
            assert old_left.pop(0) == new_left.pop(0) == line[1:]
        elif line.startswith("-"):
            assert old_left.pop(0) == line[1:]
        else:
            assert new_left.pop(0) == line[1:]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["a"] * 2_000, ["a" if number % 2 else f"u{number}" for number in range(2_000)]),
        (["a", "b"] * 1_000, ["a", "a", "b"] * 667),
        ([str(number) for number in range(50_000)], [str(number // (number % 2 or 3)) for number in range(50_000)]),
    ],
    ids=["one line again and again", "two lines in another order", "every second of many"],
)
def test_no_pair_of_texts_makes_a_diff_take_minutes(before: list[str], after: list[str]) -> None:
    with at_most(20):  # it was minutes, under the writer lock
        counts = diffs.count_changes("\n".join(before), "\n".join(after))
    assert counts.added - counts.removed == len(after) - len(before)


@given(TEXT, TEXT)
def test_the_coarse_comparison_is_a_diff_too(before: str, after: str) -> None:
    old, new = diffs.split_lines(before), diffs.split_lines(after)
    whole = diffs.Hunk(0, len(old), 0, len(new))
    rebuilt: list[str] = []
    at = 0
    for block in diffs._diff_region(old, new, whole, [0], 8):
        assert old[at : block.old_start] == new[len(rebuilt) : block.new_start]
        rebuilt += old[at : block.old_start] + new[block.new_start : block.new_end]
        at = block.old_end
    assert rebuilt + old[at:] == new


PATH = st.sampled_from(["f", "g", "d", "d/f", "d/e/f", "n/m", "f/x", "", "..", "a\u202eb", ".h"]).map(
    lambda name: f"/memories/{name}"
)
COMMAND = st.one_of(
    st.fixed_dictionaries(
        {"command": st.just("view"), "path": PATH},
        optional={"view_range": st.lists(st.integers(-2, 5), min_size=1, max_size=2)},
    ),
    st.fixed_dictionaries({"command": st.just("create"), "path": PATH, "file_text": TEXT}),
    st.fixed_dictionaries({"command": st.just("str_replace"), "path": PATH, "old_str": OLD, "new_str": TEXT}),
    st.fixed_dictionaries(
        {"command": st.just("insert"), "path": PATH, "insert_line": st.integers(-1, 4), "insert_text": TEXT}
    ),
    st.fixed_dictionaries({"command": st.just("delete"), "path": PATH}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": PATH, "new_path": PATH}),
)
OUTSIDE = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(["f", "g", "d/f"]), st.binary(max_size=8)),
    st.tuples(st.just("remove"), st.sampled_from(["f", "g", "d/f"]), st.just(b"")),
    st.tuples(st.just("move"), st.sampled_from(["f", "g", "d/f"]), st.sampled_from([b"g", b"z", b"d/z"])),
)


@contextmanager
def filled() -> Iterator[tuple[Engine, Path]]:
    """A folder of its own for each example."""
    with tempfile.TemporaryDirectory() as top:
        folder, state = Path(top, "folder"), Path(top, "state")
        (folder / "d").mkdir(parents=True)
        for name, text in (("f", b"a\r\nb\r\n"), ("d/f", b"\xef\xbb\xbfab"), (".h", b"\xff")):
            (folder / name).write_bytes(text)
        store = FolderStore(str(folder), str(state))
        with Engine(store, Journal(None)) as engine:
            engine.reconcile()
            yield engine, folder


def picture(folder: Path) -> dict[str, tuple[object, ...]]:
    found: dict[str, tuple[object, ...]] = {}
    for top, directories, files in os.walk(folder):
        for name in [*directories, *files, "."]:
            path = os.path.join(top, name)
            seen = os.lstat(path)
            times = (seen.st_mtime_ns, seen.st_ino, seen.st_mode)
            atime = seen.st_atime_ns if name in files else 0
            found[os.path.relpath(path, folder)] = (*times, atime)
    for path in [path for path in found if (folder / path).is_file()]:
        fd = os.open(folder / path, os.O_RDONLY | getattr(os, "O_NOATIME", 0))
        found[path] = (*found[path], os.read(fd, 1 << 20))
        os.close(fd)
    return found


def bytes_of(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@given(st.lists(COMMAND, min_size=1, max_size=6))
def test_refusals_and_views_change_nothing_and_changes_change_no_other_file(commands: list[dict[str, Any]]) -> None:
    with filled() as (engine, folder):
        for command in commands:
            before = picture(folder)
            answer = engine.execute(command, actor=ME)
            after = picture(folder)
            if answer.is_error or command["command"] == "view" or answer.event.no_change:
                assert after == before, command
            named = {change.path for change in answer.event.changes}
            differ = {path for path in {*before, *after} if before.get(path) != after.get(path)}
            holders = {os.path.dirname(path) or "." for path in named}
            assert differ <= named | holders | {os.path.join(holder, ".") for holder in holders} | {"."}, command


@settings(max_examples=many(40, 13))
@given(st.lists(COMMAND | OUTSIDE, min_size=1, max_size=10))
def test_the_journal_replayed_gives_the_folders_bytes(steps: list[Any]) -> None:
    with filled() as (engine, folder):
        for step in steps:
            if isinstance(step, dict):
                engine.execute(step, actor=ME)
                continue
            kind, name, value = step
            path = folder / name
            if kind == "write" and path.parent.is_dir() and not path.is_dir():
                path.write_bytes(value)
            elif kind == "remove" and path.is_file():
                path.unlink()
            elif kind == "move" and path.is_file() and (folder / value.decode()).parent.is_dir():
                target = folder / value.decode()
                if not target.is_dir():
                    path.rename(target)
        engine.reconcile()
        replayed: dict[str, bytes | None] = {}
        for event in engine.events():
            for change in event.changes:
                held = replayed.pop(change.path, b"nothing")
                if change.before is None:
                    assert held == b"nothing", event
                else:
                    assert held == (engine.journal.get_text(change.before.sha256) if change.before.sha256 else None), (
                        event
                    )
                if change.after is not None:
                    kept = engine.journal.get_text(change.after.sha256) if change.after.sha256 else None
                    assert (kept is None) == (change.after.kind is not EntryKind.FILE)
                    replayed[change.path] = kept
        assert replayed == bytes_of(folder)
        files = [held for held in replayed.values() if held is not None]
        assert engine.journal.get_totals() == (len(files), sum(map(len, files)))
