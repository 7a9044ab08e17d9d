"""Programs of somebody else's: where they are, and running one to its end."""

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PACKAGES = HERE / "node_modules"
LIMIT = 180.0
"""Seconds that a program of somebody else's may take."""


def package(name: str) -> Path:
    """A package that a test needs; without it the test is skipped."""
    if shutil.which("node") is None:
        pytest.skip("needs Node, which is not installed")
    path = PACKAGES / name
    if not path.is_dir():
        pytest.skip(f"needs {name}: cd tests/node && npm install --no-package-lock")
    return path


def run(*words: object, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end."""
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=LIMIT,
        cwd=cwd,
        check=False,
    )
