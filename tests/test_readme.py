"""What is documented is what there is."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from llmock.pytest_plugin import LLMock

from tests.readme import DOCS, README, ROOT

TEXT = README.read_text(encoding="utf-8")
PYTHON = (DOCS / "python.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((screenshots/[^)]+)\)", TEXT))))
def test_every_picture_that_is_shown_is_there(target: str) -> None:
    assert (ROOT / target).stat().st_size > 1_000


def test_every_picture_that_is_there_is_shown() -> None:
    kept = {path.name for path in (ROOT / "screenshots").iterdir() if path.is_file() and path.suffix != ".py"}
    assert kept == set(re.findall(r"\]\(screenshots/([^)]+)\)", TEXT))


def test_the_moving_picture_is_quick_to_load() -> None:
    assert (ROOT / "screenshots/movie.gif").stat().st_size < 2_000_000


def test_the_python_examples_run_as_they_are_printed(tmp_path: Path) -> None:
    blocks = [block for block in re.findall(r"```python\n(.*?)```", PYTHON, re.DOTALL) if "memtui.open(" in block]
    blocks = [block for block in blocks if "anthropic" not in block]
    example = "".join(blocks)
    folder = tmp_path / "app" / "memories"
    folder.mkdir(parents=True)
    run = subprocess.run(
        [sys.executable, "-c", example],
        env={"HOME": str(tmp_path), "PATH": "", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[0] == "File created successfully at: /memories/me.md False"
    assert run.stdout.splitlines()[-1] == "#1 create"
    assert not list(folder.iterdir())


@pytest.mark.parametrize(("typed", "is_written"), [("\n", True), ("Not now.\n", False), ("", False)])
def test_the_example_with_the_sdk_runs_as_it_is_printed(
    tmp_path: Path, llmock: LLMock, typed: str, is_written: bool
) -> None:
    [example] = [block for block in re.findall(r"```python\n(.*?)```", PYTHON, re.DOTALL) if "tool_runner(" in block]
    assert len(example.strip().splitlines()) <= 30
    folder = tmp_path / "app" / "memories"
    folder.mkdir(parents=True)
    create = {"command": "create", "path": "/memories/tea.md", "file_text": "without \x1b[1msugar\n"}
    llmock.call_tool("memory", create).reply("I will \x1b[2Jremember.")
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", example],
        env={"HOME": str(tmp_path), "PATH": "", "PYTHONPATH": str(ROOT), **llmock.env()},
        input=typed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("my-agent wants to create /memories/tea.md\nwithout \\x1b[1msugar\n")
    assert run.stdout.endswith("I will \\x1b[2Jremember.\n")
    assert (folder / "tea.md").exists() is is_written
    [result] = llmock.last_request.body["messages"][-1]["content"]
    assert result.get("is_error", False) is not is_written
    assert ("Not now." in result["content"]) is typed.startswith("Not")
    assert ("Traceback" in run.stderr) is (typed == "")  # an input that ends is told to the program's owner


def test_ci_runs_exactly_the_test_command_that_is_printed() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "<!-- the test command -->" in script
    printed = re.search(r"<!-- the test command -->\n```sh\n(.*?)\n```", TEXT, re.DOTALL)
    assert printed is not None
    assert "pytest" in printed.group(1)
