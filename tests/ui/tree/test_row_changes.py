"""Changes are seen through collapsed directories, and leave no trace when cleared."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.ui.widgets.tree.row_state import RowChange, RowChanges

PATHS = st.lists(st.sampled_from("ab"), min_size=1, max_size=3).map("/".join)
STEPS = st.one_of(
    st.tuples(st.just("set"), PATHS, st.sampled_from(RowChange)),
    st.tuples(st.just("clear"), PATHS),
    st.tuples(st.just("forget"), PATHS),
    st.tuples(st.just("move_all"), PATHS, PATHS),
)


@given(st.lists(STEPS, max_size=12))
def test_a_directory_shows_what_changed_below_it(steps: list[tuple[object, ...]]) -> None:
    changes = RowChanges()
    expected_changes: dict[str, RowChange] = {}
    for name, *arguments in steps:
        match name, arguments:
            case "set", [str(path), RowChange() as change]:
                expected_changes[path] = change
            case "clear", [str(path)]:
                expected_changes.pop(path, None)
            case "forget", [str(path)]:
                expected_changes = {
                    p: m for p, m in expected_changes.items() if p != path and not p.startswith(path + "/")
                }
            case "move_all", [str(old), str(new)]:
                moving = {p: m for p, m in expected_changes.items() if p == old or p.startswith(old + "/")}
                if new.startswith(old + "/"):
                    continue
                expected_changes = {p: m for p, m in expected_changes.items() if p not in moving}
                expected_changes |= {new + p[len(old) :]: m for p, m in moving.items()}
                changes.move_all({old: new})
                continue
        getattr(changes, str(name))(*arguments)
    assert len(changes) == len(expected_changes)
    for path in ("a", "b", "a/a", "a/b", "b/a", "b/b"):
        below = {change for changed, change in expected_changes.items() if changed.startswith(path + "/")}
        expected = RowChange.PROBLEM if RowChange.PROBLEM in below else RowChange.CHANGED if below else None
        assert changes.get_below(path) is expected
        assert changes.get(path) is expected_changes.get(path)
