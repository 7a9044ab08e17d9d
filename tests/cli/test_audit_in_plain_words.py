"""Which command lines of `memtui audit` begin with the screen, and what is read before it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memtui.cli import audit_job, audit_screen, main
from memtui.cli.options import Options

Shown = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """The folders that were audited on a screen, with what was chosen for it. There is a terminal."""
    found: Shown = []
    monkeypatch.setattr(audit_screen, "has_screen", lambda: True)
    monkeypatch.setattr(audit_job, "has_screen", lambda: True)
    monkeypatch.setattr(
        audit_screen, "audit_on_screen", lambda path, _loaded, _options, **chosen: found.append((path, chosen)) or 0
    )
    return found


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        ([], {}),
        (["--watch"], {"watch": True}),
        (["--since", "41", "--reviewer", "Ann"], {"since": "41", "reviewer": "Ann"}),
        (["--quiet"], {}),
    ],
)
def test_the_screen_comes_before_all_that_an_audit_loads(
    words: list[str], chosen: dict[str, Any], folder: Path, shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_job, "build_audit_job", lambda *_: pytest.fail("the rules were loaded first"))
    assert main(["audit", *words]) == 0
    assert main(["audit", str(folder), *words]) == 0
    assert shown == [(str(folder), chosen)] * 2


def test_what_is_read_or_refused_before_an_audit_is_so_before_the_screen(
    folder: Path, shown: Shown, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "--only", "no-such-rule"]) == 2
    assert "no rule or rule family called 'no-such-rule'" in capsys.readouterr().err
    assert main(["audit", "--since", ""]) == 2
    assert shown == []
    assert main(["audit", str(folder), "--only", "secret"]) == 0
    assert [(path, chosen["only"]) for path, chosen in shown] == [(str(folder), ("secret",))]


def test_rules_that_the_settings_name_are_looked_at_before_the_screen(
    folder: Path, shown: Shown, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder.parent / "config.toml"
    file.write_text('[audit.rules]\nno-such-rule = "off"\n')
    monkeypatch.setenv("MEMTUI_CONFIG", str(file))
    assert main(["audit", str(folder)]) == 0
    assert 'audit.rules names "no-such-rule", which is not a rule' in capsys.readouterr().err
    assert [path for path, _ in shown] == [str(folder)]


@pytest.mark.usefixtures("folder")
def test_without_a_terminal_there_is_a_report(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_screen, "has_screen", lambda: False)
    assert audit_screen.run_plain_audit(Options(), None) is None
    assert shown == []


def test_what_is_loaded_behind_the_first_frame_is_compiled_once_and_kept(tmp_path: Path) -> None:
    code = (
        "import sys; from memtui.cli import audit_screen; audit_screen._keep_bytecode(); "
        "print('memtui.audit.runner' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def load() -> str:
        words = [sys.executable, "-c", code]
        return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120, check=True).stdout

    assert [load(), load()] == ["True\n", "False\n"]
    assert list(tmp_path.rglob("audit/runner*.pyc"))
    environment |= {"PYTHONPYCACHEPREFIX": str(tmp_path / "another"), "PYTHONDONTWRITEBYTECODE": "1"}
    assert load() == "False\n"  # where nothing is kept, nothing is waited for
