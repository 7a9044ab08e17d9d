"""When an audit is done: one of everything is named, clean notes are left alone, and nothing is touched on the way."""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator, Draft202012Validator

from memtui.audit.masking import find_secret_spans
from memtui.audit.model import Family, Severity
from memtui.audit.registry import RULES
from tests.audit import prepared
from tests.audit.corpus import clean_notes
from tests.audit.prepared import CHANGES, Prepared
from tests.audit.report.test_json_report import SCHEMA
from tests.audit.report.test_sarif_report import SCHEMA as SARIF

pytestmark = [
    pytest.mark.skipif(prepared.without_git(), reason="claims are made about a repository, and there is no git"),
    pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="the superuser may read everything"),
]
MEMTUI = (sys.executable, "-m", "memtui")
FORMATS = ("text", "json", "md", "sarif", "html")
HUMBLE = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--") if os.geteuid() == 0 else ()
"""What takes from the superuser the right to read what nobody may read."""
OURS = {
    "left-out": "it takes thousands of findings: tests/audit/test_runner.py has them",
    "too-large": "it takes a file of over 64 MB: tests/audit/test_coverage_rules.py has a lower limit",
    "rule-crashed": "it is a fault of memtui itself: tests/audit/test_runner.py makes one",
}
"""Rules that no folder can be prepared for, and why."""


def audit(made: Prepared, *words: str, format: str = "json") -> subprocess.CompletedProcess[str]:
    """Audit a folder as a person or a pipeline does: with the program."""
    settings = made.state.parent / "config.toml"
    settings.write_text(made.settings, encoding="utf-8")
    options = ["--state", str(made.state), "--config", str(settings), "--format", format]
    if made.repo is not None:
        options += ["--repo", str(made.repo)]
    if made.review is not None:
        options += ["--review", str(made.review), "--since", "last"]
    return subprocess.run(
        [*HUMBLE, *MEMTUI, "audit", str(made.folder), *options, *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=100,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            **({"HOME": str(made.home)} if made.home is not None else {}),
        },
    )


def by_rule(run: subprocess.CompletedProcess[str]) -> dict[str, set[str]]:
    """The paths at which each rule finds something, by a report."""
    assert run.returncode in (0, 1), run.stderr
    found: dict[str, set[str]] = {}
    for finding in json.loads(run.stdout)["findings"]:
        found.setdefault(finding["rule"], set()).add(finding["relative"])
    return found


def picture(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Names, kinds, bytes, modes, owners, links and all times below and at a folder; taken without touching any."""
    seen: dict[str, tuple[Any, ...]] = {}
    places = [folder, *(folder / path for path in _below(folder))]
    for place in places:
        status = os.lstat(place)
        seen[os.fsencode(place).decode("latin-1")] = (
            status.st_mode, status.st_uid, status.st_gid, status.st_ino, status.st_nlink,
            status.st_size, status.st_mtime_ns, status.st_ctime_ns,
            # Whoever asks where a link leads sets its time of access: there is no way to look without.
            os.readlink(place) if stat.S_ISLNK(status.st_mode) else status.st_atime_ns,
        )  # fmt: skip
    return seen


def _below(folder: Path) -> list[str]:
    """All names below a folder, read without setting an access time."""
    names: list[str] = []
    pending = [""]
    while pending:
        directory = pending.pop()
        handle = os.open(folder / directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOATIME)
        try:
            for entry in os.scandir(handle):
                path = os.path.join(directory, entry.name)
                names.append(path)
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path)
        finally:
            os.close(handle)
    return names


@dataclass(frozen=True)
class Told:
    """A report, and what became of the folder and of its record while it was made."""

    run: subprocess.CompletedProcess[str]
    before: list[dict[str, tuple[Any, ...]]]
    after: list[dict[str, tuple[Any, ...]]]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """The folder with nearly all of it, made once."""
    return prepared.everything(tmp_path_factory.mktemp("everything"))


@pytest.fixture(scope="module")
def told(everything: Prepared) -> Callable[[str], Told]:
    """Its reports, each made once."""

    @cache
    def report(format: str) -> Told:
        places = [everything.folder, everything.state]
        before = [picture(place) for place in places]
        run = audit(everything, "--since", "0", "--all", "--read-only", format=format)
        return Told(run, before, [picture(place) for place in places])

    return report


def test_there_is_one_of_everything_that_is_on(everything: Prepared, tmp_path: Path) -> None:
    wanted = set(everything.wanted)
    for make in prepared.makers():
        if make is not prepared.everything:
            wanted |= set(make(tmp_path).wanted)
    switched_on = {
        "never-there",
        "missing-commit",
        "no-journal",
        "html-remark",
    }  # off by default, and on in those folders' settings
    assert {rule.id for rule in RULES.values() if rule.is_on} - set(OURS) | switched_on == wanted & set(RULES)


def test_a_file_and_a_directory_that_are_closed_are_told(tmp_path: Path) -> None:
    made = prepared.unreadable(tmp_path)
    closed = made.folder / "closed"
    closed.mkdir()
    (closed / "b.md").write_text("Nobody is to know this either.\n")
    closed.chmod(0)
    run = audit(made, "--only", "stale")
    closed.chmod(0o700)
    assert by_rule(run)["unreadable"] == {"locked.md", "closed"}
    assert run.returncode == 1


def test_the_report_names_each_of_everything(everything: Prepared, told: Callable[[str], Told]) -> None:
    found = by_rule(told("json").run)
    assert {rule: path for rule, path in everything.wanted.items() if path not in found.get(rule, ())} == {}


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("make", [make for make in prepared.makers() if make is not prepared.everything])
def test_what_excludes_the_rest_is_named_in_a_folder_of_its_own(
    make: Callable[[Path], Prepared], tmp_path: Path
) -> None:
    made = make(tmp_path)
    found = by_rule(audit(made))
    assert {rule: path for rule, path in made.wanted.items() if path not in found.get(rule, ())} == {}


@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize("how", CHANGES)
def test_whatever_somebody_did_to_the_record_the_audit_says_so(how: str, tmp_path: Path) -> None:
    for format in ("json", "html"):
        (tmp_path / format).mkdir()
        made = prepared.tampered(tmp_path / format, how)
        run = audit(made, format=format)
        assert run.returncode == 1, run.stderr
        assert "chain-broken" in run.stdout


def test_nothing_is_found_in_a_folder_of_clean_notes(tmp_path: Path) -> None:
    made = prepared.clean(tmp_path, clean_notes())
    run = audit(made, "--fail-on", "warn")
    assert by_rule(run) == {}
    assert run.returncode == 0


@pytest.mark.sweep(keep=0, always=("json",))
@pytest.mark.parametrize("format", FORMATS)
def test_every_format_names_every_rule_that_found_something(
    everything: Prepared, told: Callable[[str], Told], format: str
) -> None:
    run = told(format).run
    assert run.returncode == 1, run.stderr
    for rule in everything.wanted:
        if format != "md" or RULES[rule].severity is Severity.FAIL:  # what does not fit in a comment is counted there
            assert rule in run.stdout, rule
    assert "team/printer-badge" in run.stdout
    assert "its regex cannot be read" in run.stdout + run.stderr


@pytest.mark.sweep(keep=0, always=("html",))
@pytest.mark.parametrize("format", FORMATS)
def test_no_report_shows_a_secret(everything: Prepared, told: Callable[[str], Told], format: str) -> None:
    report = told(format).run.stdout
    assert prepared.BADGE[11:] not in report
    values = 0
    for rule, path in everything.wanted.items():
        if RULES[rule].family is Family.SECRET:
            text = (everything.folder / path).read_text(encoding="utf-8")
            for start, end in find_secret_spans(text):
                values += 1
                assert text[start:end] not in report, rule
                assert text[end - 8 : end] not in report or end - start < 12, rule
    assert values >= sum(rule.family is Family.SECRET for rule in RULES.values()) > 20


def test_the_reports_of_everything_are_as_their_schemas_say(told: Callable[[str], Told]) -> None:
    document = json.loads(told("json").run.stdout)
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(document)] == []
    assert document["inbox"]["files"]
    assert document["growth"]["ts"]
    log = json.loads(told("sarif").run.stdout)
    assert [error.message for error in Draft4Validator(SARIF).iter_errors(log)] == []
    assert log["runs"][0]["invocations"][0]["exitCode"] == 1


@pytest.mark.sweep(keep=2)
@pytest.mark.skipif(not hasattr(os, "O_NOATIME"), reason="access times cannot be kept here")
@pytest.mark.parametrize("format", FORMATS)
def test_the_folder_is_the_same_before_and_after_times_included(told: Callable[[str], Told], format: str) -> None:
    seen = told(format)
    assert seen.run.returncode == 1
    assert len(seen.before[0]) > len(RULES)
    assert seen.after == seen.before
