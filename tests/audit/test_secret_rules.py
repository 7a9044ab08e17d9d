"""The rules about secrets: each finds its own example and passes the other one."""

import re

import pytest

from memtui.audit.families import secret
from memtui.audit.families.examples import made_up
from memtui.audit.findings import Family
from memtui.audit.rule import Rule
from memtui.audit.subject import Note
from memtui.notes.secrets import secrets


@pytest.mark.parametrize("rule", secret.RULES, ids=lambda rule: rule.id)
def test_a_rule_finds_its_bad_example_and_passes_its_good_one(rule: Rule) -> None:
    assert {spot.rule for spot in secrets(rule.bad)} == {rule.id}
    assert list(secrets(rule.good)) == []
    assert rule.family is Family.SECRET
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.id)
    assert rule.title[0].isupper()
    assert rule.why.endswith(".")
    assert rule.do.endswith(".")


def test_no_id_is_there_twice_and_every_secret_has_a_rule() -> None:
    ids = [rule.id for rule in secret.RULES]
    assert len(ids) == len(set(ids))
    found = {spot.rule for rule in ids for seed in range(4) for spot in secrets(made_up(rule, seed))}
    assert found == set(ids)


def test_a_hit_says_where_and_what_is_masked_and_never_the_value() -> None:
    value = made_up("anthropic-key")
    text = f"# Keys\n\nFor staging: {value}\n"
    (hit,) = secret.in_note(Note("keys.md", text.encode(), 0, len(text)), None)  # type: ignore[arg-type]
    assert (hit.rule, hit.path) == ("anthropic-key", "keys.md")
    assert hit.masked is not None
    assert text[slice(*hit.masked)] == value
    assert value not in hit.words
    assert value not in (hit.evidence or "")


def test_a_note_that_is_no_text_has_no_secrets() -> None:
    assert list(secret.in_note(Note("a.bin", b"\xff\xfe", 0, 2), None)) == []  # type: ignore[arg-type]
