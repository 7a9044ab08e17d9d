"""The head of the last change: what is cut first where there is little room."""

from datetime import datetime

import pytest

from memtui.core.events import Agent, Event
from memtui.ui.widgets.change import _format_head

AT = int(datetime(2026, 11, 21, 10, 14, 2).timestamp() * 1e6)


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (60, "claude-code created it at 10:14:02"),
        (33, "claude-code created it at 10:14"),
        (20, "10:14"),
        (5, "10:14"),
    ],
)
def test_the_time_is_never_cut_in_its_middle(width: int, shown: str) -> None:
    event = Event(at_us=AT, actor=Agent("claude-code"), command="create", path="/memories/a", call_id="toolu_1")
    assert _format_head(event, width) == shown
