"""The examples that rules give of themselves are true: each rule finds its bad one alone, and passes its good one."""

from pathlib import Path

import pytest

from memtui import opening
from memtui.audit.auditing import audit
from memtui.audit.families import hidden, planted, secret
from memtui.audit.findings import Finding
from memtui.audit.rule import Rule
from memtui.audit.rules import RULES
from memtui.core.audit_settings import AuditSettings

ON = AuditSettings(rules={"*": "on"})
TEXTS = (secret, hidden, planted)
NAMES = ("deceptive-name", "mixed-script-name", "spaced-name", "double-extension", "hidden-file")
"""Rules whose examples are names of files."""
PAIRS = ("twin-names",)
"""Rules whose examples are several names."""


def found_in(folder: Path) -> tuple[Finding, ...]:
    with opening.observe(folder, state=folder.parent / "state", look=False) as observer:
        return audit(observer, title="m", families=TEXTS, settings=ON).findings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "memories"
    path.mkdir()
    return path


def of_texts() -> list[Rule]:
    return [rule for family in TEXTS for rule in family.RULES if rule.id not in (*NAMES, *PAIRS)]


@pytest.mark.parametrize("rule", of_texts(), ids=lambda rule: rule.id)
def test_a_rule_finds_its_bad_example_alone_and_passes_its_good_one(rule: Rule, folder: Path) -> None:
    note = folder / "note.md"
    note.write_text(f"# A note\n\n{rule.bad}\n", encoding="utf-8")
    found = found_in(folder)
    assert {each.rule for each in found} == {rule.id}
    note.write_text(f"# A note\n\n{rule.good}\n", encoding="utf-8")
    assert rule.id not in {each.rule for each in found_in(folder)}


@pytest.mark.parametrize("rule", secret.RULES, ids=lambda rule: rule.id)
def test_nothing_of_a_secret_is_told_beyond_what_tells_its_kind(rule: Rule, folder: Path) -> None:
    (folder / "note.md").write_text(f"{rule.bad}\n", encoding="utf-8")
    for finding in found_in(folder):
        assert finding.masked is not None
        start, end = finding.masked
        value = (folder / "note.md").read_text(encoding="utf-8")[start:end]
        told = repr((finding.words, finding.evidence, finding.facts, finding.do))
        assert value not in told
        assert all(value[at : at + 8] not in told for at in range(1, len(value) - 7))
        assert all(line not in told for line in value.split("\n")[1:] if len(line) > 8)


@pytest.mark.parametrize("id", NAMES)
def test_a_rule_about_names_finds_its_bad_example_and_passes_its_good_one(id: str, folder: Path) -> None:
    (folder / RULES[id].bad).write_text("Nothing is wrong in here.\n", encoding="utf-8")
    assert id in {each.rule for each in found_in(folder)}
    (folder / RULES[id].bad).unlink()
    (folder / RULES[id].good).write_text("Nothing is wrong in here.\n", encoding="utf-8")
    assert id not in {each.rule for each in found_in(folder)}


@pytest.mark.parametrize("id", PAIRS)
def test_a_rule_about_several_names_finds_its_bad_example_and_passes_its_good_one(id: str, folder: Path) -> None:
    for example, is_found in ((RULES[id].bad, True), (RULES[id].good, False)):
        for name in example.split(", "):
            (folder / name).write_text(f"Nothing is wrong in {name}.\n", encoding="utf-8")
        if len(list(folder.iterdir())) < 2:
            pytest.skip("this file system takes names that differ by case for one")
        assert (id in {each.rule for each in found_in(folder)}) is is_found
        for path in folder.iterdir():
            path.unlink()
