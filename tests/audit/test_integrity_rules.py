"""Whether a folder and its record are whole: what nobody recorded, what leads elsewhere, what cannot be read."""

import os
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import pytest

import memtui
from memtui import memory as memory_module
from memtui.audit import model
from memtui.audit.context import build_context
from memtui.audit.model import Hit
from memtui.audit.rules import integrity
from memtui.audit.runner import run_audit
from memtui.core.settings import Settings
from memtui.engine import Engine, Observer
from memtui.review.inbox import Inbox, ReviewMark, ReviewVerdict
from memtui.scan.syntax import find_broken
from tests.audit.corpus import clean_notes
from tests.audit.folders import Folder, found_by
from tests.audit.labelled import INTEGRITY, Labelled, accuracy_of_integrity
from tests.bench.limits import at_most

CLAUDE = memtui.Agent("Claude", "a-model", "session-1")
MB = 1_000_000
_OF_TEXTS = {"broken-json", "broken-yaml", "broken-toml", "broken-xml", "xml-entity", "broken-front-matter"}
_ENDINGS = {"xml-entity": "xml", "broken-front-matter": "md"}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def create(engine: Engine, path: str, text: str) -> None:
    answer = engine.execute({"command": "create", "path": f"/memories/{path}", "file_text": text}, actor=CLAUDE)
    assert not answer.is_error, answer.text


def looked(folder: Folder, *, inbox: Inbox | None = None, memory: Settings | None = None) -> list[Hit]:
    """What the rules find in a folder that nobody has open, in order."""
    with memory_module.observe(folder.path, state=folder.state) as observer:
        return hits_of(observer, inbox=inbox, memory=memory)


def hits_of(observer: Observer, *, inbox: Inbox | None = None, memory: Settings | None = None) -> list[Hit]:
    last = observer.recorded.last
    subject = build_context(observer, on_disk=last, now_us=time.time_ns() // 1_000, memory=memory or Settings())
    found = found_by(integrity, replace(subject, inbox=inbox))
    return sorted(found, key=lambda hit: (hit.path, hit.rule))


def kept(folder: Folder, *notes: tuple[str, str]) -> tuple[int, str]:
    """Have an agent write notes; the head of the record afterwards."""
    with memtui.open(folder.path, state=folder.state) as engine:
        for path, text in notes:
            create(engine, path, text)
        return engine.get_head()


def reviewed(seq: int, head: str, reviewer: str = "ada") -> Inbox:
    mark = ReviewMark(reviewer=reviewer, at_us=1, verdict=ReviewVerdict.ACCEPT, path="", seq=seq, head=head)
    return Inbox(since=seq, since_us=1, since_words="the last review", until=seq, files=(), marks=(mark,))


def rules_of(hits: list[Hit]) -> list[str]:
    return [hit.rule for hit in hits]


# What cannot be read


def test_the_rules_are_right_of_all_notes_that_were_labelled() -> None:
    measured = accuracy_of_integrity()
    assert (measured.wrong, measured.missed) == (0, 0), measured.failures


@pytest.mark.parametrize("note", [note for note in INTEGRITY if note.rule], ids=lambda note: ascii(note.text[:30]))
def test_what_cannot_be_read_is_told_once_and_at_a_place_in_the_text(note: Labelled) -> None:
    (spot,) = find_broken(note.text, note.path)
    assert spot.rule == note.rule
    assert 0 <= spot.start <= spot.end <= len(note.text)
    assert spot.words


@pytest.mark.parametrize("rule", [rule for rule in integrity.RULES if rule.id in _OF_TEXTS], ids=lambda rule: rule.id)
def test_each_rule_for_texts_finds_its_example_and_passes_the_good_one(folder: Folder, rule: model.AuditRule) -> None:
    ending = _ENDINGS.get(rule.id, rule.id.removeprefix("broken-"))
    kept(folder, (f"bad.{ending}", rule.bad), (f"good.{ending}", rule.good))
    assert [(hit.rule, hit.path) for hit in looked(folder)] == [(rule.id, f"bad.{ending}")]


def test_clean_notes_that_memtui_wrote_are_whole(folder: Folder) -> None:
    kept(folder, *clean_notes().items())
    assert looked(folder) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.json", "[" * MB),
        ("a.json", '{"a":' * (MB // 5)),
        ("a.json", "1" * MB),
        ("a.jsonl", "{\n" * (MB // 2)),
        ("a.yaml", "[" * 100_000),
        ("a.yaml", "- " * 100_000),
        ("a.yaml", "{" * MB),
        ("a.yaml", "? " * 100_000),
        ("a.yaml", "a: &a [x]\n" + "".join(f"b{number}: &b{number} [*a, *a]\n" for number in range(30_000))),
        ("a.yaml", "a: b\n" * 200_000),
        ("a.xml", "<a>" * 300_000),
        ("a.xml", "<a>" * 100_000 + "</a>" * 100_000),
        ("a.xml", "<" * 200_000),
        ("a.xml", "<a " + "".join(f"b{number}='1' " for number in range(80_000)) + "/>"),
        ("a.toml", "a=[" * 20_000),
        ("a.toml", "a" + ".a" * 40_000 + " = 1"),
        ("a.toml", "a={" + "b={" * 20_000),
        ("a.toml", "a = 1.5\n" * 10_000),
        ("a.md", "---\n" * 250_000),
        ("a.md", "---\n" + "a: " * 5_000 + "\n---\n"),
        ("a.md", "---\n" + "[" * 16_000 + "\n---\n"),
        ("a.md", "---\nname: x\n" * 80_000),
    ],
    ids=lambda given: ascii(given[:12]),
)
def test_a_text_that_means_harm_is_read_in_seconds(path: str, text: str) -> None:
    with at_most(5):
        spots = list(find_broken(text, path))
    assert {spot.rule for spot in spots} <= _OF_TEXTS


def test_no_entity_is_expanded_and_nothing_is_fetched(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("never read")
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    bombs = [
        f'<!DOCTYPE l [<!ENTITY l0 "ha">{laughs}]><l>&l11;</l>',
        f'<!DOCTYPE l [<!ENTITY l0 "ha">{laughs}]><l x="&l11;"/>',
        f'<!DOCTYPE l [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><l>&x;</l>',
        f'<!DOCTYPE l [<!ENTITY % x SYSTEM "file://{tmp_path}/secret"> %x;]><l/>',
    ]
    for bomb in bombs:
        with at_most(1):
            assert [spot.rule for spot in find_broken(bomb, "a.xml")] == ["xml-entity"]


def test_yaml_builds_nothing(tmp_path: Path) -> None:
    target = tmp_path / "made"
    text = f"!!python/object/apply:os.mkdir ['{target}']\n"
    assert list(find_broken(text, "a.yaml")) == []
    assert not target.exists()


# Files


def test_text_that_is_not_utf8_is_told_with_its_byte_and_line(folder: Folder) -> None:
    folder.write(
        {
            "a.md": b"one\ntwo \xff\n",
            "b.txt": "ab\n".encode("utf-16"),
            "c.png": b"\x89PNG\xff",
            ".DS_Store": b"\xff\x00",
        }
    )
    folder.write({"d.dat": b"\x00\x01\xff", "e.notes": b"caf\xe9"})
    found = [(hit.path, hit.words, hit.facts) for hit in folder.hits(integrity, rules={"not-utf8"})]
    assert [path for path, _, _ in found] == ["a.md", "b.txt", "e.notes"]
    assert found[0][1:] == ("not UTF-8 text: \\xff at byte 9, in line 2", {"byte": 9, "line": 2})
    assert "UTF-16" in found[1][1]


def test_links_are_told_with_where_they_lead(folder: Folder) -> None:
    folder.write({"a.md": "words\n", "sub/b.md": "words\n"})
    for name, target in (
        ("out", "/etc"),
        ("up", "../.."),
        ("gone", "nowhere.md"),
        ("in", "sub/b.md"),
        ("loop", "loop"),
    ):
        (folder.path / name).symlink_to(target)
    (folder.path / "bad\x1b[31m").symlink_to("/tmp/\x1b]52;c;eA==\x07")
    found = {hit.path: (hit.rule, hit.words) for hit in folder.hits(integrity) if "link" in hit.rule}
    assert found["out"] == ("link-leaves", "a link out of the folder, to “/etc”")
    assert found["up"][0] == "link-leaves"
    assert found["gone"] == ("dangling-link", "a link to “nowhere.md”, which does not exist")
    assert found["loop"][0] == "dangling-link"
    assert "in" not in found
    assert "\x1b" not in found["bad\x1b[31m"][1]


def test_a_second_name_of_a_file_is_told(folder: Folder, tmp_path: Path) -> None:
    folder.write({"a.md": "words\n", "b.md": "words\n"})
    os.link(folder.path / "a.md", tmp_path / "elsewhere")
    assert [(hit.rule, hit.path) for hit in folder.hits(integrity, rules={"hard-link"})] == [("hard-link", "a.md")]


def test_names_that_no_agent_may_make_are_told(folder: Folder) -> None:
    folder.write({"a\\b.md": "1", "%2e%2e": "2", "tab\t.md": "3", "100%.md": "4", "a b.md": "5", "a\u200bb.md": "6"})
    (folder.path / os.fsdecode(b"bad\xff.md")).write_text("7")
    found = [hit.path for hit in folder.hits(integrity, rules={"forbidden-name"})]
    assert found == ["%2e%2e", "a\\b.md", os.fsdecode(b"bad\xff.md"), "tab\t.md"]


def test_limits_are_told_of_files_and_of_the_folder(folder: Folder) -> None:
    deep = "/".join("d" * 21)
    folder.write({"a.md": "x" * 100, "b.md": "x", f"{deep}/c.md": "x"})
    memory = Settings(max_file_bytes=50, max_total_bytes=90, max_files=2)
    found = folder.hits(integrity, rules={"over-limit"}, memory=memory)
    assert [hit.path for hit in found] == ["", "", "a.md", deep]
    assert "the folder has 3 files, over its limit of 2" in [hit.words for hit in found]
    assert (
        folder.hits(integrity, rules={"over-limit"}, memory=Settings(max_file_bytes=0, max_total_bytes=0, max_files=0))[
            :-1
        ]
        == []
    )


# The record


def test_a_folder_that_was_never_recorded_has_no_journal_and_nothing_else_is_said_of_it(folder: Folder) -> None:
    folder.write({"a.md": "words\n"})
    assert rules_of(looked(folder)) == ["no-journal"]


def test_what_an_agent_wrote_is_in_order(folder: Folder) -> None:
    kept(folder, ("a.md", "words\n"))
    assert looked(folder) == []


def test_what_memtui_found_when_it_first_looked_is_no_change(folder: Folder) -> None:
    folder.write({"a.md": "words\n"})
    kept(folder, ("b.md", "words\n"))
    assert looked(folder) == []


def test_what_git_writes_at_each_commit_is_no_change_by_another_program_and_its_hooks_are(folder: Folder) -> None:
    kept(folder, ("a.md", "one\n"))
    folder.write({".git/logs/HEAD": "x", ".git/objects/ab/cd": "x", ".git/hooks/pre-commit": "x", ".git/config": "x"})
    assert [hit.path for hit in looked(folder)] == [".git/config", ".git/hooks/pre-commit"]


def test_what_was_changed_since_memtui_last_looked_is_told(folder: Folder) -> None:
    kept(folder, ("a.md", "one\n"), ("b.md", "two\n"), ("c.md", "three\n"))
    folder.write({"a.md": "one\nmore\n", "new.md": "words\n"})
    (folder.path / "b.md").unlink()
    found = looked(folder)
    assert [(hit.rule, hit.path) for hit in found] == [("outside-change", path) for path in ("a.md", "b.md", "new.md")]
    assert [hit.words.split()[0] for hit in found] == ["changed", "removed", "made"]


def test_lines_from_outside_that_still_stand_are_told_at_their_place(folder: Folder) -> None:
    kept(folder, ("a.md", "one\ntwo\nthree\n"), ("b.md", "one\n"))
    folder.write({"a.md": "one\ntwo\nfrom outside\nthree\n"})
    kept(folder)
    (hit,) = looked(folder)
    text = (folder.path / "a.md").read_text()
    assert (hit.rule, text[hit.start : hit.end], hit.facts["lines"]) == ("outside-change", "from outside", 1)
    assert hit.words.startswith("one of its 4 lines was written by another program")


def test_lines_from_outside_that_an_agent_wrote_over_are_not_told(folder: Folder) -> None:
    kept(folder, ("a.md", "one\n"))
    folder.write({"a.md": "from outside\n"})
    kept(folder, ("a.md", "one again\n"))
    assert looked(folder) == []


def test_a_change_that_an_agent_claimed_is_not_told(folder: Folder) -> None:
    kept(folder, ("a.md", "one\n"))
    folder.write({"a.md": "two\n"})
    with memtui.open(folder.path, state=folder.state) as engine:
        engine.reconcile()
        version = engine.history.versions_of("a.md", limit=1)[0].after
        assert version is not None
        assert version.sha256 is not None
        told = engine.claims.claim("a.md", actor=CLAUDE, call_id="1", hashes=[version.sha256], note="Write")
        assert told is not None
    assert looked(folder) == []


def test_a_review_draws_a_line_under_what_was_before_it(folder: Folder) -> None:
    kept(folder, ("a.md", "one\n"), ("b.md", "one\n"))
    folder.write({"a.md": "from outside\n"})
    seq, head = kept(folder)
    folder.write({"b.md": "from outside\n"})
    after, _ = kept(folder, ("b.md", "written over\n"))
    assert after > seq
    found = looked(folder, inbox=reviewed(seq, head))
    assert [(hit.rule, hit.path) for hit in found] == [("outside-change", "b.md")]
    assert "since the last review" in found[0].words


def test_a_folder_that_is_written_outside_as_a_rule_is_told_once(folder: Folder) -> None:
    kept(folder, ("a.md", "one\n"))
    folder.write({f"n{number}.md": f"words {number}\n" for number in range(30)})
    kept(folder)
    (hit,) = looked(folder)
    assert (hit.rule, hit.path) == ("outside-change", "")
    assert hit.words.startswith("30 of 31 notes were written by another program")


def test_calls_that_tried_to_leave_are_told_together(folder: Folder) -> None:
    with memtui.open(folder.path, state=folder.state) as engine:
        create(engine, "a.md", "words\n")
        for path in ("/memories/../etc/passwd", "/etc/shadow", "/memories/none.md"):
            engine.execute({"command": "view", "path": path}, actor=CLAUDE)
    (hit,) = looked(folder)
    assert (hit.rule, hit.path, hit.facts["calls"]) == ("refused-outside", "", 2)
    assert "“/memories/../etc/passwd”" in hit.words


def test_a_chain_that_was_tampered_with_is_told(folder: Folder) -> None:
    kept(folder, ("a.md", "words\n"), ("b.md", "words\n"))
    (place,) = folder.state.rglob("journal.db")
    with sqlite3.connect(place) as database:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f'DROP TRIGGER "{name}"')
        database.execute("UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'Claude', 'Clause') AS BLOB)")
    database.close()
    found = [hit for hit in looked(folder) if hit.rule == "chain-broken"]
    assert [hit.path for hit in found] == [""]
    assert found[0].words.startswith("the history is broken")


def test_a_record_that_goes_on_from_the_last_review_is_in_order(folder: Folder) -> None:
    seq, head = kept(folder, ("a.md", "words\n"))
    kept(folder, ("b.md", "words\n"))
    assert looked(folder, inbox=reviewed(seq, head)) == []
    assert looked(folder, inbox=reviewed(seq, head[:16])) == []


@pytest.mark.parametrize(("more", "words"), [(5, "is not in the history"), (0, "is not the one which ada noted")])
def test_a_record_without_the_head_of_the_last_review_is_told(folder: Folder, more: int, words: str) -> None:
    seq, _ = kept(folder, ("a.md", "words\n"))
    (hit,) = looked(folder, inbox=reviewed(seq + more, "0" * 64))
    assert (hit.rule, hit.path) == ("head-gone", "")
    assert words in hit.words


def test_a_record_that_is_gone_after_a_review_is_told(folder: Folder) -> None:
    folder.write({"a.md": "words\n"})
    assert rules_of(looked(folder, inbox=reviewed(4, "0" * 64))) == ["head-gone", "no-journal"]


# All of it


def test_every_rule_can_be_told_by_an_audit(folder: Folder) -> None:
    kept(folder, ("a.json", "{"))
    folder.write({"a.md": "words\n"})
    with memory_module.observe(folder.path, state=folder.state) as observer:
        found = run_audit(observer, title="memories", only=["integrity"])
    assert {finding.rule for finding in found.findings} == {"broken-json", "outside-change"}
    assert found.chain.state == "intact"


@pytest.mark.parametrize(
    ("path", "text", "at", "words"),
    [
        ("a.json", '{"a": 1,\n "a": 2}', 10, 'invalid JSON: the name "a" appears twice'),
        ("a.jsonl", '{"b": 1}\n{"a": 1, "a": 2}', 18, 'invalid JSON: the name "a" appears twice'),
        ("a.yaml", "a: 1\nb: {c: 1, d: 2, c: 3}\n", 21, 'invalid YAML: the name "c" appears twice'),
        (
            "a.md",
            "---\nname: one\ntype: user\nname: two\n---\n",
            25,
            "invalid front matter: the name 'name' appears twice",
        ),
    ],
)
def test_a_name_that_stands_twice_is_told(path: str, text: str, at: int, words: str) -> None:
    (spot,) = find_broken(text, path)
    assert spot.words.startswith(words)
    assert spot.start == at


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.yaml", "a: {x: 1}\nb: {x: 1}\n---\na: 1\nb: [x, x, {x: x}]\n"),
        ("a.yaml", "base: &b {x: 1}\nc:\n  <<: *b\n  <<: *b\n  ? [x, x]\n  : x\n"),
        ("a.json", '[{"a": 1, "A": {"a": 2}}, {"a": 1}]'),
        ("a.md", "---\nmetadata:\n  name: a\nname: b\n---\n"),
        (".vscode/settings.json", '{\n  // "a\n  "a": "// no /* comment", /* one\n */ "b": [1, 2,],\n}'),
        ("sub/tsconfig.base.json", '{ "a": "\\"//", }'),
        ("a.toml", "\ufeffa = 1\n"),
    ],
)
def test_what_is_whole_though_it_looks_odd_is_passed_over(path: str, text: str) -> None:
    assert list(find_broken(text, path)) == []


def test_what_is_wrong_in_json_with_comments_is_told_where_it_is() -> None:
    text = '{ // one\n "a": /* two */ }'
    (spot,) = find_broken(text, "settings.json")
    assert text[spot.start : spot.end] == "}"
    assert list(find_broken('{"a": 1, // one\n}', "data.json"))


def test_texts_of_other_encodings_are_named(folder: Folder) -> None:
    text = "a text of some words\n"
    notes = {f"{name}.md": f"\ufeff{text}".encode(name) for name in ("utf-16-le", "utf-16-be", "utf-32-le")}
    folder.write({**notes, "bare.md": text.encode("utf-16-le"), "one.md": f"{text}\0".encode()})
    told = {hit.path: hit.words for hit in folder.hits(integrity) if hit.rule == "not-utf8"}
    assert told == {
        "bare.md": "not UTF-8 text: it is read as UTF-16",
        "utf-16-le.md": "not UTF-8 text: it is read as UTF-16",
        "utf-16-be.md": "not UTF-8 text: it is read as UTF-16",
        "utf-32-le.md": "not UTF-8 text: it is read as UTF-32",
    }


@pytest.mark.parametrize(
    "text", ['{"' * 300_000, '{"a":1,' * 100_000, "/*" * 500_000, '"' * 1_000_000, "," * 1_000_000]
)
def test_json_with_comments_is_read_in_passing(text: str) -> None:
    with at_most(5):
        assert list(find_broken(text, "settings.json"))


def test_the_lines_of_a_memory_server_are_no_broken_json_and_other_lines_are() -> None:
    entity = '{"type":"entity","name":"Wren","entityType":"boat","observations":["leaks"]}'
    relation = '{"type": "relation", "from": "Wren", "to": "Ada", "relationType": "of"}'
    assert list(find_broken(f"{entity}\n{relation}\n", "memory.json")) == []
    assert [spot.rule for spot in find_broken(f"{entity}\nleaks\n", "memory.json")] == ["broken-json"]
    assert [spot.rule for spot in find_broken('{"name": 1}\n{"name": 2}\n', "memory.json")] == ["broken-json"]


def test_the_limit_of_a_file_is_told_where_agents_have_it(folder: Folder) -> None:
    folder.write({"log.md": "x" * 1_000_001})
    assert "over-limit" not in rules_of(looked(folder))
    assert "over-limit" in rules_of(looked(folder, memory=Settings(max_file_bytes=900_000)))
