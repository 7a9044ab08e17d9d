"""The pipeline, the hook and the settings that the page on audits prints are run as they are printed."""

import json
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft4Validator

from memtui.config import load_config
from tests.audit import prepared
from tests.audit.corpus import clean_notes
from tests.audit.report.test_sarif_report import SCHEMA
from tests.readme import DOCS, README

pytestmark = pytest.mark.skipif(
    prepared.without_git(), reason="claims are made about a repository, and there is no git"
)
TEXT = (DOCS / "audit.md").read_text(encoding="utf-8")
BASELINE = "memtui audit memories --write-baseline memtui-baseline.json"


def printed(mark: str, language: str) -> str:
    """The block of code behind a mark."""
    found = re.search(rf"<!-- {mark} -->\n```{language}\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None, mark
    return found[1]


@cache
def run(command: str, workspace: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in a checkout, as a runner does, once: no journal, no settings, no terminal."""
    binaries = workspace / "bin"
    binaries.mkdir(exist_ok=True)
    program = binaries / "memtui"
    if not program.exists():
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m memtui "$@"\n')
        program.chmod(0o755)
    home = workspace / "home"
    return subprocess.run(
        ["/bin/sh", "-e", "-c", command],
        cwd=workspace,
        env={"PATH": f"{binaries}:{os.environ['PATH']}", "HOME": str(home), "PYTHONPATH": str(README.parent)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )


@pytest.fixture(scope="module")
def checkouts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A checkout with one of everything in its memories, and a clean one; both with the baseline of the latter."""
    place = tmp_path_factory.mktemp("checkouts")
    clean = prepared.clean(place, clean_notes()).folder.parent
    bad = prepared.everything(place).folder.parent
    assert BASELINE in TEXT
    made = run(BASELINE, clean)
    assert made.returncode == 0, made.stderr
    (bad / "memtui-baseline.json").write_bytes((clean / "memtui-baseline.json").read_bytes())
    return bad, clean


def steps() -> list[dict[str, Any]]:
    """The steps of the pipeline's one job."""
    pipeline = yaml.safe_load(printed("the pipeline", "yaml"))
    [job] = pipeline["jobs"].values()
    return list(job["steps"])


def test_the_pipeline_fails_on_the_prepared_folder_and_passes_on_the_clean_one(checkouts: tuple[Path, Path]) -> None:
    [command] = [step["run"] for step in steps() if "memtui audit" in step.get("run", "")]
    bad, clean = checkouts
    failed, passed = run(command, bad), run(command, clean)
    assert failed.returncode == 1, failed.stderr
    assert passed.returncode == 0, passed.stderr + passed.stdout


def test_the_pipeline_hands_on_the_report_that_was_written(checkouts: tuple[Path, Path]) -> None:
    [upload] = [step for step in steps() if "upload-sarif" in step.get("uses", "")]
    [command] = [step["run"] for step in steps() if "memtui audit" in step.get("run", "")]
    assert upload["if"] == "always()"
    for checkout in checkouts:
        file = checkout / upload["with"]["sarif_file"]
        assert run(command, checkout).returncode in (0, 1)
        log = json.loads(file.read_text(encoding="utf-8"))
        assert [error.message for error in Draft4Validator(SCHEMA).iter_errors(log)] == []
        for result in log["runs"][0]["results"]:
            uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            assert uri == "memories" or uri.startswith("memories/")


def test_the_line_of_shell_says_it_all_with_its_exit_code(checkouts: tuple[Path, Path]) -> None:
    bad, clean = checkouts
    command = printed("the shell of the pipeline", "sh")
    assert run(command, bad).returncode == 1
    assert "**FAIL" in (bad / "memtui.md").read_text(encoding="utf-8").splitlines()[0]
    passed = run(command, clean)
    assert passed.returncode == 0, passed.stderr


def test_the_hook_stops_a_commit_of_what_is_bad_and_lets_a_clean_one_pass(checkouts: tuple[Path, Path]) -> None:
    bad, clean = checkouts
    [repo] = yaml.safe_load(printed("the hook before a commit", "yaml"))["repos"]
    [hook] = repo["hooks"]
    assert hook["pass_filenames"] is False
    assert re.search(hook["files"], "memories/notes/today.md")
    assert run(hook["entry"], bad).returncode == 1
    assert run(hook["entry"], clean).returncode == 0


def test_this_repository_is_a_source_of_the_same_hook(checkouts: tuple[Path, Path]) -> None:
    [hook] = yaml.safe_load((README.parent / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    [local] = yaml.safe_load(printed("the hook before a commit", "yaml"))["repos"][0]["hooks"]
    assert hook["id"] == local["id"]
    assert hook["language"] == "python"
    bad, clean = checkouts
    arguments = "--baseline memtui-baseline.json memories"
    assert run(f"{hook['entry']} {arguments}", bad).returncode == 1
    assert run(f"{hook['entry']} {arguments}", clean).returncode == 0


def test_the_settings_that_are_printed_are_taken_as_they_are(tmp_path: Path) -> None:
    [block] = [block for block in re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL) if "audit.exempt" in block]
    file = tmp_path / "config.toml"
    file.write_text(block, encoding="utf-8")
    loaded = load_config(path=str(file))
    assert tuple(loaded.problems) == ()
    assert loaded.config.audit.rules["stale"] == "off"
    assert loaded.config.audit.exemptions[0].reason == "made up for the tutorial"


def test_the_link_to_the_schema_leads_to_it() -> None:
    [target] = re.findall(r"\[schema\]\((.*?)\)", TEXT)
    assert (DOCS / target).is_file()
