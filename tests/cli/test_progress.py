"""A person who waits is told how far it is, and nobody else."""

import io
import sys

import pytest

from memtui.cli.output import show_progress_line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_who_has_waited_a_moment_is_told_and_in_the_end_the_line_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, clock = Terminal(), Clock()
    monkeypatch.setattr(sys, "stderr", terminal)
    with show_progress_line(clock=clock) as tell:
        assert tell is not None
        tell("read", 1, 10_000)
        assert not terminal.getvalue()
        clock.now += 0.6
        tell("read", 5_000, 10_000)
        assert terminal.getvalue() == "\rread: 5,000 of 10,000"
        tell("read", 5_001, 10_000)
        assert "5,001" not in terminal.getvalue()
        clock.now += 0.2
        tell("secret", 10, 10_000)
        assert terminal.getvalue().endswith("\rsecret: 10 of 10,000 ")
    assert terminal.getvalue().endswith("\r" + " " * len("secret: 10 of 10,000") + "\r")


def test_the_line_is_gone_also_where_it_ends_badly(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, clock = Terminal(), Clock()
    monkeypatch.setattr(sys, "stderr", terminal)

    def interrupted() -> None:
        with show_progress_line(clock=clock) as tell:
            assert tell is not None
            clock.now += 1
            tell("read", 1, 2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert terminal.getvalue().endswith(" \r")


def test_nobody_is_told_where_nobody_looks_or_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with show_progress_line() as tell:
        assert tell is None
    monkeypatch.setattr(sys, "stderr", Terminal())
    with show_progress_line(quiet=True) as tell:
        assert tell is None
