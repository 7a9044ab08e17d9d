"""Completion scripts: valid for their shells, and offering what there is."""

import shutil
import subprocess
from pathlib import Path

import pytest

from memtui.cli import main
from memtui.cli.verbs import VERBS


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_accepts_it(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    file = tmp_path / "script"
    file.write_text(script(shell, capsys))
    checked = subprocess.run([program, "-n", str(file)], capture_output=True, timeout=30, check=False)
    assert (checked.returncode, checked.stderr) == (0, b"")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_verb_and_option_is_in_it(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    for word in (*VERBS, "as-model", "follow", "read-only", "bash", "zsh", "fish"):
        assert word in text


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["memtui", "do"], ["doctor"]),
        (["memtui", "log", "--fo"], ["--follow"]),
        (["memtui", "--read-only", "log", "--hea"], ["--head"]),
        (["memtui", "-C", "ls", "comp"], ["completion"]),
        (["memtui", "completion", ""], ["bash", "zsh", "fish"]),
        (["memtui", "show", "--as"], ["--as-model"]),
        (["memtui", "ls", "fold"], ["folder"]),
        (["memtui", "-C", "fold"], ["folder"]),
        (["memtui", "run", "fil"], ["file.json"]),
        (["memtui", "log", "-n", ""], []),
    ],
)
def test_bash_offers_what_fits(
    typed: list[str], offered: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.json").touch()
    words = " ".join(f"'{word}'" for word in typed)
    here = f"COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}"
    ask = f"compopt() {{ :; }}\n{here}; _memtui; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(
        ["bash", "--norc", "-c", script("bash", capsys) + ask],
        capture_output=True,
        cwd=tmp_path,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stdout.split() == offered
    assert done.stderr == ""
