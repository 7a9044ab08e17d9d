"""A stream of events is shown in steps, and what comes now and then at once."""

import pytest

from memtui.ui.session import EventPace

CREDIT = EventPace.CREDIT


@pytest.fixture(autouse=True)
def real_credit(events_at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    monkeypatch.setattr(EventPace, "CREDIT", CREDIT)


def play(every: float, costs: float, count: int) -> tuple[list[float], float]:
    """Events that come at a rate, each showing of which takes some processor time: the pauses, and the share used."""
    pace = EventPace()
    pauses, now, used = [], 0.0, 0.0
    while now < every * count:
        pauses.append(pace.compute_pause(now, used))
        now += pauses[-1] + costs
        used += costs
        now = max(now, (now // every + 1) * every)  # the next event wakes it
    return pauses, used / now


def test_what_comes_now_and_then_is_shown_at_once() -> None:
    pauses, _ = play(every=0.5, costs=0.02, count=100)
    assert set(pauses) == {0.0}


def test_the_first_of_many_are_shown_at_once() -> None:
    pauses, _ = play(every=0.04, costs=0.013, count=500)
    assert pauses[:10] == [0.0] * 10


@pytest.mark.parametrize("every", [0.001, 0.04, 0.1])
@pytest.mark.parametrize("costs", [0.005, 0.013])
def test_a_stream_takes_its_share_and_nothing_waits_for_long(every: float, costs: float) -> None:
    pauses, share = play(every, costs, count=int(60 / every))
    assert share <= EventPace.SHARE * 1.4
    assert max(pauses) <= EventPace.LONGEST + 1e-6


def test_a_slow_machine_still_shows_four_times_a_second() -> None:
    pauses, _ = play(every=0.01, costs=0.2, count=5_000)
    assert 0 < max(pauses) <= EventPace.LONGEST + 1e-6
