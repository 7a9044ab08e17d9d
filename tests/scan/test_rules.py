"""Every rule of every file: its entry is whole, it finds its bad example and no other rule does, and is fast."""

import re
from collections.abc import Callable, Iterator, Set
from pathlib import Path
from typing import Any

import pytest

from memtui import scan
from memtui.audit.model import AuditRule, Family, Severity
from memtui.audit.registry import RULES
from memtui.scan import checksums
from memtui.scan.hidden import find_hidden
from memtui.scan.injection import find_injections
from memtui.scan.names import find_oddities, find_twins, is_hidden
from memtui.scan.phrases import load_phrases
from memtui.scan.ruleset import Entry, join_lines, load_pattern, load_rules
from memtui.scan.samples import make_sample
from memtui.scan.secrets import find_secrets
from memtui.scan.spots import Spot
from memtui.scan.syntax import find_broken
from tests.bench.limits import at_most

FILES = sorted(file.stem for file in Path(scan.__file__).parent.glob("rules/*.toml"))
ENTRIES = [(file, entry) for file in FILES for entry in load_rules(file).values()]
_TEXTS = {"id", "title", "description", "family", "severity", "why", "do", "bad", "good", "on"} | {
    *("settings", "together", "needs")
}
_FORM = {"regex", "description", "keywords", "contains", "lengths", "checksum", "boundary", "assigned_to", "near"}
KEYS = {
    "secrets": _TEXTS
    | _FORM
    | {"samples", "variants", "patterns", "words", "allowlists", "issuers", "lengths", "numbers"},
    "injection": _TEXTS | {"phrases", "stems"},
    "upkeep": _TEXTS | {"keys", "patterns", "spellings", "words"},
}
"""The keys that an entry may have; a key that is none of these was mistyped."""
NAMES: dict[str, Callable[[str], Set[str]]] = {
    **dict.fromkeys(
        ("deceptive-name", "mixed-script-name", "spaced-name", "double-extension"),
        lambda name: {oddity.rule for oddity in find_oddities(name)},
    ),
    "twin-names": lambda names: {oddity.rule for _, oddity in find_twins(names.split(", "))},
    "hidden-file": lambda name: {"hidden-file"} if is_hidden(name) else set(),
}
"""Rules whose examples are names of files."""
PATHS = {
    **{f"broken-{kind}": f"a.{kind}" for kind in ("json", "yaml", "toml", "xml")},
    "xml-entity": "a.xml",
    "broken-front-matter": "a.md",
}
"""Rules about syntax, and a name for a file with their examples."""
CARRIERS = ("{}", "key={}\n", '"{}",', "`{}`", "(see {})", "a\n\n{}\nb")
_BY_WORDS = frozenset({"password-assignment", "authorization-header", "private-key", "google-account"})
"""Rules whose samples bring other words with them, so that they do not stand in any line."""
_CHECKED = {"github-token", "npm-token", "bitcoin-key", "payment-card", "bank-account"}
"""Rules whose samples have a checksum."""
_LONG = 30_000


def _find(file: str, entry: Entry, text: str) -> Set[str] | None:
    """The rules that find something in an example; `None` if it is no text but says what is meant."""
    if entry.id in NAMES:
        return NAMES[entry.id](text)
    if entry.id in PATHS:
        return {spot.rule for spot in find_broken(text, PATHS[entry.id])}
    if file not in ("secrets", "hidden", "injection") or entry.id == "overlong-line":
        return None
    note = f"# A note\n\n{text}\n"
    every = (*find_secrets(note), *find_hidden(note, "a.md"), *find_injections(note, "a.md"))
    return {spot.rule for spot in every}


def _regexes(table: Any) -> Iterator[str]:
    """Every regex below a table that a text is searched for, not those that are matched at one place alone."""
    if isinstance(table, dict):
        for key, value in table.items():
            if key == "regex":
                yield value
            elif key != "patterns":
                yield from _regexes(value)
    elif isinstance(table, list):
        for each in table:
            yield from _regexes(each)


@pytest.mark.parametrize(("file", "entry"), ENTRIES, ids=[entry.id for _, entry in ENTRIES])
def test_a_rule_is_whole_finds_its_bad_example_alone_and_passes_its_good_one(file: str, entry: Entry) -> None:
    rule = RULES[entry.id]
    _check_texts(file, entry, rule)
    found = _find(file, entry, rule.bad)
    assert found is None or found == {entry.id}
    found = _find(file, entry, rule.good)
    assert found is None or entry.id not in found
    assert file != "secrets" or not found
    if file == "secrets":
        _check_samples(entry)


def _check_texts(file: str, entry: Entry, rule: AuditRule) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.id)
    assert entry._table.keys() <= KEYS.get(file, _TEXTS)
    assert isinstance(rule.family, Family)
    assert isinstance(rule.severity, Severity)
    assert file != "injection" or rule.severity is Severity.WARN  # a filter of patterns is no gate
    for text in (rule.title, rule.why, rule.do, rule.bad, rule.good):
        assert text.strip()
        assert "{sample}" not in text
    assert rule.why.endswith(".")
    assert rule.do.endswith(".")
    assert not rule.title.endswith(".")


def _check_samples(entry: Entry) -> None:
    """Its samples are found wherever they stand and masked; with another checksum they are not."""
    for seed in range(3):
        sample = make_sample(entry.id, seed)
        for carrier in CARRIERS if entry.id not in _BY_WORDS else ("{}", "a\n\n{}\nb"):
            text = carrier.format(sample)
            (spot,) = find_secrets(text)
            assert (spot.flag, spot.rule) == ("secret", entry.id)
            _check_mask(spot, text)
        if entry.id in _CHECKED and "_pat_" not in sample:
            last = max(place for place, character in enumerate(sample) if character.isalnum())
            others = [f"{sample[:last]}{each}{sample[last + 1 :]}" for each in "123" if each != sample[last]]
            assert all(list(find_secrets(other)) == [] for other in others)


def _check_mask(spot: Spot, text: str) -> None:
    start, end = spot.masked or (0, 0)
    assert end - start >= 8
    assert text[start:end] not in spot.words


@pytest.mark.parametrize(("file", "entry"), ENTRIES, ids=[entry.id for _, entry in ENTRIES])
def test_every_regex_compiles_and_is_through_a_long_line_of_what_nearly_matches(file: str, entry: Entry) -> None:
    del file
    for name in entry.get("patterns", {}):
        assert entry.get_pattern(name)
    keywords = [str(each) for form in (entry._table, *entry.get("variants", ())) for each in form.get("keywords", ())]
    pieces = [*keywords[:2], make_sample(entry.id)[:-1] if entry.get("samples") else "ignore all ", "a", " ", "0"]
    for pattern in map(re.compile, map(join_lines, _regexes(entry._table))):
        with at_most(2):
            for piece in pieces:
                assert all(found.end() <= _LONG for found in pattern.finditer(piece * (_LONG // len(piece))))


def test_every_regex_that_several_rules_share_compiles() -> None:
    assert all(load_pattern(file, name) for file in FILES for name in load_rules(file).patterns)


def test_no_id_is_there_twice_and_the_audit_has_every_rule() -> None:
    ids = [entry.id for _, entry in ENTRIES]
    assert len(ids) == len(set(ids))
    assert set(ids) == set(RULES)


def test_every_checksum_that_is_named_is_a_function_and_every_function_is_named() -> None:
    named = {
        table["checksum"]
        for entry in load_rules("secrets").values()
        for table in (entry._table, *entry.get("variants", ()), *entry.get("numbers", ()))
        if "checksum" in table
    }
    assert all(callable(checksums.find_check(name)) for name in named)
    functions = {name.removeprefix("check_") for name in vars(checksums) if name.startswith("check_")}
    assert functions - named == {"mod_97"}  # of bank accounts


def test_every_stem_is_in_a_list_that_a_rule_names_and_can_be_looked_for() -> None:
    rules = load_rules("injection")
    named = {
        name
        for entry in rules.values()
        for table in entry.get("stems", ())
        for names in (
            *table["stems"],
            *table.get("not_before", ()),
            *table.get("unless", ()),
            *table.get("not_within", ()),
        )
        for name in names.split()
    }
    assert named == rules.lexicon.keys()
    for words in rules.lexicon.values():
        assert len(words) == len(set(words))
        for word in words:
            last = re.split(r"[\W_]", word.removesuffix("*"))[-1]
            assert not word.endswith("*") or len(last) >= 5 or not last.isascii(), word


def test_every_phrase_has_words_near_which_it_is_looked_for() -> None:
    assert all(kind.words for phrase in load_phrases() for kind in phrase.kinds)


def test_an_entry_takes_what_it_does_not_say_from_the_defaults_of_its_file() -> None:
    entry = Entry({"id": "x-key", "description": "a key of X"}, {"good": "staging/{id}", "severity": "fail"})
    assert (entry.text("title"), entry.text("good"), entry.get("severity")) == ("A key of X", "staging/x-key", "fail")


def test_line_breaks_and_indents_of_a_regex_do_not_count() -> None:
    assert join_lines("\n  (?i)a b\n  |c\n  ") == "(?i)a b|c"
    assert join_lines(" a ") == " a "
