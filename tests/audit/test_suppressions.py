"""What does not count: by somebody's word, with a reason and until a day, or because it was there before."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui import memory
from memtui.audit.model import Audit, Severity
from memtui.audit.runner import run_audit
from memtui.audit.suppressions import InvalidBaseline, build_baseline, matches_path, parse_baseline
from memtui.core.settings import AuditSettings, Exemption
from tests.audit.families import Words, rule
from tests.conftest import fill

FAMILY = Words((rule("todo", severity=Severity.FAIL), "TODO"), (rule("to-fix"), "FIXME"))
NOON = 1_780_000_000_000_000
"""2026-05-28, at 20:26 UTC."""
Look = Callable[..., Audit]


@pytest.fixture
def look(tmp_path: Path) -> Look:
    folder = fill(tmp_path / "memories", {"a.md": "TODO\nFIXME\n", "examples/b.md": "TODO\n"})

    def look(*exemptions: Exemption, **given: Any) -> Audit:
        rules = given.pop("rules", {})
        settings = AuditSettings(exemptions=exemptions, rules=rules)
        with memory.observe(folder, state=tmp_path / "state", look=False) as observer:
            return run_audit(observer, title="m", families=(FAMILY,), settings=settings, now_us=NOON, **given)

    return look


def told(found: Audit) -> list[tuple[str, str]]:
    return [(each.rule, each.location.path) for each in found.findings]


ALL = [("todo", "a.md"), ("todo", "examples/b.md"), ("to-fix", "a.md")]


def test_what_is_excepted_does_not_count_and_is_told_with_its_reason(look: Look) -> None:
    assert told(look()) == ALL
    found = look(Exemption(rule="todo", reason="of the manual", path="examples/**", until=date(2026, 12, 31)))
    assert told(found) == [ALL[0], ALL[2]]
    (excepted,) = found.excepted
    assert (excepted.finding.location.path, excepted.reason, excepted.until, excepted.by) == (
        "examples/b.md", "of the manual", "2026-12-31", "exemption",
    )  # fmt: skip


def test_rules_are_excepted_by_pattern_and_single_findings_by_fingerprint(look: Look) -> None:
    assert told(look(Exemption(rule="to*", reason="x"))) == []
    one = look().findings[1]
    found = look(Exemption(rule="*", fingerprint=one.fingerprint, reason="x"))
    assert told(found) == [ALL[0], ALL[2]]


def test_an_exemption_holds_on_its_last_day_and_not_after_it(look: Look) -> None:
    held = look(Exemption(rule="todo", reason="x", until=date(2026, 5, 28)))
    assert (told(held), held.expired) == ([ALL[2]], ())
    over = look(Exemption(rule="todo", reason="until the release", path="a.md", until=date(2026, 5, 27)))
    assert told(over) == [*ALL, ("expired-exemption", "")]
    finding = over.findings[-1]
    assert finding.severity is Severity.INFO
    assert finding.words == "the exemption of todo for a.md ended on 2026-05-27"
    assert finding.evidence == "until the release"
    assert over.expired == ("The exemption of todo for a.md ended on 2026-05-27: until the release",)


def test_an_expired_exemption_is_a_rule_like_others(look: Look) -> None:
    old = Exemption(rule="todo", reason="x", until=date(2020, 1, 1))
    assert told(look(old, rules={"expired-exemption": "off"})) == ALL
    first, second = (look(old).findings[-1].fingerprint for _ in range(2))
    assert first == second


def test_what_is_excepted_is_not_told_to_be_in_order(look: Look) -> None:
    everything = Exemption(rule="*", reason="x")
    assert not {"hidden"} & {each.name for each in look(everything).passed}
    assert not {"hidden"} & {each.name for each in look().passed}


def test_a_baseline_holds_what_was_there_and_not_what_is_new(look: Look, tmp_path: Path) -> None:
    before = look()
    kept = parse_baseline(build_baseline(before.findings).encode(), "b")
    found = look(baseline=kept)
    assert not found.findings
    assert {each.by for each in found.excepted} == {"baseline"}
    (tmp_path / "memories" / "a.md").write_text("new\nTODO\nFIXME\nTODO\n")
    assert told(look(baseline=kept)) == [("todo", "a.md")]


def test_a_baseline_is_the_same_bytes_for_the_same_findings(look: Look) -> None:
    found = look().findings
    assert build_baseline(found) == build_baseline(tuple(reversed(found)) + found)
    held = json.loads(build_baseline(found))
    assert (held["schema"], held["kind"]) == (1, "memtui baseline")
    assert {row["rule"] for row in held["findings"]} == {"todo", "to-fix"}


@pytest.mark.parametrize(
    "data",
    [
        b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"kind": "memtui baseline", "schema": 1}',
        b'{"kind": "memtui baseline", "schema": 1, "findings": [{}]}',
        b'{"kind": "memtui baseline", "schema": 1, "findings": [{"fingerprint": 3}]}',
        b'{"kind": "memtui baseline", "schema": 2, "findings": []}', b'{"kind": "memtui review", "schema": 1}',
    ],
)  # fmt: skip
def test_what_is_no_baseline_is_refused_with_a_sentence(data: bytes) -> None:
    with pytest.raises(InvalidBaseline, match=r"^b\.json is .*Nothing was audited\."):
        parse_baseline(data, "b.json")


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        ("a.md", "**", True),
        ("", "**", True),
        ("a.md", "a.md", True),
        ("x/a.md", "a.md", True),
        ("x/a.md", "/x/a.md", True),
        ("x/a.md", "y/a.md", False),
        ("x/y/a.md", "x/**", True),
        ("x", "x/**", True),
        ("xy/a.md", "x/**", False),
        ("x/y/a.md", "x/*", False),
        ("x/a.md", "x/*", True),
        ("x/y/z/a.md", "x/**/a.md", True),
        ("x/a.md", "x/**/a.md", True),
        ("a.md", "?.md", True),
        ("ab.md", "?.md", False),
        ("x/notes.md", "*.md", True),
        ("a+b(1).md", "a+b(1).md", True),
        ("a\nb.md", "*.md", True),
        ("caf\udce9.md", "*.md", True),
    ],
)
def test_paths_are_named_by_patterns(path: str, pattern: str, fits: bool) -> None:
    assert matches_path(path, pattern) is fits


@given(st.text(alphabet="a/*?.[]()\\", max_size=12), st.text(alphabet="a/.", max_size=12))
def test_any_pattern_can_be_asked(pattern: str, path: str) -> None:
    assert matches_path(path, pattern) in (True, False)
    literal = path.strip("/")
    if literal and "//" not in literal:
        assert matches_path(literal, literal)
