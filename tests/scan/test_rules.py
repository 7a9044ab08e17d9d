"""Every rule of every file, one case a rule: its texts, its examples, its samples in all disguises, its regexes.

What the code looks up in the files by name is compared with what is there.
"""

import ast
import re
from collections.abc import Callable, Iterator, Set
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import scan
from memtui.audit.model import AuditRule, Family, Severity
from memtui.audit.registry import FAMILIES, RULES, SELF_CHECKS
from memtui.core.settings import AuditSettings
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
    *("settings", "together", "among", "needs", "certainty", "cwe")
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
_BY_WORDS = frozenset({"password-assignment", "weak-password", "authorization-header", "private-key", "google-account"})
"""Rules whose samples bring other words with them, so that they do not stand in any line."""
_BLOCKS = frozenset({"private-key", "google-account"})
"""Rules whose samples have several lines."""
_UNSEEN = ("\u200b", "\u202e", "\u00ad\u2060", "\U000e0041")
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
def test_a_rule_is_whole_finds_what_it_is_for_and_nothing_else(file: str, entry: Entry) -> None:
    _check_texts(file, entry, RULES[entry.id])
    _check_examples(file, entry, RULES[entry.id])
    if file == "secrets":
        _check_samples(entry)
        _check_cut_samples(entry)
    with at_most(2):
        _check_regexes(entry)


def _check_texts(file: str, entry: Entry, rule: AuditRule) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.id)
    assert entry._table.keys() <= KEYS.get(file, _TEXTS)
    assert isinstance(rule.family, Family)
    assert isinstance(rule.severity, Severity)
    assert file != "injection" or rule.severity is Severity.WARN  # a filter of patterns is no gate
    assert all(hasattr(AuditSettings(), name) for name in rule.settings)
    assert "!" not in rule.title + rule.why + rule.do
    for text in (rule.title, rule.why, rule.do, rule.bad, rule.good):
        assert text.strip()
        assert "{sample}" not in text
    assert rule.why.endswith(".")
    assert rule.do.endswith(".")
    assert not rule.title.endswith(".")


def _check_examples(file: str, entry: Entry, rule: AuditRule) -> None:
    """The rule alone finds the bad example, and no rule of secrets the good one."""
    found = _find(file, entry, rule.bad)
    assert found is None or found == {entry.id}
    found = _find(file, entry, rule.good)
    assert found is None or entry.id not in found
    assert file != "secrets" or not found


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


def _check_cut_samples(entry: Entry) -> None:
    """A sample that is cut by characters that are not shown is found and masked as one."""
    sample = make_sample(entry.id)
    for unseen in _UNSEEN if entry.id not in _BLOCKS else ():
        text = f"the\u200b key: {sample[:6]}{unseen}{sample[6:]} of ada\u200b\n"
        start, end = next(spot.masked or (spot.start, spot.end) for spot in find_secrets(text) if spot.rule == entry.id)
        assert text[start:end].translate(dict.fromkeys(map(ord, unseen))).rstrip() in sample
        assert text[end:].endswith("of ada\u200b\n")


def _check_regexes(entry: Entry) -> None:
    """Every regex compiles, and is through a long line of what nearly matches."""
    for name in entry.get("patterns", {}):
        assert entry.get_pattern(name)
    keywords = [str(each) for form in (entry._table, *entry.get("variants", ())) for each in form.get("keywords", ())]
    pieces = [*keywords[:2], make_sample(entry.id)[:-1] if entry.get("samples") else "ignore all ", "a", " ", "0"]
    for pattern in map(re.compile, map(join_lines, _regexes(entry._table))):
        for piece in pieces:
            assert all(found.end() <= _LONG for found in pattern.finditer(piece * (_LONG // len(piece))))


def test_every_regex_that_several_rules_share_compiles() -> None:
    assert all(load_pattern(file, name) for file in FILES for name in load_rules(file).patterns)


def test_no_id_is_there_twice_and_the_audit_has_every_rule() -> None:
    ids = sorted(entry.id for _, entry in ENTRIES)
    assert len(ids) == len(set(ids))
    rules = [*(rule for family in FAMILIES for rule in family.RULES), *SELF_CHECKS]
    assert ids == sorted(RULES) == sorted(rule.id for rule in rules)


# What the code names


@cache
def _find_lookups() -> list[tuple[str, ast.Call]]:
    """The calls in memtui that get a pattern, each with its module."""
    root = Path(memtui.__file__).parent
    return [
        (".".join((root.name, *file.relative_to(root).with_suffix("").parts)), node)
        for file in sorted(root.rglob("*.py"))
        if "get_pattern(" in (text := file.read_text(encoding="utf-8")) or "load_pattern(" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and _get_called_name(node) in ("_get_pattern", "get_pattern", "load_pattern")
    ]


def _get_called_name(call: ast.Call) -> str:
    return getattr(call.func, "id", "") or getattr(call.func, "attr", "")


def _list_constants(tree: ast.AST) -> list[str]:
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_every_pattern_that_is_looked_up_is_there() -> None:
    of_rules = {name for _, entry in ENTRIES for name in entry.get("patterns", {})}
    for module, call in _find_lookups():
        names = [each.value for each in call.args if isinstance(each, ast.Constant)]
        if len(names) < len(call.args):
            continue
        if isinstance(call.func, ast.Attribute):
            assert set(names) <= of_rules, f"{module}:{call.lineno}"
        else:
            look_up = getattr(import_module(module), _get_called_name(call))
            assert isinstance(look_up(*names), re.Pattern), f"{module}:{call.lineno}"


def test_every_pattern_is_looked_up() -> None:
    """By a name in the call itself, or anywhere in a module that looks up what a variable names."""
    of_files: set[tuple[str, str]] = set()
    of_rules: set[str] = set()
    for module, call in _find_lookups():
        source: ast.AST = call
        if not all(isinstance(each, ast.Constant) for each in call.args):
            source = ast.parse(Path(str(import_module(module).__file__)).read_text(encoding="utf-8"))
        names = _list_constants(source)
        bound = getattr(getattr(import_module(module), _get_called_name(call), None), "args", names)
        of_files |= {(file, name) for file in bound if file in FILES for name in names}
        of_rules |= set(names)
    assert {(file, name) for file in FILES for name in load_rules(file).patterns} - of_files == set()
    assert {name for _, entry in ENTRIES for name in entry.get("patterns", {})} - of_rules == set()


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
            last = re.split("[\x00-\x2f\x3a-\x60\x7b-\x7f]", word.removesuffix("*"))[-1]
            assert not word.endswith("*") or len(last) >= (5 if last.isascii() else 3), word


def test_no_term_of_the_lexicon_of_orders_stands_twice_in_a_list() -> None:
    for words in load_rules("orders").lexicon.values():
        assert len(words) == len(set(words))
        assert all(word.strip() == word and "*" not in word[:-1] for word in words)


def test_every_phrase_has_words_near_which_it_is_looked_for() -> None:
    assert all(kind.by_head or kind.others for phrase in load_phrases() for kind in phrase.kinds)


def test_an_entry_takes_what_it_does_not_say_from_the_defaults_of_its_file() -> None:
    entry = Entry({"id": "x-key", "description": "a key of X"}, {"good": "staging/{id}", "severity": "fail"})
    assert (entry.text("title"), entry.text("good"), entry.get("severity")) == ("A key of X", "staging/x-key", "fail")


def test_line_breaks_and_indents_of_a_regex_do_not_count() -> None:
    assert join_lines("\n  (?i)a b\n  |c\n  ") == "(?i)a b|c"
    assert join_lines(" a ") == " a "
