"""An audit with rules of an organisation's own: where the files may be, and what becomes of their findings."""

import importlib.metadata
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import memtui
from memtui.audit import rule_files
from memtui.audit.model import NO_CUSTOM_RULES, Audit, CustomRules, Severity
from memtui.audit.registry import find_rule, find_rule_problems, is_known_rule, list_rules, suggest_rule
from memtui.audit.report import FORMATS, render_report
from memtui.audit.rule_files import RuleFileMissing, RuleFileRefused, RuleFileUnusable, load_custom_rules
from memtui.audit.runner import run_audit
from memtui.config import load_config
from memtui.core.settings import AuditSettings, Exemption
from memtui.review.inbox_builder import build_inbox
from memtui.review.marks import Review
from memtui.scan import rule_matches
from memtui.scan.samples import make_sample
from tests.audit.folders import Folder

BADGE = "acme-07d1c4b93e5a"
RULE = """
[[rules]]
id = "badge"
description = "A badge of Acme"
regex = 'acme-([0-9a-f]{12})'
keywords = ["acme-"]
tags = ["doors"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.fixture
def team(tmp_path: Path) -> Callable[..., CustomRules]:
    """Writes a file of rules and reads it."""

    def write(text: str = RULE, name: str = "team.toml") -> CustomRules:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return load_custom_rules([], [str(tmp_path / name)], str(tmp_path / "memories"))

    return write


def audit(folder: Folder, custom: CustomRules, *only: str, settings: AuditSettings | None = None) -> Audit:
    with memtui.open(folder.path, state=folder.state) as observer:
        return run_audit(observer, title="a", custom=custom, only=only or None, settings=settings or AuditSettings())


def told(found: Audit) -> list[tuple[str, str, int | None]]:
    return [(each.rule, each.location.path, each.location.line) for each in found.findings]


def test_a_secret_of_ones_own_is_found_and_no_report_shows_it(folder: Folder, team: Callable[..., CustomRules]) -> None:
    where = f"# Doors\n\nThe door takes {BADGE} after six.\n\n[map](map-{BADGE[5:]}.md)\n"
    folder.write({"doors.md": where, f"{BADGE}.md": "Nothing.\n"})
    found = audit(folder, team(), "secret", "dead-link")
    assert told(found) == [
        ("team/badge", f"{BADGE}.md", None),
        ("team/badge", "doors.md", 3),
        ("dead-link", "doors.md", 5),
    ]
    of_name, of_text, _ = found.findings
    assert (of_name.words, of_name.evidence) == ("A badge of Acme in the file name", "acme-****.md")
    assert (of_text.severity, of_text.evidence) == (Severity.FAIL, "The door takes acme-**** after six.")
    assert found.rules == len([*team().rules, *(rule for rule in list_rules().values() if rule.family == "secret")]) + 7
    for format in FORMATS:
        report = render_report(found, format, folder=str(folder.path), exit_code=1, everything=True)
        assert "team/badge" in report
        assert BADGE[5:] not in report.replace(f"{BADGE}.md", "").replace(f"{BADGE}%2Emd", "")


def test_a_place_that_a_rule_of_memtui_tells_is_told_once(folder: Folder, team: Callable[..., CustomRules]) -> None:
    key = make_sample("anthropic-key")
    folder.write({"keys.md": f"For staging: {key}\n", f"{key}.txt": "a\n"})
    custom = team(RULE.replace("acme-([0-9a-f]{12})", "sk-ant-[a-zA-Z0-9]{9}").replace('"acme-"', '"sk-"'))
    assert [each.rule for each in audit(folder, custom, "secret").findings] == ["anthropic-key"] * 2
    assert [each.rule for each in audit(folder, custom, "team/*").findings] == ["team/badge"] * 2
    off = AuditSettings(rules={"anthropic-key": "off"})
    assert [each.rule for each in audit(folder, custom, "secret", settings=off).findings] == ["team/badge"] * 2


def test_of_two_rules_of_ones_own_that_find_a_place_the_first_that_runs_tells_it(
    folder: Folder, team: Callable[..., CustomRules]
) -> None:
    folder.write({"a.md": f"{BADGE}\n"})
    custom = team(RULE + RULE.replace("badge", "other"))
    assert [each.rule for each in audit(folder, custom).findings if each.family == "secret"] == ["team/badge"]
    off = AuditSettings(rules={"team/badge": "off"})
    assert [each.rule for each in audit(folder, custom, "secret", settings=off).findings] == ["team/other"]


def test_a_rule_of_ones_own_is_set_excepted_and_baselined_like_any(
    folder: Folder, team: Callable[..., CustomRules]
) -> None:
    folder.write({"a.md": f"{BADGE}\n"})
    custom = team()
    (finding,) = audit(folder, custom, "team/badge").findings
    for settings in (
        AuditSettings(rules={"team/*": "warn"}),
        AuditSettings(rules={"team/badge": "warn"}),
    ):
        assert [each.severity for each in audit(folder, custom, "secret", settings=settings).findings] == ["warn"]
    excepted = AuditSettings(exemptions=(Exemption(rule="team/*", reason="it is a picture", path="a.md"),))
    assert audit(folder, custom, "secret", settings=excepted).findings == ()
    with memtui.open(folder.path, state=folder.state) as observer:
        assert (
            run_audit(observer, title="a", custom=custom, only=["secret"], baseline={finding.fingerprint}).findings
            == ()
        )


def test_a_rule_may_be_about_the_name_of_a_file(folder: Folder, team: Callable[..., CustomRules]) -> None:
    folder.write({"keys/store.jks": b"\xfe\xed\xfe\xed", "a.md": "b\n"})
    found = audit(folder, team("[[rules]]\nid = 'store'\ndescription = 'A key store.'\npath = '[.]jks$'\n"), "secret")
    assert [(each.rule, each.location.path, each.words) for each in found.findings] == [
        ("team/store", "keys/store.jks", "A key store")
    ]


def test_the_digest_is_over_what_stands_in_the_files(folder: Folder, team: Callable[..., CustomRules]) -> None:
    folder.write({"a.md": "b\n"})
    plain, first = audit(folder, NO_CUSTOM_RULES), audit(folder, team())
    assert len({plain.digest, first.digest, audit(folder, team(RULE + "# more\n")).digest}) == 3
    assert audit(folder, team()).digest == first.digest
    assert "rule_files" not in plain.settings
    assert first.settings["rule_files"] == "team.toml (1 rule)"
    assert plain.rules + 1 == first.rules


def test_what_is_not_used_fails_whatever_is_asked_for(folder: Folder, team: Callable[..., CustomRules]) -> None:
    folder.write({"a.md": f"{BADGE}\n"})
    custom = team(RULE + "[[rules]]\nid = 'bad'\nregex = '('\n")
    found = audit(folder, custom, "stale")
    (finding,) = found.findings
    assert (finding.rule, finding.family, finding.severity) == ("unused-rules", "coverage", Severity.FAIL)
    assert finding.words == "team.toml: the rule bad is not used: its regex cannot be read: missing ): ("
    assert not [check for check in found.passed if check.name == "coverage"]
    assert {each.rule for each in audit(folder, custom, "secret").findings} == {"unused-rules", "team/badge"}


def test_without_its_library_a_file_is_not_used_and_that_fails(
    folder: Folder, team: Callable[..., CustomRules], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    custom = team()
    assert custom.rules == ()
    (problem,) = custom.problems
    assert problem == ("team.toml is not used: its regexes need one more package: pip install 'memtui[rules]'.")
    assert [each.rule for each in audit(folder, custom, "secret").findings] == ["unused-rules"]


def test_a_note_with_more_matches_than_are_looked_at_is_told_and_still_masked(
    folder: Folder, team: Callable[..., CustomRules], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rule_matches, "_WORK", 50 * 2)
    badges = [f"acme-{number:012x}" for number in range(0x1A2B3C, 0x1A2B40)]
    folder.write({"a.md": "\n".join(badges) + "\n" * 700 + f"[x](gone-{badges[3]}.md)\n"})
    found = audit(folder, team(), "secret", "dead-link")
    assert ("left-out", "a.md", None) in told(found)
    report = render_report(found, "json", folder=str(folder.path), exit_code=1, everything=True)
    assert not [badge for badge in badges if badge in report]


def test_lines_that_a_run_dropped_are_masked_by_these_rules_too(
    folder: Folder, team: Callable[..., CustomRules], tmp_path: Path
) -> None:
    agent, cleaner = memtui.Agent("Claude"), memtui.Agent("memory consolidation")
    with memtui.open(folder.path, state=folder.state) as memory:
        for name in "abc":
            text = f"The door on floor {name * 3} takes the badge {BADGE} after six in the evening.\nMore.\n"
            memory.execute({"command": "create", "path": f"/memories/{name}.md", "file_text": text}, actor=agent)
        since = memory.get_head()[0]
        for name in "abc":
            memory.execute({"command": "create", "path": f"/memories/{name}.md", "file_text": "More.\n"}, actor=cleaner)
        inbox = build_inbox(memory, Review.read(tmp_path / "review"), since=since, rules=team().matcher)
    lost = [fact.text for run in inbox.runs for fact in run.lost]
    assert lost[:1] == ["The door on floor aaa takes the badge acme-**** after six in the evening."]


# Where the files may be


def test_a_file_in_the_memory_folder_is_refused(folder: Folder, tmp_path: Path) -> None:
    folder.write({"team.toml": RULE, "d/base.toml": RULE})
    (tmp_path / "link.toml").symlink_to(folder.path / "team.toml")
    for path in (folder.path / "team.toml", tmp_path / "link.toml"):
        with pytest.raises(RuleFileRefused, match="inside the memory folder, where an agent could write it"):
            load_custom_rules([str(path)], [], str(folder.path))
        custom = load_custom_rules([], [str(path)], str(folder.path))
        assert custom.rules == ()
        assert "inside the memory folder" in custom.problems[0]
    (tmp_path / "own.toml").write_text(f"[extend]\npath = 'memories/d/base.toml'\n{RULE.replace('badge', 'own')}")
    custom = load_custom_rules([str(tmp_path / "own.toml")], [], str(folder.path))
    assert [rule.id for rule in custom.rules] == ["own/own"]
    assert "what it extends, memories/d/base.toml, is not used: it is inside the memory folder" in custom.problems[0]


def test_a_file_that_is_named_and_cannot_be_used_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_files, "_MOST_BYTES", 100)
    os.mkfifo(tmp_path / "fifo.toml")
    for name, data, error, words in (
        ("gone.toml", None, RuleFileMissing, "cannot be read: no such file or directory"),
        ("fifo.toml", None, RuleFileUnusable, "not a regular file"),
        ("latin.toml", b"# a\n# \xe9\n", RuleFileUnusable, "not UTF-8 in line 2"),
        ("empty.toml", b"", RuleFileUnusable, r"no \[\[rules\]\]"),
        ("long.toml", b"#" * 101, RuleFileUnusable, "more than 100B"),
        ("-.toml", b"[[rules]]\nid = 'a'\nregex = 'b'\n", RuleFileUnusable, "its name needs a letter or a digit"),
    ):
        if data is not None:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(error, match=words):
            load_custom_rules([str(tmp_path / name)], [], None)
        (problem,) = load_custom_rules([], [str(tmp_path / name)], None).problems
        assert name in problem


def test_a_file_is_read_once_and_two_of_one_name_do_not_mix(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for path in ("team.toml", "sub/team.toml"):
        (tmp_path / path).write_text(RULE)
    one, other = str(tmp_path / "team.toml"), str(tmp_path / "sub" / "team.toml")
    custom = load_custom_rules([one], [one, other], None)
    assert [rule.id for rule in custom.rules] == ["team/badge"]
    (problem,) = custom.problems
    assert problem == "team.toml is not used: the rules of another file are called team/..., too. Rename it."


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], CustomRules]:
    """Reads the rules of a package that gives something."""

    class Point:
        name, dist = "acme", None

        def __init__(self, given: object) -> None:
            self.load = lambda: given

    def load(given: object) -> CustomRules:
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [Point(given)])
        return load_custom_rules([], [], None)

    return load


def test_a_package_brings_rules(package: Callable[[object], CustomRules], tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(RULE)
    for given in (RULE, lambda: RULE, RULE.encode(), str(file), file, lambda: file):
        custom = package(given)
        assert ([rule.id for rule in custom.rules], custom.problems) == (["acme/badge"], ())
    for given, words in (
        (lambda: 1 / 0, "the package failed: ZeroDivisionError: division by zero"),
        (5, "the package gives neither a path nor a text"),
        (
            f"[extend]\npath = 'a.toml'\n{RULE}",
            "the path is relative, but to no file",
        ),
    ):
        (problem,) = package(given).problems
        assert problem.startswith("the rules acme")
        assert words in problem


# What knows rules by their names


def test_names_of_ones_own_rules_are_known(team: Callable[..., CustomRules], tmp_path: Path) -> None:
    custom = team()
    assert is_known_rule("team/badge", custom)
    assert is_known_rule("team/*", custom)
    assert not is_known_rule("team/badge")
    assert suggest_rule("team/bagde", custom=custom) == "Did you mean team/badge?"
    (tmp_path / "config.toml").write_text("[audit.rules]\n'team/badge' = 'warn'\n'team/bagde' = 'off'\n")
    loaded = load_config(path=str(tmp_path / "config.toml"), environ={})
    (problem,) = find_rule_problems(loaded, custom)
    assert 'audit.rules names "team/bagde"' in problem.sentence


def test_a_report_knows_the_rules_of_its_audit(folder: Folder, team: Callable[..., CustomRules]) -> None:
    folder.write({"a.md": f"{BADGE}\n"})
    found = audit(folder, team())
    rule = find_rule("team/badge", found)
    assert rule is not None
    assert rule.why.startswith("The rule badge of team.toml. Whoever reads the note")
    assert find_rule("team/badge", None) is None
    (run,) = json.loads(render_report(found, "sarif", folder=str(folder.path), exit_code=1))["runs"]
    (described,) = [each for each in run["tool"]["driver"]["rules"] if each["id"] == "team/badge"]
    assert described["name"] == "SecretTeamBadge"
    assert described["properties"]["tags"] == ["security", "secret", "doors", "external/cwe/cwe-798"]
