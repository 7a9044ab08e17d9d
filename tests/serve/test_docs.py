"""The page about serving folders: its program works, and so does its file of tokens."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from memtui.serve.access import parse_access_file
from tests.readme import DOCS
from tests.serve.conftest import PLANNER
from tests.serve.test_process import LIMIT, ROOT, Serving, place, start

PAGE = (DOCS / "shared.md").read_text(encoding="utf-8")
__all__ = ["place", "start"]


def _read_block(kind: str) -> str:
    return re.findall(rf"(?ms)^```{kind}\n(.*?)^```$", PAGE)[0]


def test_the_program_of_the_page_works(start: Callable[..., Serving], place: Path) -> None:
    serving = start()
    done = subprocess.run(
        [sys.executable, "-c", _read_block("python")], capture_output=True, text=True, timeout=LIMIT, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "MEMTUI_URL": serving.url, "MEMTUI_TOKEN": PLANNER},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == ["modified", "created"]
    assert (place / "stores/team/projects/plan.md").read_text() == "two\n"


def test_the_tokens_of_the_page_are_valid() -> None:
    planner, ada = parse_access_file(_read_block("toml").encode())
    assert (planner.actor.name, ada.actor.name) == ("planner", "ada")
