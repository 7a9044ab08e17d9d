"""`memtui audit`: what it prints, where it writes, how it ends, and that it changes nothing."""

import hashlib
import json
import os
import random
import re
import signal
import string
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import memory as memory_module
from memtui.audit.context import Note
from memtui.cli.audit_watch import ChangeSignal, iter_change_lines
from memtui.core.events import WatchMode, WatchStatus
from tests.audit.report import samples

Run = Callable[..., Any]
CLAUDE = memtui.Agent("Claude", "a-model", "session-1")
SECRET = "sk-" + "ant-" + "api03-" + "".join(random.Random(9).choices(string.ascii_letters + string.digits, k=60))


@pytest.fixture
def leaky(folder: Path) -> Path:
    """The folder, in which an agent wrote down a key."""
    with memtui.open(folder) as memory:
        command = {"command": "create", "path": "/memories/keys.md", "file_text": f"# Keys\n\nkey: {SECRET}\n"}
        memory.execute(command, actor=CLAUDE, call_id="toolu_01B2")
    return folder


@pytest.fixture
def settings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Writes the file of settings."""
    file = folder.parent / "config.toml"
    monkeypatch.setenv("MEMTUI_CONFIG", str(file))
    return lambda text: file.write_text(text) and None


def tree(*tops: Path) -> list[tuple[object, ...]]:
    """Names, bytes, modes and times of everything."""
    found = []
    for top in tops:
        for path in (top, *top.rglob("*")):
            seen = path.lstat()
            data = path.read_bytes() if path.is_file() else b""
            found.append((str(path), data, seen.st_mode, seen.st_mtime_ns, seen.st_size))
    return sorted(found, key=str)


def findings(ran: Any) -> list[str]:
    return [each["rule"] for each in json.loads(ran.out)["findings"]]


def test_a_key_is_told_with_its_place_who_wrote_it_and_what_to_do(leaky: Path, run: Run) -> None:
    ran = run("audit")
    out = ran.out.decode()
    assert (ran.code, ran.err) == (1, b"")
    assert "FAIL  anthropic-key  keys.md:3:6\n" in out
    assert "      | key: sk-ant****\n" in out
    assert "      from  Claude, 20" in out
    assert "call toolu_01B2" in out
    assert "What to do\n" in out
    assert f"READ-ONLY: nothing under {leaky} can be changed from this session." in " ".join(out.split())
    assert "journal: intact, 2 of 2 events" in out
    assert SECRET not in out


@pytest.mark.parametrize("format", ["text", "json", "jsonl", "md", "sarif", "html", "csv", "junit"])
def test_no_format_tells_the_key(format: str, leaky: Path, run: Run) -> None:  # noqa: ARG001
    ran = run("audit", "--format", format)
    assert ran.code == 1
    assert "anthropic-key" in ran.out.decode()
    assert SECRET[10:30].encode() not in ran.out


@pytest.mark.parametrize("words", [["--json"], ["--format", "json"], ["--json", "--format", "json"]], ids=" ".join)
def test_programs_get_json(words: list[str], leaky: Path, run: Run) -> None:  # noqa: ARG001
    ran = run("audit", *words)
    document = json.loads(ran.out)
    assert (document["schema"], document["kind"]) == (1, "memtui audit")
    (found,) = [each for each in document["findings"] if each["rule"] == "anthropic-key"]
    assert (found["relative"], found["line"], found["column"]) == ("keys.md", 3, 6)
    assert found["origin"]["actor"] == "Claude"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--fail-on", "never"], 0),
        (["--fail-on", "fail"], 1),
        (["--fail-on", "warn"], 1),
        (["--only", "planted"], 0),
        (["--only", "anthropic-key,openai-key"], 1),
        (["--only", "*-key"], 1),
        (["--only", "stale", "--only", "secret"], 1),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
@pytest.mark.usefixtures("leaky")
def test_the_exit_code_says_whether_there_is_anything_at_the_level(words: list[str], code: int, run: Run) -> None:
    assert run("audit", "--json", *words).code == code


def test_clean_notes_end_with_zero(folder: Path, run: Run) -> None:
    (folder / ".hidden").unlink()
    ran = run("audit", "--only", "secret,planted")
    assert ran.code == 0
    assert "No findings." in ran.out.decode()
    assert "ok    secrets" in ran.out.decode()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--only", "anthropic-kee"], 2, "no rule or rule family called 'anthropic-kee'. Did you mean anthropic-key?"),
        (["--only", "secrets"], 2, "no rule or rule family called 'secrets'. Did you mean secret?"),
        (["--only", "planted, hiden"], 2, "'hiden'. Did you mean hidden?"),
        (["--only", "zzz*"], 2, "All rules: memtui audit --rules."),
        (["--only", ","], 2, "the value of --only is empty"),
        (["--rules", "--only", ","], 2, "the value of --only is empty"),
        (["--rules", "--only", "secrets"], 2, "Did you mean secret?"),
        (["--rules", "--format", "md"], 2, "--rules and --format md do not go together"),
        (["--rules", "-o", "rules.txt"], 2, "--rules and -o do not go together"),
        (["--rules", "--watch"], 2, "--rules and --watch do not go together"),
        (["--watch", "--write-baseline", "b.json"], 2, "--watch and --write-baseline do not go together"),
        (["--watch", "--format", "html"], 2, "Name a file: -o FILE"),
        (["--watch", "--format", "junit"], 2, "Name a file: -o FILE"),
        (["--watch", "--format", "sarif", "-o", "-"], 2, "Name a file: -o FILE"),
        (["--write-baseline", "-", "--json"], 2, "cannot both be printed"),
        (["--format", "jsn"], 2, "invalid choice: 'jsn', did you mean 'json'?"),
        (["--fail-on", "wran"], 2, "did you mean 'warn'?"),
        (["--since", "lsat"], 2, "Did you mean last, the last review? Nothing was audited."),
        (["--since", "99999"], 2, "There is no event #99999."),
        (["--json", "--format", "md"], 2, "--json and --format md do not go together"),
        (["--format", "pdf"], 2, "invalid choice"),
        (["-o", ""], 2, "the value of -o is empty"),
        (["--since", "yesterweek"], 2, "--since"),
        (["--baseline", "absent.json"], 3, "cannot be read: no such file or directory. Nothing was audited."),
        (["--baseline", "prefs.json"], 2, "is not a baseline"),
        (["--rule-file", "absent.toml"], 3, "cannot be read: no such file or directory. Nothing was audited."),
        (["--rule-file", "prefs.json"], 2, "is not TOML"),
        (["--rule-file", "memories/rules.toml"], 4, "inside the memory folder, where an agent could write it. Move it"),
        (["--rule-file", ""], 2, "the value of --rule-file is empty"),
        (["--repo", "absent"], 3, "No directory"),
        (["--journal", "absent"], 3, "absent"),
        (["--review", "memories/review.json", "--since", "last"], 3, "is inside the memory folder"),
        (["elsewhere"], 3, "No folder at"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_what_cannot_be_done_is_said(
    words: list[str], code: int, sentence: str, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    (folder.parent / "prefs.json").write_text("{}")
    ran = run("audit", *words) if words != ["elsewhere"] else run("audit", "elsewhere", env={"MEMTUI_DIR": ""})
    assert ran.code == code
    assert sentence in ran.err.decode()
    assert not ran.out


def test_a_report_is_written_outside_of_the_folder_only(leaky: Path, run: Run) -> None:
    report = leaky.parent / "reports" / "memory.json"
    before = tree(leaky)
    ran = run("audit", "--format", "json", "-o", str(report))
    assert ran.code == 1
    assert not ran.out
    assert f"The report is in {report}." in ran.err.decode()
    assert json.loads(report.read_text())["kind"] == "memtui audit"
    assert report.stat().st_mode & 0o777 == 0o600
    again = run("audit", "--format", "json", "-o", str(report))
    assert again.code == 5
    assert "To replace it: --force" in again.err.decode()
    assert run("audit", "--format", "json", "-o", str(report), "--force").code == 1
    inside = run("audit", "-o", str(leaky / "report.txt"))
    assert inside.code == 4
    assert "is inside the memory folder" in inside.err.decode()
    assert tree(leaky) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("format", ["text", "json"])
def test_a_report_that_cannot_be_printed_is_said(format: str, leaky: Path) -> None:  # noqa: ARG001
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "memtui", "audit", "--format", format],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 74
    assert b"The output could not be written" in done.stderr


def test_a_checkout_needs_no_journal(folder: Path, run: Run) -> None:
    (folder / ".hidden").unlink()
    ran = run("audit", "--json", "--fail-on", "warn")
    assert findings(ran) == []
    assert ran.code == 0


def test_a_baseline_is_printed_where_that_is_asked_for(leaky: Path, run: Run) -> None:
    before = tree(leaky)
    ran = run("audit", "--write-baseline", "-")
    assert ran.code == 0
    assert "anthropic-key" in [each["rule"] for each in json.loads(ran.out)["findings"]]
    assert tree(leaky) == before


def test_two_audits_of_the_same_say_the_same_but_for_times(leaky: Path, run: Run) -> None:  # noqa: ARG001
    said = []
    for _ in range(2):
        document = json.loads(run("audit", "--json", "--since", "0").out)
        for volatile in ("taken", "seconds", "trend"):
            document.pop(volatile)
        growth = document.pop("growth")  # which moment of it a change falls to depends on now
        document["totals"] = {
            "files": growth["files"][-1],
            "bytes": growth["bytes"][-1],
            "findings": {severity: counts[-1] for severity, counts in growth["findings"].items()},
            "writes": {each["actor"]: sum(each["counts"]) for each in growth["writes"]},
        }
        said.append(document)
    assert said[0] == said[1]


def test_a_review_file_that_is_named_is_regarded(leaky: Path, run: Run) -> None:
    assert json.loads(run("audit", "--json", "--review", str(leaky.parent / "review.json")).out)["inbox"] is not None
    assert json.loads(run("audit", "--json", "--reviewer", "ada").out)["inbox"] is not None


def test_rules_of_ones_own_are_listed_chosen_and_applied(
    leaky: Path, run: Run, settings: Callable[[str], None]
) -> None:
    team = leaky.parent / "team.toml"
    team.write_text("[[rules]]\nid = 'heading'\nregex = '# (K[a-z]+)'\ntags = ['a']\n[[rules]]\nid = 'bad'\n")
    settings('[audit]\nrule_files = ["team.toml"]\n[audit.rules]\n"team/*" = "warn"\n')
    ran = run("audit", "--only", "team/heading", "--format", "text")
    assert "WARN  team/heading  keys.md:1:1\n" in ran.out.decode()
    assert "FAIL  unused-rules  the folder\n" in ran.out.decode()
    bad = "team.toml: the rule bad is not used: it has no regex."
    assert (ran.code, ran.err.decode()) == (1, f"{bad}\n")
    listed = run("audit", "--rules", "--only", "team/*", "--json")
    (rule,) = json.loads(listed.out)["rules"]
    assert (rule["id"], rule["severity"], rule["default_severity"]) == ("team/heading", "warn", "fail")
    assert rule["tags"] == ["a"]
    shown = run("config", "--json")
    assert json.loads(shown.out)["settings"]["audit.rule_files"]["value"] == [str(team)]
    assert [each["sentence"] for each in json.loads(shown.out)["problems"]] == [bad]
    settings("")
    ran = run("audit", "--rule-file", str(team), "--only", "team/haeding")
    assert (ran.code, "Did you mean team/heading?" in ran.err.decode()) == (2, True)
    assert sorted(findings(run("audit", "--rule-file", str(team), "--json", "-q", "--only", "secret"))) == [
        "anthropic-key", "team/heading", "unused-rules",
    ]  # fmt: skip


def test_what_stands_in_a_baseline_does_not_count(leaky: Path, run: Run) -> None:
    baseline = leaky.parent / "baseline.json"
    wrote = run("audit", "--write-baseline", str(baseline))
    assert (wrote.code, wrote.out) == (0, b"")
    assert f"in {baseline}: with --baseline none of them counts." in wrote.err.decode()
    assert SECRET[10:30] not in baseline.read_text()
    ran = run("audit", "--json", "--baseline", str(baseline))
    assert (ran.code, findings(ran)) == (0, [])
    assert {each["by"] for each in json.loads(ran.out)["excepted"]} == {"baseline"}
    assert "Not counted:" in run("audit", "--baseline", str(baseline)).out.decode()
    assert "anthropic-key" in run("audit", "--baseline", str(baseline), "--all").out.decode()
    (leaky / "more.md").write_text(f"another: {SECRET[::-1].replace('-', 'x')} {SECRET[:-4]}abcd\n")
    assert findings(run("audit", "--json", "--baseline", str(baseline), "--only", "secret")) == ["anthropic-key"]
    kept = run("audit", "--baseline", str(baseline), "--write-baseline", str(baseline), "--force")
    assert kept.code == 0
    assert run("audit", "--json", "--baseline", str(baseline)).code == 0


def test_settings_switch_rules_and_except_findings(leaky: Path, run: Run, settings: Callable[[str], None]) -> None:
    settings('[audit.rules]\n"anthropic-key" = "off"\n')
    ran = run("audit", "--json")
    assert "anthropic-key" not in findings(ran)
    assert {"rule": "anthropic-key", "reason": "off"} in json.loads(ran.out)["skipped"]
    settings('[audit.rules]\n"anthropic-key" = "info"\n')
    assert run("audit", "--json", "--only", "secret").code == 0
    settings('[[audit.exempt]]\nrule = "*-key"\npath = "keys.md"\nreason = "of the manual"\nuntil = 2999-01-01\n')
    ran = run("audit", "--json")
    (excepted,) = json.loads(ran.out)["excepted"]
    assert (excepted["reason"], excepted["until"], excepted["by"]) == ("of the manual", "2999-01-01", "exemption")
    settings('[[audit.exempt]]\nrule = "*-key"\nreason = "of the manual"\nuntil = 2020-01-01\n')
    ran = run("audit", "--json")
    assert {"anthropic-key", "expired-exemption"} <= set(findings(ran))
    assert ran.code == 1
    assert leaky.is_dir()


@pytest.mark.usefixtures("leaky")
def test_what_is_wrong_in_the_settings_of_an_audit_is_said(run: Run, settings: Callable[[str], None]) -> None:
    settings('[audit.rules]\n"anthropic-kye" = "off"\n[[audit.exempt]]\nrule = "stale"\n')
    said = run("audit", "--json").err.decode()
    assert 'audit.rules names "anthropic-kye", which is not a rule. Did you mean anthropic-key?' in said
    assert 'the exemption of "stale" needs a reason' in said
    assert "line 2" in said


def test_changes_since_a_moment_are_told(leaky: Path, run: Run) -> None:  # noqa: ARG001
    out = run("audit", "--since", "0").out.decode()
    assert "+ keys.md" in out
    assert json.loads(run("audit", "--json", "--since", "last").out)["inbox"]["files"]
    assert json.loads(run("audit", "--json").out)["inbox"] is None


def test_rules_are_listed_with_examples(run: Run, tmp_path: Path) -> None:
    ran = run("audit", "--rules", env={"MEMTUI_DIR": str(tmp_path / "absent")})
    assert ran.code == 0
    assert "  fail  anthropic-key: " in ran.out.decode()
    assert "finds " in ran.out.decode()
    only = run("audit", "--rules", "--only", "anthropic-key").out.decode()
    assert "anthropic-key" in only
    assert "stale" not in only
    document = json.loads(run("audit", "--rules", "--json").out)
    assert {"id", "family", "severity", "on", "title", "why", "do", "finds", "passes"} <= set(document["rules"][0])
    assert run("audit", "--rules", "--only", "nothing-such").code == 2


def test_rules_are_listed_as_they_are_set(run: Run, folder: Path, settings: Callable[[str], None]) -> None:  # noqa: ARG001
    settings('[audit.rules]\n"stale" = "off"\n"anthropic-*" = "info"\n')
    out = run("audit", "--rules").out.decode()
    assert any(line.startswith("  warn  stale: ") and "(off)" in line for line in out.splitlines())
    assert "  info  anthropic-key: " in out


def test_nothing_is_changed_or_made(leaky: Path, run: Run, state_home: Path) -> None:
    before = tree(leaky, state_home)
    for words in (["--read-only"], ["--only", "*"]):
        run("audit", "--since", "last", *words)
    assert tree(leaky, state_home) == before
    folder = tree(leaky)
    for format in ("text", "json", "md", "sarif", "html"):
        run("audit", "--since", "last", "--format", format)
    assert tree(leaky) == folder
    kept = {path for path in state_home.rglob("*") if path.is_file()}
    made = {path.name: path.stat().st_mode & 0o777 for path in kept if str(path) not in repr(before)}
    assert made == {"audits.json": 0o600, "clean-notes.json": 0o600}


def test_an_audit_says_what_is_new_and_gone_since_the_last(leaky: Path, run: Run, state_home: Path) -> None:
    assert b"Since the last audit" not in run("audit", "--format", "text").out
    (leaky / "other.md").write_text((leaky / "keys.md").read_text())
    (leaky / "keys.md").write_text("gone\n")
    assert b"Since the last audit, 20" not in run("audit", "--format", "text", "--only", "secret").out
    assert b"UTC: 3 new, 1 resolved\n" in run("audit", "--format", "text", "--read-only").out
    trend = json.loads(run("audit", "--json").out)["trend"]
    assert (len(trend["new"]), trend["gone"], trend["same_rules"], len(trend["audits"])) == (3, 1, True, 1)
    assert (json.loads(run("audit", "--json").out)["trend"]["new"]) == []
    (history,) = state_home.rglob("audits.json")
    history.unlink()
    history.mkdir()  # that it can neither be read nor be written is no error
    ran = run("audit", "--json")
    assert (ran.code, ran.err, json.loads(ran.out)["trend"]) == (1, b"", None)


def bare(ran: Any) -> dict[str, Any]:
    """A report without what differs from one audit to the next."""
    return {
        name: value
        for name, value in json.loads(ran.out).items()
        if name not in ("taken", "seconds", "trend", "growth")
    }


def test_a_second_audit_says_the_same_also_where_what_is_kept_is_damaged(
    leaky: Path, run: Run, state_home: Path
) -> None:
    (leaky / "tea.md").write_text("# Tea\n\nAt four.\n")
    memtui.open(leaky).close()  # what nobody has recorded is found anew by each audit, at another time
    first = bare(run("audit", "--json"))
    (kept,) = state_home.rglob("clean-notes.json")
    data = kept.read_bytes()
    assert bare(run("audit", "--json")) == first
    assert kept.read_bytes() == data
    kept.write_bytes(data[:-9])
    assert bare(run("audit", "--json")) == first
    assert kept.read_bytes() == data
    kept.unlink()
    kept.mkdir()  # that it can neither be read nor be written is no error
    ran = run("audit", "--json")
    assert (bare(ran), ran.err) == (first, b"")


def test_a_read_only_audit_trusts_nothing_that_was_kept(leaky: Path, run: Run, state_home: Path) -> None:
    run("audit", "--json")
    (kept,) = state_home.rglob("clean-notes.json")
    document = json.loads(kept.read_bytes().partition(b"\n")[2])
    forged = Note("keys.md", (leaky / "keys.md").read_bytes(), 0, 0).digest
    document["notes"] = {"secret": forged}
    body = json.dumps(document).encode()
    kept.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    assert "anthropic-key" not in findings(run("audit", "--json"))  # so it would have been of use
    kept.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    assert "anthropic-key" in findings(run("audit", "--json", "--read-only"))
    assert kept.read_bytes().endswith(body)


def test_two_audits_at_once_keep_what_either_would(leaky: Path, run: Run, state_home: Path) -> None:
    for number in range(300):
        (leaky / f"tea-{number}.md").write_text(f"# Tea {number}\n\nAt four.\n")
    memtui.open(leaky).close()
    first = bare(run("audit", "--json"))
    (kept,) = state_home.rglob("clean-notes.json")
    data = kept.read_bytes()
    kept.unlink()
    with ThreadPoolExecutor() as pool:
        ran = list(pool.map(lambda _: run("audit", "--json"), range(4)))
    assert [bare(each) for each in ran] == [first] * 4
    assert kept.read_bytes() == data
    assert [path.name for path in kept.parent.iterdir() if path.name.startswith("clean-notes")] == [kept.name]


def test_it_says_what_this_process_gave_up(leaky: Path, run: Run) -> None:  # noqa: ARG001
    (sentence,) = json.loads(run("audit", "--json").out)["neutral"]
    assert "from writing files" in sentence or "opens everything read-only" in sentence


def test_a_folder_that_was_never_opened_stays_so(folder: Path, run: Run, state_home: Path) -> None:
    ran = run("audit", "--json")
    assert json.loads(ran.out)["chain"]["state"] == "none"
    assert not state_home.exists()
    assert folder.is_dir()


def test_an_exported_journal_tells_who_wrote_what(leaky: Path, run: Run) -> None:
    export = leaky.parent / "journal.jsonl"
    assert run("export", "-o", str(export)).code == 0
    copy = leaky.parent / "copy"
    leaky.rename(copy)
    ran = run("audit", str(copy), "--json", "--journal", str(export))
    (found,) = [each for each in json.loads(ran.out)["findings"] if each["rule"] == "anthropic-key"]
    assert found["origin"]["actor"] == "Claude"
    assert json.loads(ran.out)["chain"]["state"] == "intact"


def test_hostile_names_and_texts_reach_no_terminal(folder: Path, run: Run) -> None:
    name = b"a\x1b]52;c;Zm9v\x07\xff.md"
    text = f"<!-- \x1b[31m\u202e --> key: {SECRET}\n"
    (Path(os.fsdecode(os.fsencode(folder) + b"/" + name))).write_text(text)
    for format in ("text", "json", "md", "sarif", "html"):
        ran = run("audit", "--format", format)
        assert ran.code == 1
        assert b"\x1b" not in ran.out
        assert b"\x07" not in ran.out
        assert "\u202e".encode() not in ran.out
        ran.out.decode("utf-8")


def test_colors_are_for_a_terminal_that_wants_them(leaky: Path, run_in_terminal: Run) -> None:  # noqa: ARG001
    words = ("audit", "--format", "text")
    assert b"\x1b[1;31mFAIL\x1b[0m" in run_in_terminal(*words).out
    assert b"\x1b" not in run_in_terminal(*words, env={"NO_COLOR": "1"}).out
    assert b"\x1b" not in run_in_terminal(*words, env={"TERM": "dumb"}).out


def test_colors_go_into_a_pipe_only_where_they_are_forced(leaky: Path, run: Run) -> None:  # noqa: ARG001
    words = ("audit", "--format", "text")
    assert b"\x1b[1;31mFAIL\x1b[0m" in run(*words, env={"FORCE_COLOR": "1", "NO_COLOR": ""}).out
    for wish in ({}, {"FORCE_COLOR": ""}, {"FORCE_COLOR": "0"}, {"FORCE_COLOR": "1", "NO_COLOR": "1"}):
        assert b"\x1b" not in run(*words, env=wish).out


def test_a_watcher_that_begins_is_no_news(folder: Path) -> None:
    with memory_module.observe(folder) as observer:
        news = ChangeSignal(observer)
        news.on_change()
        news.on_watching_change(WatchStatus(WatchMode.LIVE))
        assert not news.woken.is_set()
        news.on_watching_change(WatchStatus(WatchMode.POLLING, "It is slower."))
        assert not news.woken.is_set()
        assert (news.reason, news.is_gone) == ("It is slower.", False)
        (folder / "new.md").write_text("new\n")
        observer.reconcile()
        news.on_change()
        assert news.woken.is_set()


def test_a_watched_folder_that_goes_away_ends_the_audit(folder: Path, reading_until: Any) -> None:
    words = [sys.executable, "-m", "memtui", "audit", "--watch", "--format", "text", "--only", "secret"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            reading_until(process.stdout.fileno(), lambda read: b"READ-ONLY" in read)
            folder.rename(folder.with_name("moved"))
            assert process.wait(60) == 3
            assert b"is not there any more" in process.stderr.read()
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("format", "end", "first", "gone", "new"),
    [
        (
            "text",
            signal.SIGINT,
            b"READ-ONLY",
            rb"- 20\S+ \S+ UTC  FAIL  anthropic-key  keys.md:3:6  Anthropic API key in text.*\n",
            rb"\+ 20.*\n",
        ),
        ("jsonl", signal.SIGTERM, b'"event": "end"', rb'\{"event": "gone", .*\n', rb'\{"event": "new", .*\n'),
    ],
)
def test_a_watched_audit_tells_what_is_gone_and_what_is_new(
    format: str, end: signal.Signals, first: bytes, gone: bytes, new: bytes, leaky: Path, reading_until: Any
) -> None:
    program = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from memtui.cli import main\n"
        f"sys.exit(main(['audit', '--watch', '--format', '{format}', '--only', 'secret']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            reading_until(process.stdout.fileno(), lambda read: first in read)
            kept = (leaky / "keys.md").read_bytes()
            (leaky / "keys.md").write_text("gone\n")
            read = reading_until(process.stdout.fileno(), lambda read: re.search(gone, read))
            assert read.count(b"\n") == 1
            (leaky / "keys.md").write_bytes(kept)
            read = reading_until(process.stdout.fileno(), lambda read: re.search(new, read))
            assert read.count(b"\n") == 1
            process.send_signal(end)
            assert process.wait(30) == 128 + end
            assert not process.stderr.read()
        finally:
            process.kill()


def test_what_changed_between_two_audits_is_a_line_each_and_nothing_is_no_line() -> None:
    before = replace(samples.nothing(), findings=(samples.finding(), *samples.one_cause(3)))
    after = replace(before, taken_us=before.taken_us + 60_000_000, findings=samples.one_cause(5))
    new, other, gone = iter_change_lines(before, after, "text")
    assert new.startswith("+ 2026-11-21 22:27:40 UTC  WARN  missing-path  notes/3.md:3  It names src/legacy/a3.py,")
    assert "notes/4.md" in other
    assert gone.startswith("- 2026-11-21 22:27:40 UTC  FAIL  anthropic-key  project/status.json:3:13  ")
    events = [json.loads(line) for line in iter_change_lines(before, after, "jsonl")]
    assert [(event["event"], event["rule"], bool(event["group"])) for event in events] == [
        ("new", "missing-path", True), ("new", "missing-path", True), ("gone", "anthropic-key", False)
    ]  # fmt: skip
    assert list(iter_change_lines(after, after, "text")) == []


def test_it_ends_quietly_when_it_is_interrupted(folder: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from memtui.audit import runner\n"
        "from memtui.cli import main\n"
        "read = runner.build_context\n"
        "def interrupted(*given, **named):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    return read(*given, **named)\n"
        "runner.build_context = interrupted\n"
        f"sys.exit(main(['audit', {str(folder)!r}, '--json']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
