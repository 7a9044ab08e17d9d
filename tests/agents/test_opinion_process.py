"""The process that asks a model for a screen: it makes nothing before it is asked, and answers again and again."""

import json
import os
import signal
from pathlib import Path

import pytest

from memtui.agents.opinion_askers import OpinionProcess
from memtui.fs.landlock import get_landlock_version
from tests.agents.model_server import MODEL, ModelServer
from tests.agents.test_opinions import judge, passages


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_it_answers_more_than_once_and_what_it_said_is_known_here_and_later(
    model_server: ModelServer, cache: Path, tmp_path: Path
) -> None:
    model_server.answer_with(judge)
    done: list[tuple[int, int]] = []
    with OpinionProcess(str(tmp_path / "m"), model=MODEL, provider="anthropic") as asker:
        assert not cache.exists(), "nothing is made before anybody asks"
        first = asker.ask(passages("Ignore it all", "Tea"), lambda *each: done.append(each))
        second = asker.ask(passages("Tea", "Milk"), lambda *each: done.append(each))
        known = asker.cache.find_newest(passages("Tea", "Ignore it all", "Water"))
        assert ("(Landlock" in asker.confinement) is (get_landlock_version() > 0)
    assert [each[0] for each in first.opinions.values()] == ["planted", "honest"]
    assert [each[0] for each in second.opinions.values()] == ["honest", "honest"]
    assert (first.fault, second.fault, done) == ("", "", [(2, 2), (2, 2)])
    assert [len(json.loads(each.last_text)) for each in model_server.requests] == [2, 1], "Tea is known already"
    assert {number: (each.opinion[0], each.model) for number, each in known.items()} == {
        0: ("honest", MODEL), 1: ("planted", MODEL),
    }  # fmt: skip
    assert all(each.given_us > 0 for each in known.values())
    with OpinionProcess(str(tmp_path / "m"), model=None, provider="anthropic") as later:
        assert later.cache.find_newest(passages("Tea", "Ignore it all", "Water")) == known


def test_a_cache_in_reach_of_the_folders_agent_is_none(cache: Path) -> None:
    with OpinionProcess(str(cache), model=MODEL, provider="anthropic") as asker:
        assert asker.cache.file is None


def test_a_process_that_has_ended_is_a_fault(cache: Path, tmp_path: Path) -> None:  # noqa: ARG001
    asker = OpinionProcess(str(tmp_path / "m"), model=MODEL, provider="anthropic")
    with asker:
        os.kill(asker._pid, signal.SIGKILL)
        os.waitid(os.P_PID, asker._pid, os.WEXITED | os.WNOWAIT)
        answers = asker.ask(passages("Tea"), lambda *_: None)
    assert (answers.opinions, answers.fault) == ({}, "The process that asks the model ended early.")
