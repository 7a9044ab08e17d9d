"""Python's collector during a long pass, and right after it."""

import gc
from collections.abc import Iterator

import pytest

from memtui.core.garbage import reduce_gc


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Nothing is left out, before and behind a test."""
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_it_is_off_meanwhile_and_as_it_was_afterwards() -> None:
    with reduce_gc():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), reduce_gc():
        _ = 1 / 0
    assert gc.isenabled()


def test_what_was_made_is_left_out_only_where_the_process_leaves_out_what_stays() -> None:
    with reduce_gc():
        kept = [[number] for number in range(1_000)]
    assert gc.get_freeze_count() == 0
    gc.freeze()
    before = gc.get_freeze_count()
    with reduce_gc():
        kept += [[number] for number in range(1_000)]
    assert gc.get_freeze_count() >= before + 1_000
    assert len(kept) == 2_000
