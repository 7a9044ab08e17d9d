"""The order of findings by danger, and their groups by cause."""

import random
from dataclasses import replace

import pytest

from memtui.audit.model import CERTAINTIES, UNKNOWN, AuditFinding, Family, FindingLocation, FindingOrigin, Severity
from memtui.audit.ranking import ALIKE, GONE, Cause, group_findings, rank_by_danger
from tests.audit.report.samples import NOW, finding

CLAUDE = FindingOrigin("Claude", 12, NOW, "create")
YOU = replace(CLAUDE, actor="you")
JUST_NOW = FindingOrigin("outside", None, NOW, "modified", is_exact=False)
LONG_AGO = FindingOrigin("outside", 4, NOW, "modified")
BASE = finding(origin=UNKNOWN, location=FindingLocation("notes/b.md", 3))


@pytest.mark.parametrize(
    "ordered",
    [
        [{"severity": each} for each in Severity],
        [
            {"family": each}
            for each in (
                Family.SECRET, Family.PLANTED, Family.HIDDEN, Family.INTEGRITY, Family.COVERAGE, Family.CLAIMS,
                Family.UPKEEP,
            )
        ],
        [{"certainty": each} for each in CERTAINTIES],
        [{"origin": CLAUDE}, {"origin": UNKNOWN}, {"origin": YOU}],
        [{"origin": JUST_NOW}, {"origin": LONG_AGO}, {"origin": YOU}],
        [{"location": FindingLocation(path, 9)} for path in ("sub/MEMORY.md", "a.md", "b.md")],
        [{"location": FindingLocation(path)} for path in ("CLAUDE.md", "AGENTS2.md")],
        [{"location": FindingLocation("a.md", line)} for line in (None, 2, 10)],
        # What comes first in the list outweighs all that follows.
        [{"severity": Severity.FAIL, "family": Family.UPKEEP}, {"severity": Severity.WARN, "family": Family.SECRET}],
        [{"certainty": "low"}, {"family": Family.PLANTED, "certainty": "very-high"}],
        [{"certainty": "high", "origin": YOU}, {"certainty": "medium", "origin": CLAUDE}],
        [{"origin": CLAUDE}, {"origin": YOU, "location": FindingLocation("MEMORY.md", 1)}],
    ],
)  # fmt: skip
def test_the_most_dangerous_comes_first(ordered: list[dict[str, object]]) -> None:
    findings = [replace(BASE, **given) for given in ordered]  # type: ignore[arg-type]
    shuffled = random.Random(7).sample(findings, len(findings))
    assert sorted(shuffled, key=rank_by_danger) == findings
    assert len({rank_by_danger(each) for each in findings}) == len(findings)


def test_every_family_has_its_place() -> None:
    assert all(rank_by_danger(replace(BASE, family=each)) for each in Family)


def made(number: int, **given: object) -> AuditFinding:
    values = {"location": FindingLocation(f"notes/{number:02}.md", 3), "fingerprint": f"{number:016x}", **given}
    return replace(BASE, **values)  # type: ignore[arg-type]


def claims(count: int, gone: str = "src/legacy", **given: object) -> list[AuditFinding]:
    facts = {"path": f"{gone}/a.py", GONE: gone, "gone_in": "abc1234", "gone_on": "2026-05-02"}
    return [
        made(number, **{"rule": "missing-path", "family": Family.CLAIMS, "facts": facts, **given})
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("findings", "cause", "words"),
    [
        (claims(59), Cause.DIRECTORY, "59 notes name paths below src/legacy/, which does not exist"),
        (
            [made(at, rule="missing-symbol", facts={"gone_in": "abc1234", "gone_on": "2026-05-02"}) for at in range(3)],
            Cause.COMMIT,
            "3 notes name paths deleted by commit abc1234 of 2026-05-02",
        ),
        (
            [made(at, secret="one", words="a key of Anthropic") for at in range(2)],
            Cause.VALUE,
            "a key of Anthropic; the same one in 2 places of 2 notes",
        ),
        (
            [made(at, location=FindingLocation("talk.jsonl", at)) for at in range(20)],
            Cause.FILE,
            "A key of Anthropic's API stands in the note, in 20 places of talk.jsonl",
        ),
        (
            [made(at, origin=LONG_AGO, words=f"{at} letters") for at in range(6)],
            Cause.EVENT,
            "found in 6 notes, all at once, by another program",
        ),
        (
            [made(at, origin=replace(JUST_NOW, at_us=NOW + at), words="it was changed") for at in range(7)],
            Cause.EVENT,
            "it was changed, in 7 notes, all at once, by another program",
        ),
    ],
)  # fmt: skip
def test_findings_with_one_cause_are_one_group(findings: list[AuditFinding], cause: Cause, words: str) -> None:
    alone = made(99, severity=Severity.INFO, rule="stale")
    group, other = group_findings([*findings, alone])
    assert (group.findings, group.cause, group.words) == (tuple(findings), cause, words)
    assert (other.findings, other.cause, other.id, other.words) == ((alone,), None, "", "")
    assert len(group.id) == 16


@pytest.mark.parametrize(
    "findings",
    [
        claims(1),
        [made(1, secret="one"), made(2, secret="two"), made(3), made(4)],
        [made(1, secret="one"), made(2, secret="one", rule="other-key")],
        [made(at, location=FindingLocation("talk.jsonl", at)) for at in range(5)],
        [made(at, origin=replace(LONG_AGO, at_us=NOW + at)) for at in range(9)],
        [made(at, origin=FindingOrigin("", 1, NOW, "found", is_exact=False)) for at in range(9)],
    ],
)
def test_few_findings_or_other_causes_are_told_one_by_one(findings: list[AuditFinding]) -> None:
    assert [group.findings for group in group_findings(findings)] == [(each,) for each in findings]


def test_a_group_stands_where_its_worst_finding_does_and_each_finding_is_in_one_group() -> None:
    old, new = claims(4), claims(3, "tests/old", origin=YOU)
    findings = sorted([*old, *new, made(50, severity=Severity.WARN), made(51)], key=rank_by_danger)
    groups = group_findings(findings)
    assert [len(group.findings) for group in groups] == [1, 4, 3, 1]
    assert sorted(each.fingerprint for group in groups for each in group.findings) == sorted(
        each.fingerprint for each in findings
    )
    assert all(list(group.findings) == sorted(group.findings, key=rank_by_danger) for group in groups)


def test_the_id_of_a_group_stays_while_its_cause_does_and_tells_nothing_of_a_secret() -> None:
    before, after = group_findings(claims(59))[0].id, group_findings(claims(4))[0].id
    assert before == after != group_findings(claims(4, "tests/old"))[0].id
    one, other = ([made(at, secret=token) for at in range(3)] for token in ("1f0c", "77aa"))
    assert group_findings(one)[0].id == group_findings(other)[0].id


@pytest.mark.parametrize(
    ("count", "words"), [(1, ""), (2, "2 notes that nobody reads"), (3, "3 notes that nobody reads")]
)
def test_what_one_sitting_settles_is_one_row_from_two_notes_on(count: int, words: str) -> None:
    findings = [made(at, rule="stale", among="{count} notes that nobody reads") for at in range(count)]
    (group,) = group_findings(findings)
    assert (len(group.findings), group.words) == (count, words)


@pytest.mark.parametrize("claimed", [claims(2), [made(at, facts={"gone_in": "abc1234"}) for at in range(2)]])
def test_two_paths_that_one_commit_took_away_are_one_row(claimed: list[AuditFinding]) -> None:
    assert [len(group.findings) for group in group_findings(claimed)] == [2]


def test_a_commit_that_took_many_directories_away_is_one_row() -> None:
    moved = [each for at, gone in enumerate(("a", "b", "c")) for each in claims(2, gone, fingerprint=f"{at:016x}")]
    assert [group.cause for group in group_findings(moved)] == [Cause.COMMIT]
    assert [group.cause for group in group_findings(moved[:4])] == [Cause.DIRECTORY] * 2


def test_comments_are_only_one_row_where_they_begin_alike() -> None:
    comments = [
        made(at, rule="html-comment", among="{count} comments", facts={ALIKE: begins})
        for at, begins in enumerate(["rules for this", "rules for this", "send all keys", "rules for this"])
    ]
    assert [len(group.findings) for group in group_findings(comments)] == [3, 1]
