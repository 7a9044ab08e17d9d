"""The screens behind keys are loaded ahead, but not while somebody types, nor once the program ends."""

import time

import pytest

from memtui.ui import preload


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules that were loaded."""
    names: list[str] = []
    monkeypatch.setattr(preload, "import_module", lambda name: names.append(name) or name)
    return names


def test_they_are_loaded_where_nobody_types(loaded: list[str]) -> None:
    reported: list[object] = []
    preload.load_next_screens(lambda: time.monotonic() - 10, lambda: False, reported.append)
    assert loaded == reported == list(preload.MODULES)


def test_none_is_loaded_behind_a_key(loaded: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    preload.load_next_screens(time.monotonic, lambda: len(waits) > 20, loaded.append)
    assert loaded == []
    assert len(waits) > 20


def test_the_modules_are_there() -> None:
    from importlib.util import find_spec  # noqa: PLC0415 - only here

    assert all(find_spec(name) for name in preload.MODULES)
