"""The memory in an evaluation of Inspect, against the real package and a scripted model."""

import importlib
from pathlib import Path

import pytest

from tests.agents.adapters import scenario
from tests.agents.model_server import ModelServer

inspect_ai = pytest.importorskip("inspect_ai", reason="needs Inspect: pip install 'memtui[inspect-ai]'")
solver = importlib.import_module("inspect_ai.solver")
dataset = importlib.import_module("inspect_ai.dataset")
adapter = importlib.import_module("memtui.agents.adapters.inspect_ai")
pytestmark = pytest.mark.filterwarnings("default")  # the package's own are not ours to fix


async def test_the_native_tool_writes_is_refused_and_shows_pictures(
    model_server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = scenario.make_folder(tmp_path / "memories")
    scenario.script(model_server)
    task = inspect_ai.Task(
        dataset=[dataset.Sample(input="Remember that tea is green.")],
        solver=[solver.use_tools(adapter.memory(folder, actor=scenario.ACTOR)), solver.generate()],
    )
    (log,) = await inspect_ai.eval_async(task, model=f"anthropic/{scenario.MODEL}", log_dir=str(tmp_path / "logs"))
    assert log.status == "success", log.error
    assert log.samples[0].output.completion == "It is remembered."
    scenario.check(model_server, folder, call_ids=False)
