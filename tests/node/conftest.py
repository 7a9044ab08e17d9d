"""What the tests with independent clients share. They need Node and the packages of `package.json` beside this file.

Without them they are skipped. To have them: npm install --no-package-lock, in this directory. They take their time, so
they run only where they are asked for by name: pytest tests/node.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import fill
from tests.node.programs import LIMIT, ROOT, package


@pytest.fixture(autouse=True)
def _own_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small memory folder."""
    return fill(tmp_path / "memories", {"prefs.md": "- short answers\n"})


@pytest.fixture
def served(folder: Path) -> Iterator[str]:
    """The URL of a `memtui mcp` over HTTP."""
    with subprocess.Popen(
        [sys.executable, "-m", "memtui", "mcp", str(folder), "--http", "0", "--no-token"],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr
        line = process.stderr.readline()
        found = re.search(r"http://\S+/mcp", line)
        assert found, line
        yield found.group()
        process.terminate()
        process.communicate(timeout=LIMIT)


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Callable[[list[dict[str, Any]]], str]]:
    """Start a model's server that answers as told, and return its URL."""
    aimock = package("@copilotkit/aimock")
    running: list[subprocess.Popen[str]] = []

    def start(fixtures: list[dict[str, Any]]) -> str:
        script = tmp_path / f"model-{len(running)}.json"
        script.write_text(json.dumps({"fixtures": fixtures}))
        program = json.loads((aimock / "package.json").read_text())["bin"]["llmock"]
        process = subprocess.Popen(
            ["node", str(aimock / program), "--port", "0", "--fixtures", str(script), "--strict"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        running.append(process)
        assert process.stdout
        for line in process.stdout:
            if found := re.search(r"http://[\w.:]+", line):
                return found.group()
        raise AssertionError("the model's server ended")

    yield start
    for process in running:
        process.terminate()
        with process:
            process.communicate(timeout=LIMIT)
