"""Marks are seen through collapsed directories, and leave no trace when cleared."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.ui.files.marks import Mark, Marks

PATHS = st.lists(st.sampled_from("ab"), min_size=1, max_size=3).map("/".join)
STEPS = st.one_of(
    st.tuples(st.just("set"), PATHS, st.sampled_from(Mark)),
    st.tuples(st.just("clear"), PATHS),
    st.tuples(st.just("forget"), PATHS),
    st.tuples(st.just("move"), PATHS, PATHS),
)


@given(st.lists(STEPS, max_size=12))
def test_a_directory_shows_what_is_marked_below_it(steps: list[tuple[object, ...]]) -> None:
    marks = Marks()
    told: dict[str, Mark] = {}
    for name, *arguments in steps:
        match name, arguments:
            case "set", [str(path), Mark() as mark]:
                told[path] = mark
            case "clear", [str(path)]:
                told.pop(path, None)
            case "forget", [str(path)]:
                told = {p: m for p, m in told.items() if p != path and not p.startswith(path + "/")}
            case "move", [str(old), str(new)]:
                moving = {p: m for p, m in told.items() if p == old or p.startswith(old + "/")}
                if new.startswith(old + "/"):
                    continue
                told = {p: m for p, m in told.items() if p not in moving}
                told |= {new + p[len(old) :]: m for p, m in moving.items()}
        getattr(marks, str(name))(*arguments)
    assert len(marks) == len(told)
    for path in ("a", "b", "a/a", "a/b", "b/a", "b/b"):
        below = {mark for marked, mark in told.items() if marked.startswith(path + "/")}
        expected = Mark.PROBLEM if Mark.PROBLEM in below else Mark.CHANGED if below else None
        assert marks.below(path) is expected
        assert marks.get(path) is told.get(path)
