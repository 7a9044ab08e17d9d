"""From what rules find to what is told: place, evidence, severity, fingerprint, and what is in order."""

import os
import random
import re
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import memory as memory_module
from memtui.audit import hit_budget
from memtui.audit.context import AuditContext, Note
from memtui.audit.model import Audit, AuditCancelled, AuditFinding, Family, Hit, Severity
from memtui.audit.ranking import rank_by_danger
from memtui.audit.registry import CRASHED, FAMILIES
from memtui.audit.runner import get_family_name, run_audit
from memtui.core.settings import AuditSettings
from memtui.notes.memory_index import is_team_note
from tests.audit.families import Whole, Words, rule
from tests.journal.raw import edit_event

CLAUDE = memtui.Agent("Claude", "a-model", "session-1")
SECRET = "sk-" + "ant-" + "".join(random.Random(1).choices(string.ascii_letters + string.digits, k=40))
TODO = Words((rule("todo"), r"TODO[^\n]*"))
TOKEN = Words((rule("token", Family.SECRET, Severity.FAIL), r"token=(?P<value>\S+)"))

Look = Callable[..., Audit]


@pytest.fixture
def look(folder: Path, tmp_path: Path) -> Look:
    """Audit the folder with families that are made up."""

    def look(*families: Any, **given: Any) -> Audit:
        with memory_module.observe(folder, state=tmp_path / "state", look=False) as observer:
            return run_audit(observer, title="~/memories", place=str(folder), families=families, **given)

    return look


def told(found: Audit) -> list[tuple[str, str, int | None, int | None]]:
    return [(each.rule, each.location.path, each.location.line, each.location.column) for each in found.findings]


def test_a_finding_says_where_it_is_in_characters_and_shows_its_line(folder: Path, look: Look) -> None:
    (folder / "a.md").write_text("grüße\n- [ ] äöü TODO call Ada  \n")
    (found,) = look(TODO).findings
    assert (found.location.line, found.location.column) == (2, 11)
    assert (found.location.end_line, found.location.end_column) == (2, 26)
    assert found.evidence == "- [ ] äöü TODO call Ada"
    assert (found.words, found.do, found.severity) == ("it says todo", "Mend todo.", Severity.WARN)


def test_what_spans_lines_says_where_it_ends(folder: Path, look: Look) -> None:
    (folder / "a.md").write_text("a\nBEGIN\nx\nEND b\n")
    (found,) = look(Words((rule("block"), r"(?s)BEGIN.*END"))).findings
    assert (found.location.line, found.location.column) == (2, 1)
    assert (found.location.end_line, found.location.end_column) == (4, 4)


def test_findings_stand_by_severity_then_path_then_line(folder: Path, look: Look) -> None:
    (folder / "b.md").write_text("TODO\n\nFIXME\n")
    (folder / "a.md").write_text("x\nTODO\nTODO\n")
    family = Words((rule("todo"), "TODO"), (rule("fixme", severity=Severity.FAIL), "FIXME"))
    found = look(family)
    assert [(path, line) for _, path, line, _ in told(found)] == [("b.md", 3), ("a.md", 2), ("a.md", 3), ("b.md", 1)]
    assert list(found.findings) == sorted(found.findings, key=rank_by_danger)


def test_a_secret_is_masked_in_evidence_words_and_facts(folder: Path, look: Look) -> None:
    (folder / "a.md").write_text("user=ada token=hunter22secret\n")

    def leaky(subject: AuditContext) -> Iterator[Hit]:
        del subject
        yield Hit(
            rule="leaky",
            path="a.md",
            words="it is hunter22secret",
            evidence="token=hunter22secret",
            facts={"v": SECRET},
        )

    found = look(TOKEN, Whole(rule("leaky"), leaky))
    assert [each.evidence for each in found.findings] == ["user=ada token=****", "token=****"]
    assert found.findings[0].masked == (15, 29)
    assert found.findings[1].words == "it is ****"
    assert found.findings[1].facts == {"v": "sk-ant****"}


def test_a_secret_is_masked_in_what_another_rule_shows_of_its_line(folder: Path, look: Look) -> None:
    (folder / "a.md").write_text(f"TODO rotate {SECRET} soon\n")
    (found,) = look(TODO).findings
    assert found.evidence == "TODO rotate sk-ant**** soon"
    assert SECRET not in repr(found)


def test_what_a_secret_rule_masks_is_masked_in_what_a_rule_of_its_family_shows(folder: Path, look: Look) -> None:
    (folder / "a.md").write_text("token=hunter22secret\n")
    family = Words(
        (rule("token", Family.SECRET), r"token=(?P<value>\S+)"), (rule("word", Family.HIDDEN), "hunter[^\n]*")
    )
    assert [each.evidence for each in look(family).findings] == ["token=****", "token=****"]


def test_of_secrets_that_overlap_the_rule_that_stands_first_is_told(folder: Path, look: Look) -> None:
    (folder / "a.md").write_text("token=acme_12345678 other=x\n")
    special = rule("acme", Family.SECRET), "acme_[0-9]+"
    general = rule("assigned", Family.SECRET), r"\w+=(?P<value>\S+)"
    assert [(name, column) for name, _, _, column in told(look(Words(special, general)))] == [
        ("acme", 7),
        ("assigned", 21),
    ]


def test_what_is_found_twice_is_told_once(folder: Path, look: Look) -> None:
    (folder / "a.md").write_text("TODO\n")
    twice = rule("todo")
    assert len(look(Words((twice, "TODO"), (twice, "TODO"))).findings) == 1


def fingerprints(found: Audit) -> list[str]:
    return [each.fingerprint for each in found.findings]


def test_a_fingerprint_stays_when_lines_move(folder: Path, look: Look) -> None:
    note = folder / "a.md"
    note.write_text("TODO call Ada\nx\nTODO call Bob\n")
    before = fingerprints(look(TODO))
    note.write_text("new\n\n   TODO call Ada\ny\nz\nTODO  call Bob\n")
    assert fingerprints(look(TODO)) == before
    assert len(set(before)) == 2
    assert all(len(each) == 16 and int(each, 16) >= 0 for each in before)


def test_what_is_the_same_in_one_note_is_told_apart_by_its_order(folder: Path, look: Look) -> None:
    (folder / "a.md").write_text("TODO\nTODO\n")
    (folder / "b.md").write_text("TODO\n")
    assert len(set(fingerprints(look(TODO)))) == 3


def test_a_fingerprint_tells_nothing_of_a_secret(folder: Path, look: Look) -> None:
    note = folder / "a.md"
    note.write_text("ada token=hunter22\n")
    before = fingerprints(look(TOKEN))
    note.write_text("ada token=tr0ub4dor&3xxxxxxx\n")
    assert fingerprints(look(TOKEN)) == before
    note.write_text("bob token=hunter22\n")
    assert fingerprints(look(TOKEN)) != before


def test_a_fingerprint_tells_nothing_of_a_secret_beside_what_was_found(folder: Path, look: Look) -> None:
    note = folder / "a.md"
    note.write_text(f"TODO rotate {SECRET}\n")
    before = fingerprints(look(TODO))
    note.write_text(f"TODO rotate {SECRET[:-1]}Z\n")
    assert fingerprints(look(TODO)) == before


def test_rules_can_be_switched_and_tuned(folder: Path, look: Look) -> None:
    (folder / "a.md").write_text("one two three\n")
    family = Words(
        (rule("one"), "one"), (rule("two", severity=Severity.INFO), "two"), (rule("three", is_on=False), "three")
    )
    plain = look(family)
    assert {each.rule: each.severity.value for each in plain.findings} == {"one": "warn", "two": "info"}
    assert [(each.rule, each.reason) for each in plain.skipped] == [("three", "off by default")]
    tuned = look(family, settings=AuditSettings(rules={"*": "info", "one": "off", "three": "fail"}))
    assert {each.rule: each.severity.value for each in tuned.findings} == {"two": "info", "three": "fail"}
    assert [(each.rule, each.reason) for each in tuned.skipped] == [("one", "off")]
    asked = look(family, only=["three"])
    assert [each.rule for each in asked.findings] == ["three"]
    assert {each.reason for each in asked.skipped} == {"not asked for"}
    assert [each.rule for each in look(family, only=["hidden"]).findings] == ["one", "two"]
    assert [each.rule for each in look(family, only=["t*"]).findings] == ["two"]


def test_the_digest_is_that_of_the_rules_and_how_they_are_set(folder: Path, look: Look) -> None:
    plain = look(TODO).digest
    (folder / "a.md").write_text("TODO\n")
    assert look(TODO).digest == plain
    others = {
        look(TODO, settings=AuditSettings(rules={"todo": "fail"})).digest,
        look(TODO, settings=AuditSettings(stale_days=3)).digest,
        look(TODO, TOKEN).digest,
    }
    assert len(others | {plain}) == 4


def test_a_rule_that_needs_a_repository_waits_for_one(look: Look, tmp_path: Path) -> None:
    family = Words((rule("claim", Family.CLAIMS, needs="--repo"), "x"))
    assert [(each.rule, each.reason) for each in look(family).skipped] == [("claim", "needs --repo DIR")]
    assert not look(family, repo=str(tmp_path)).skipped


class Broken:
    """A family with a bug."""

    __name__ = "tests.broken"
    RULES = (rule("bug"),)

    def check_note(self, note: Note, subject: AuditContext) -> Iterator[Hit]:
        del subject
        if "TODO" in (note.text or ""):
            raise ZeroDivisionError("sk-ant-secret of the note")
        yield from ()


def test_a_family_that_breaks_down_hides_nothing_and_is_a_finding(folder: Path, look: Look) -> None:
    for name in "abc":
        (folder / f"{name}.md").write_text("TODO\n")
    found = look(Broken(), TODO)
    assert [each.rule for each in found.findings] == [CRASHED, "todo", "todo", "todo"]
    first = found.findings[0]
    assert (first.severity, first.location.path) == (Severity.FAIL, "a.md")
    assert first.words == "the broken rules failed in 3 notes: ZeroDivisionError"
    assert "secret of the note" not in repr(first)
    assert not found.passed


@pytest.mark.parametrize("files", [1, 60])
def test_what_is_too_much_to_tell_is_counted_and_a_finding(folder: Path, look: Look, files: int) -> None:
    for number in range(files):
        (folder / f"{number:02}.md").write_text("TODO\n")
    many = 3 * hit_budget.IN_FILE
    hits = [Hit(rule="many", path=f"{number:02}.md", words=f"a {at}") for number in range(files) for at in range(many)]
    found = look(Whole(rule("many"), lambda _: hits))
    told = [each for each in found.findings if each.rule == "many"]
    left = [each for each in found.findings if each.rule == hit_budget.LEFT_OUT]
    assert len(told) == min(files * hit_budget.IN_FILE, hit_budget.OF_RULE)
    assert len(told) + sum(int(each.facts["count"]) for each in left) == len(hits)
    assert len(left) <= 51
    assert not found.passed


def test_a_note_at_which_a_family_did_not_look_to_its_end_is_a_finding(
    folder: Path, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hit_budget, "_LOOKED_AT", 3)
    (folder / "a.md").write_text("TODO\n" * 9)
    found = look(TODO)
    (left,) = (each for each in found.findings if each.rule == hit_budget.LEFT_OUT)
    assert (left.location.path, left.words) == ("a.md", "the words rules did not check all of it: it is too large")
    assert not found.passed


def test_the_time_before_the_first_hit_does_not_count_against_what_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 100.5, 110.0])
    monkeypatch.setattr(hit_budget.time, "process_time", lambda: next(clock))
    budget = hit_budget.HitBudget("words", {"many": rule("many")})
    hits = [Hit(rule="many", path="", words=f"a {at}") for at in range(40)]
    assert len(list(budget.limit(iter(hits), ""))) == 16  # the third look at the clock is behind sixteen hits
    assert budget.is_over


def test_a_hit_of_no_rule_is_a_bug_and_told_as_one(look: Look) -> None:
    found = look(Whole(rule("known"), lambda _: [Hit(rule="unknown", path="", words="x")]))
    assert [each.rule for each in found.findings] == [CRASHED]


def test_an_audit_can_be_given_up(folder: Path, look: Look) -> None:
    (folder / "a.md").write_text("TODO\n")
    with pytest.raises(AuditCancelled):
        look(TODO, stop=lambda: True)
    asked: list[int] = []

    def later() -> bool:
        asked.append(1)
        return len(asked) > 3

    with pytest.raises(AuditCancelled):
        look(TODO, stop=later)


def test_it_is_told_how_far_it_is_and_what_was_found_family_by_family(folder: Path, look: Look) -> None:
    for number in range(130):
        (folder / f"{number:03}.md").write_text("TODO\n")
    steps: list[tuple[str, int, int]] = []
    groups: list[set[str]] = []
    look(
        TODO,
        Words((rule("end"), "DO$")),
        progress=lambda *step: steps.append(step),
        found=lambda some: groups.append({each.rule for each in some}),
    )
    assert ("read", 64, 130) in steps
    assert [step for step in steps if step[0] == "words"][:3] == [
        ("words", 0, 130),
        ("words", 64, 130),
        ("words", 128, 130),
    ]
    assert groups == [{"todo"}, {"end"}]


def test_seconds_are_told_for_every_family(look: Look) -> None:
    found = look(TODO)
    assert set(found.seconds) == {"read", "journal", "words"}
    assert all(value >= 0 for value in found.seconds.values())


def test_files_that_are_no_text_are_read_too_and_links_are_not_followed(
    folder: Path, look: Look, tmp_path: Path
) -> None:
    (tmp_path / "outside.md").write_text("TODO\n")
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    (folder / "inside.md").symlink_to("a.md")
    (folder / "a.md").write_bytes(b"\xff TODO")
    os.mkfifo(folder / "pipe")
    os.symlink("nowhere", folder / "gone")
    os.symlink("loop", folder / "loop")
    (folder / "empty").mkdir()
    subjects: list[AuditContext] = []

    def keep(subject: AuditContext) -> Iterator[Hit]:
        subjects.append(subject)
        yield from ()

    found = look(Whole(rule("keep"), keep))
    (subject,) = subjects
    assert list(subject.notes) == ["a.md"]
    assert subject.notes["a.md"].text == "\u00ff TODO"
    assert subject.others["link.md"].leaves_folder
    assert subject.others["inside.md"].target == "a.md"
    assert not subject.others["inside.md"].is_dangling
    assert subject.others["gone"].is_dangling
    assert subject.others["loop"].is_dangling
    assert subject.others["pipe"].what == "a FIFO"
    assert not subject.others["empty"].problem
    assert (found.files, found.bytes) == (1, 6)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_what_may_not_be_read_is_told_and_hides_nothing(folder: Path, look: Look) -> None:
    (folder / "closed.md").write_text("TODO\n")
    (folder / "closed.md").chmod(0)
    (folder / "room").mkdir()
    (folder / "room" / "a.md").write_text("TODO\n")
    (folder / "room").chmod(0)
    (folder / "open.md").write_text("TODO\n")
    subjects: list[AuditContext] = []
    try:
        found = look(TODO, Whole(rule("keep"), lambda subject: subjects.append(subject) or ()))
    finally:
        (folder / "room").chmod(0o700)
    assert [each.location.path for each in found.findings] == ["open.md"]
    assert subjects[0].notes["closed.md"].problem == "It cannot be read: permission denied."
    assert subjects[0].others["room"].problem == "It cannot be read: permission denied."


def test_files_over_the_limit_are_not_read_and_say_so(folder: Path, look: Look) -> None:
    (folder / "a.md").write_text("x" * 5_000)
    subjects: list[AuditContext] = []
    look(
        Whole(rule("keep"), lambda subject: subjects.append(subject) or ()),
        memory=memtui.Settings(max_read_bytes=1_000),
    )
    note = subjects[0].notes["a.md"]
    assert (note.data, note.size) == (None, 5_000)
    assert note.problem == "It has 4.9K, over the limit of 1000B for reading."


def test_hard_links_are_counted(folder: Path, look: Look, tmp_path: Path) -> None:
    (folder / "a.md").write_text("x")
    os.link(folder / "a.md", tmp_path / "other")
    subjects: list[AuditContext] = []
    look(Whole(rule("keep"), lambda subject: subjects.append(subject) or ()))
    assert subjects[0].notes["a.md"].links == 2


def test_the_journal_is_told_with_its_head(folder: Path, look: Look, tmp_path: Path) -> None:
    assert look(TODO).chain.state == "none"
    with memtui.open(folder, state=tmp_path / "state") as memory:
        memory.execute({"command": "create", "path": "/memories/a.md", "file_text": "x"}, actor=CLAUDE)
        memory.execute({"command": "view", "path": "/memories/../x"}, actor=CLAUDE)
        head = memory.get_head()
    (folder / "b.md").write_text("from elsewhere")
    found = look(TODO)
    assert (found.chain.seq, found.chain.hash) == head
    assert (found.chain.state, found.chain.words) == ("intact", f"intact, {head[0]} of {head[0]} events")
    assert found.events == head[0]
    assert found.actors == {"Claude": 2}
    assert found.refused == 1


def test_a_chain_that_is_broken_is_told(folder: Path, look: Look, tmp_path: Path) -> None:
    with memtui.open(folder, state=tmp_path / "state") as memory:
        for number in range(3):
            memory.execute({"command": "create", "path": f"/memories/{number}.md", "file_text": "x"}, actor=CLAUDE)
    edit_event(tmp_path / "state", 2, b"Claude", b"Robert")
    chain = look(TODO).chain
    assert chain.state == "broken"
    assert "event 2" in chain.words


def test_nothing_in_the_folder_or_its_state_is_changed(folder: Path, look: Look, tmp_path: Path) -> None:
    with memtui.open(folder, state=tmp_path / "state") as memory:
        memory.execute({"command": "create", "path": "/memories/a.md", "file_text": SECRET}, actor=CLAUDE)
    (folder / "b.md").write_text("from elsewhere")

    def snapshot() -> list[tuple[str, int, int, bytes]]:
        return sorted(
            (str(path), path.lstat().st_mtime_ns, path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
            for top in (folder, tmp_path / "state")
            for path in (top, *top.rglob("*"))
        )

    before = snapshot()
    look(TODO, TOKEN)
    look(*FAMILIES)
    assert snapshot() == before


def test_what_is_in_order_is_told_in_a_few_words(folder: Path, look: Look) -> None:
    (folder / "a.md").write_text("# A note\n\nAll is well in here.\n" * 200)
    (folder / "b.json").write_text('{"phase": "build"}\n')
    passed = {each.name: each.words for each in look(*FAMILIES).passed}
    assert passed["paths"] == "no link among 2 names leaves /memories"
    assert passed["format"] == "2 of 2 files are text, 1 with a syntax parse"
    assert passed["size"] == "largest of 2 files 6.1 KB, limit 977 KB"
    assert passed["secrets"] == "none known in 2 files"
    (folder / "b.json").write_text('{"phase": \n')
    (folder / "link").symlink_to("/elsewhere")
    assert not {"paths", "format"} & {each.name for each in look(*FAMILIES).passed}


def test_every_check_that_is_in_order_says_what_it_counted(folder: Path, tmp_path: Path, look: Look) -> None:
    notes = {
        f"n{number}.md": f"# Note {number}\n\nSee [the next](n{number + 1}.md) and [[n0]].\n" for number in range(9)
    }
    index = "".join(f"- [Note {number}](n{number}.md)\n" for number in range(9))
    for name, text in {
        **notes,
        "n9.md": "The last of all the notes.\n",
        "MEMORY.md": f"{index}- [Last](n9.md)\n",
    }.items():
        (folder / name).write_text(text)
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "main.py").write_text("pass\n")
    for repo in (None, str(tmp_path / "repo")):
        audit = look(*FAMILIES, repo=repo)
        assert len(audit.passed) > 8
        assert {each.name for each in audit.passed if not re.search(r"\d", each.words)} == set()
    passed = {each.name: each.words for each in audit.passed}
    assert passed["links"] == "28 working links in 11 notes"
    assert passed["index"] == "10 lines of MEMORY.md load, 10 entries checked"


@pytest.mark.parametrize(
    ("rule", "reason", "settings"),
    [
        ("stale", "stale_days is 0", {"stale_days": 0}),
        ("stale", "without a journal it is unknown what was read", {}),
        ("near-duplicate", "near_duplicate is 0", {"near_duplicate": 0.0}),
        ("long-index", "there is no MEMORY.md", {}),
    ],
)
def test_a_check_that_could_not_run_says_why(
    rule: str, reason: str, settings: dict[str, Any], folder: Path, look: Look
) -> None:
    (folder / "a.md").write_text("All is well in here.\n")
    audit = look(*FAMILIES, settings=AuditSettings(**settings))
    assert (rule, reason) in {(each.rule, each.reason) for each in audit.skipped}
    assert (
        not {"stale", "duplicates", "index"} & {each.name for each in audit.passed} & {rule.rsplit("-", maxsplit=1)[-1]}
    )


@pytest.mark.parametrize("entry", ["[T](topics/t1.md)", "[T](./topics/t1.md)", "[[t1.md]]", "@topics/t1.md"])
def test_an_entry_of_the_index_into_a_directory_that_is_not_there_is_missing(
    entry: str, folder: Path, look: Look
) -> None:
    (folder / "a.md").write_text("All is well in here.\n")
    (folder / "MEMORY.md").write_text(f"- [A](a.md)\n- {entry}\n")
    audit = look(*FAMILIES)
    assert "index-entry-missing" in {each.rule for each in audit.findings}
    assert "index" not in {each.name for each in audit.passed}


def test_no_advice_deletes_a_note_of_a_team(folder: Path, look: Look) -> None:
    (folder / "MEMORY.md").write_text("- [A](a.md)\n- [B](b.md)\n")
    own = {"a.md": "# A\n\nThe service listens on port 8080 of the host.\n", "b.md": "See [[nothing]].\n"}
    theirs = {**own, "e.md": "", "c.md": "[x](gone.md) is not there\n", "long.md": "word " * 18_000}
    for name, text in own.items():
        (folder / name).write_text(text)
    for mount, index in (("platform", ""), ("web", "- [A](a.md)\n- [B](b.md)\n- [E](e.md)\n- [C](c.md)\n")):
        (folder / "team" / mount).mkdir(parents=True)
        for name, text in theirs.items():
            (folder / "team" / mount / name).write_text(text)
            os.utime(folder / "team" / mount / name, (1_500_000_000, 1_500_000_000))
        if index:
            (folder / "team" / mount / "MEMORY.md").write_text(index)
    findings = [each for each in look(*FAMILIES).findings if is_team_note(each.location.path) or "of" in each.facts]
    assert {"duplicate", "empty-note", "dead-link", "long-note", "not-in-index"} <= {each.rule for each in findings}
    for each in findings:
        assert not re.search(r"\b(?:let it go|delet|prune|take it out)", each.do), each
        assert "may affect everybody" in each.do
    unlisted = {each.location.path for each in findings if each.rule == "not-in-index"}
    assert unlisted == {"team/web/long.md"}  # by its own index only
    assert "stale" not in {each.rule for each in findings}


def test_a_link_that_was_not_judged_is_not_told_to_lead_somewhere(folder: Path, look: Look) -> None:
    (folder / "a.md").write_text("See [code](src/main.md), [b](b.md) and https://example.org/.\n")
    (folder / "b.md").write_text("All is well in here.\n")
    passed = {each.name: each.words for each in look(*FAMILIES).passed}
    assert passed["links"] == (
        "1 working link in 2 notes; 1 out of the folder or to an unknown name: not checked; 1 address not checked"
    )


def test_what_was_not_looked_at_is_not_told_to_be_in_order(folder: Path, look: Look) -> None:
    (folder / "a.md").write_text("All is well in here.\n")
    assert {each.name for each in look(*FAMILIES, only=["secret"]).passed} == {"coverage", "secrets"}
    settings = AuditSettings(rules={"anthropic-key": "off", "link-leaves": "off"})
    assert not {"secrets", "paths"} & {each.name for each in look(*FAMILIES, settings=settings).passed}


# The rules that there are


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__.rpartition(".")[2])
def test_a_family_holds_rules_of_its_own_kind(family: Any) -> None:
    assert {each.family.value for each in family.RULES} <= {get_family_name(family)}


def test_what_is_told_can_be_counted_by_severity(folder: Path, look: Look) -> None:
    (folder / "a.md").write_text("one two\n")
    found = look(Words((rule("one", severity=Severity.FAIL), "one"), (rule("two", severity=Severity.INFO), "two")))
    assert [found.count_findings(severity) for severity in Severity] == [1, 0, 1]
    assert found.has_findings_at(Severity.FAIL)
    assert not found.has_findings_at(None)
    assert isinstance(found.findings[0], AuditFinding)


def test_an_audit_of_contents_alone_makes_no_record_and_finds_the_same(folder: Path, tmp_path: Path) -> None:
    (folder / "a.md").write_text("token=abc\n")
    (folder / "b.md").write_text("[a](a.md)\n\nTODO\n")
    upkeep = Words((rule("todo", Family.UPKEEP), "TODO"))

    def audit(*families: Any, **given: Any) -> tuple[list[AuditFinding], int]:
        with memory_module.observe(folder, state=tmp_path / "state", look=False) as observer:
            found = run_audit(observer, title="m", place=str(folder), families=families, now_us=1, **given)
            return list(found.findings), observer.get_head()[0]

    findings, recorded = audit(TOKEN, only=["token"])
    assert [each.rule for each in findings] == ["token"]
    assert recorded == 1
    assert audit(TOKEN, only=["token"], once=True) == (findings, 0)
    assert audit(TOKEN, only=["token"], once=True, growth=True) == (findings, 1)
    assert audit(TOKEN, upkeep, only=["token", "todo"], once=True)[1] == 1
