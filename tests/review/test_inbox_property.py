"""The inbox since an event is the difference of the folder's states, whatever happened in between."""

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

import memtui
from memtui.core.events import EntryKind, Version
from memtui.review.inbox import Inbox
from memtui.review.inbox_builder import build_inbox
from memtui.review.marks import Review

NAMES = st.sampled_from(["a.md", "b.md", "c.md", "d/a.md", "d/b.md", "e/f/a.md"])
PLACES = st.sampled_from(["d", "e", "e/f", "g"])
TEXTS = st.sampled_from(["one\n", "two\n", "one\ntwo\n", ""])
STEPS = st.one_of(
    st.tuples(st.just("create"), NAMES, TEXTS),
    st.tuples(st.just("delete"), st.one_of(NAMES, PLACES), st.just("")),
    st.tuples(st.just("rename"), st.one_of(NAMES, PLACES), st.one_of(NAMES, PLACES)),
    st.tuples(st.just("swap"), NAMES, NAMES),
    st.tuples(st.just("undo"), st.just(""), st.just("")),
)


def carry_out(memory: Any, step: tuple[str, str, str]) -> None:
    """Try it; what is refused changes nothing."""
    verb, one, other = step
    actor = memtui.Agent("tester", "a-model", "a-session")
    match verb:
        case "create":
            memory.execute({"command": "create", "path": f"/memories/{one}", "file_text": other}, actor=actor)
        case "delete":
            memory.execute({"command": "delete", "path": f"/memories/{one}"}, actor=actor)
        case "rename":
            paths = {"old_path": f"/memories/{one}", "new_path": f"/memories/{other}"}
            memory.execute({"command": "rename", **paths}, actor=actor)
        case "swap":
            memory.files.move({one: other, other: one})
        case _:
            event = memory.history.get_undoable()
            if event is not None:
                memory.undo([event.seq])


def difference(old: dict[str, Version], new: dict[str, Version]) -> dict[str, tuple[Version | None, Version | None]]:
    return {path: (old.get(path), new.get(path)) for path in {*old, *new} if old.get(path) != new.get(path)}


def as_states(found: Inbox) -> dict[str, tuple[Version | None, Version | None]]:
    """What an inbox says of each path: what stood there before, and what stands there now."""
    before: dict[str, Version | None] = {}
    after: dict[str, Version | None] = {}
    for file in found.files:
        if file.before is not None:
            assert (file.previous_path or file.path) not in before
            before[file.previous_path or file.path] = file.before
        if file.after is not None:
            assert file.path not in after
            after[file.path] = file.after
    paths = {*before, *after}
    changed = {path: (before.get(path), after.get(path)) for path in paths}
    return {path: pair for path, pair in changed.items() if pair[0] != pair[1]}


def files_only(states: dict[str, Version]) -> dict[str, Version]:
    return {path: version for path, version in states.items() if version.kind is not EntryKind.DIRECTORY}


@example(
    steps=[("create", "a.md", "one\n"), ("create", "d/a.md", "one\n"), ("delete", "a.md", ""), ("rename", "d", "a.md")],
    cut=1,
)
@given(steps=st.lists(STEPS, min_size=1, max_size=14), cut=st.integers(0, 14))
def test_the_inbox_since_an_event_is_the_difference_of_the_states(steps: list[tuple[str, str, str]], cut: int) -> None:
    with memtui.open_in_memory() as memory:
        for step in steps:
            carry_out(memory, step)
        head = memory.get_head()[0]
        since = min(cut, head)
        found = build_inbox(memory, Review(), since=since)
        states = [files_only(memory.history.get_state(at)) for at in (since, head)]
        assert as_states(
            Inbox(
                since=since,
                since_us=None,
                since_words="",
                until=head,
                files=tuple(
                    file for file in found.files if (file.after or file.before).kind is not EntryKind.DIRECTORY
                ),
            )
        ) == difference(*states)
        between = {change.path: (change.before, change.after) for change in memory.history.diff_between(since, head)}
        assert between == difference(*(memory.history.get_state(at) for at in (since, head)))
        for file in found.files:
            assert file.events
            assert all(event.seq > since for event in file.events)
