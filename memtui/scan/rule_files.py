"""Rules for secrets in a person's own files, in the TOML form that gitleaks and betterleaks read.

Source: the README of gitleaks, "Configuration", and its `config` package. A rule that cannot be used is a problem:
less is found without it. What only changes how much is told beside it is a remark. Neither is silent.
"""

import importlib
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.scan.rule_matches import Allowlist, Regex, RequiredRule, SecretRule, SecretRuleFile

_LONGEST = 200  # characters of a description or an error that are shown
_DEEPEST = 2
"""Files that one may extend, each the one before."""
_NO_WORD = re.compile(r"[^a-z0-9]+")
_ENTROPY_FILTER = re.compile(
    r"""\s*(?:filter\.)?entropy\(finding\["secret"\]\)\s*<(=?)\s*(\d+(?:\.\d+)?)\s*(\|\||\Z)"""
)
"""How betterleaks writes what gitleaks calls `entropy`, alone or before something else that is left out, too."""
_NAMED = 5  # rules that one sentence names
_RULE_KEYS = {
    "id", "description", "regex", "path", "secretgroup", "entropy", "keywords", "tags", "allowlist", "allowlists",
    "required", "skipreport",
}  # fmt: skip
_FILE_KEYS = {
    "title", "description", "extend", "rules", "allowlist", "allowlists", "minversion", "betterleaksminversion",
}  # fmt: skip


class EngineMissing(Exception):
    """Go's regexes need RE2, and google-re2 is not installed."""


class InvalidRuleFile(ValueError):
    """Nothing of a file can be used; the words are a part of a sentence."""


def load_engine() -> Callable[[str], Regex]:
    """What compiles Go's regexes; raises `EngineMissing`. A regex that is none raises `ValueError` with the reason."""
    try:
        re2 = importlib.import_module("re2")  # start-up: only with rule files
    except ImportError as error:
        raise EngineMissing from error
    options = re2.Options()
    options.log_errors = False

    def compile_regex(regex: str) -> Regex:
        try:
            return re2.compile(regex.encode(), options)  # type: ignore[no-any-return]
        except re2.error as error:
            words = error.args[0] if error.args else b""
            shown = words.decode("utf-8", "replace") if isinstance(words, bytes) else str(words)
            raise ValueError(to_one_line(shown)[:_LONGEST]) from error

    return compile_regex


def fold_name(text: str) -> str:
    """A name as ids have it: small letters and digits, joined by hyphens; empty if there are none."""
    return _NO_WORD.sub("-", text.lower()).strip("-")


def parse_rule_file(
    text: str, prefix: str, shown: str, compile_regex: Callable[[str], Regex], read_base: Callable[[str], str]
) -> SecretRuleFile:
    """The rules of a file.

    Args:
        prefix: What stands before the rules' ids.
        shown: The file's name in sentences.
        read_base: Gives the text of a file that it extends, by its path; `InvalidRuleFile` if it cannot.

    Raises:
        InvalidRuleFile: Nothing of it can be used.
    """
    try:
        return _RuleFileParser(prefix, shown, compile_regex).parse(text, read_base)
    except ValueError as error:
        raise InvalidRuleFile(str(error)) from error


@dataclass
class _RuleFileParser:
    """One file, with what it extends."""

    prefix: str
    shown: str
    compile_regex: Callable[[str], Regex]
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    unused: Counter[str] = field(default_factory=Counter)
    has_defaults: bool = False
    """Whether it changes the rules that come with gitleaks, which are not here."""
    changed: list[str] = field(default_factory=list)
    """Names of rules that only change one of those."""

    def parse(self, text: str, read_base: Callable[[str], str]) -> SecretRuleFile:
        table = self._extend(_parse_toml(text), read_base, 0)
        if not table["rules"] and not self.problems:
            raise InvalidRuleFile("it has no [[rules]]")
        targeted: dict[str, list[Allowlist]] = {}
        everywhere: list[Allowlist] = []
        for number, each in enumerate(table["allowlists"], 1):
            for allowlist in self._build_allowlists([each], f"[[allowlists]] {number}"):
                names = _get_texts(_fold_keys(each), "targetrules")
                for name in names:
                    targeted.setdefault(name, []).append(allowlist)
                everywhere += [] if names else [allowlist]
        rules = self._build_rules(table["rules"], targeted)
        if missing := sorted(targeted.keys() - {rule.name for rule in rules}):
            self.remarks.append(f"{self.shown}: an allowlist is for {_join(missing)}, which does not run.")
        self._report_unused()
        # what is said to be generic finds the same places as those that know whose secret it is
        rules.sort(key=lambda rule: "generic" in rule.name.lower())
        return SecretRuleFile(tuple(rules), tuple(everywhere), tuple(self.problems), tuple(self.remarks))

    def _extend(self, table: dict[str, Any], read_base: Callable[[str], str], depth: int) -> dict[str, Any]:
        """The rules and allowlists of a file, and of what it extends."""
        self.unused.update(f"`{key}`" for key in sorted(table.keys() - _FILE_KEYS))
        rules = [_fold_keys(each) for each in _get_tables(table, "rules")]
        allowlists = [*_get_tables(table, "allowlists"), *_get_tables(table, "allowlist")]
        extend = _fold_keys(table.get("extend", {})) if isinstance(table.get("extend", {}), dict) else {}
        disabled = set(_get_texts(extend, "disabledrules"))
        if extend.get("usedefault"):
            self.has_defaults = True
        if path := extend.get("path"):
            base = self._read_base(str(path), read_base, depth)
            kept = [each for each in base["rules"] if each.get("id") not in disabled]
            rules, allowlists = _merge_rules(kept, rules), [*allowlists, *base["allowlists"]]
        return {"rules": rules, "allowlists": allowlists}

    def _read_base(self, path: str, read_base: Callable[[str], str], depth: int) -> dict[str, Any]:
        try:
            if depth >= _DEEPEST:
                raise InvalidRuleFile(f"at most {_DEEPEST} files are read, one after the other")
            return self._extend(_parse_toml(read_base(path)), read_base, depth + 1)
        except InvalidRuleFile as error:
            self.problems.append(f"{self.shown}: what it extends, {to_one_line(path)}, is not used: {error}.")
            return {"rules": [], "allowlists": []}

    def _build_rules(
        self, tables: Iterable[dict[str, Any]], targeted: Mapping[str, list[Allowlist]]
    ) -> list[SecretRule]:
        rules: dict[str, SecretRule] = {}
        for number, table in enumerate(tables, 1):
            name = table.get("id")
            if not isinstance(name, str) or not fold_name(name):
                self._reject(f"number {number}", "it has no id")
                continue
            if not table.get("regex") and not table.get("path") and self.has_defaults:
                self.changed.append(name)
                continue
            try:
                rule = self._build_rule(name, table, targeted.get(name, ()))
            except ValueError as error:
                self._reject(name, str(error))
                continue
            if rule.id in rules:
                self._reject(name, "another one has this id, and that one is used")
                continue
            rules[rule.id] = rule
            self._note_unused(table)
        known = {rule.name for rule in rules.values()}
        for rule in rules.values():
            if missing := [each.name for each in rule.required if each.name not in known]:
                self._reject(rule.name, f"it requires {_join(missing)}, which does not run")
        return [rule for rule in rules.values() if all(each.name in known for each in rule.required)]

    def _build_rule(self, name: str, table: dict[str, Any], targeted: Sequence[Allowlist]) -> SecretRule:
        """One rule; `ValueError` if it cannot be used."""
        regex, path = self._compile(table, "regex"), self._compile(table, "path")
        group, entropy = table.get("secretgroup", 0), table.get("entropy", _read_filter(table)[0])
        if regex is None and path is None:
            raise ValueError("it has no regex")
        if isinstance(group, bool) or not isinstance(group, int) or group < 0:
            raise ValueError("its secretGroup is not a whole number")
        if regex is not None and group > regex.groups:
            raise ValueError(f"its secretGroup is {group}, but its regex has {format_count(regex.groups, 'group')}")
        if isinstance(entropy, bool) or not isinstance(entropy, int | float):
            raise ValueError("its entropy is not a number")
        if regex is not None and regex.search(b"") is not None:
            raise ValueError("its regex matches the empty text")
        own = [*_get_tables(table, "allowlists"), *_get_tables(table, "allowlist")]
        return SecretRule(
            id=f"{self.prefix}/{fold_name(name)}",
            name=name,
            description=_shorten(table.get("description")).rstrip(".")
            or f"what the rule {_shorten(name)} of {self.shown} looks for",
            regex=regex,
            path=path,
            group=group,
            entropy=float(entropy),
            keywords=tuple(each.lower() for each in _get_texts(table, "keywords")),
            tags=tuple(map(_shorten, _get_texts(table, "tags"))),
            allowlists=(*self._build_allowlists(own, f"the rule {_shorten(name)}"), *targeted),
            required=tuple(map(_parse_required, _get_tables(table, "required"))),
            is_silent=table.get("skipreport") is True,
        )

    def _compile(self, table: Mapping[str, Any], key: str) -> Regex | None:
        regex = table.get(key)
        if not regex:
            return None
        if not isinstance(regex, str):
            raise ValueError(f"its {key} is not text")
        try:
            return self.compile_regex(regex)
        except ValueError as error:
            raise ValueError(f"its {key} cannot be read: {error}") from error

    def _build_allowlists(self, tables: Iterable[dict[str, Any]], owner: str) -> Iterator[Allowlist]:
        for each in tables:
            table = _fold_keys(each)
            try:
                allowlist = self._build_allowlist(table)
            except ValueError as error:
                self.remarks.append(
                    f"{self.shown}: an allowlist of {owner} is not used: {error}. More is found without it."
                )
                continue
            # what is only for some commits of a repository is for no note
            is_for_commits = allowlist.needs_all and table.get("commits")
            if (allowlist.paths or allowlist.regexes or allowlist.stopwords) and not is_for_commits:
                yield allowlist

    def _build_allowlist(self, table: dict[str, Any]) -> Allowlist:
        """One allowlist; `ValueError` if it cannot be used."""
        target = table.get("regextarget", "") or "secret"
        condition = str(table.get("condition", "")).upper()
        if target not in ("secret", "match", "line"):
            raise ValueError(f"its regexTarget must be secret, match or line, not {_shorten(target)}")
        if condition not in ("", "OR", "||", "AND", "&&"):
            raise ValueError(f"its condition must be AND or OR, not {_shorten(condition)}")
        paths, regexes = (
            tuple(self.compile_regex(regex) for regex in _get_texts(table, key)) for key in ("paths", "regexes")
        )
        stopwords = tuple(word.lower() for word in _get_texts(table, "stopwords") if word)
        return Allowlist(paths, regexes, stopwords, target, condition in ("AND", "&&"))

    def _reject(self, rule: str, why: str) -> None:
        self.problems.append(f"{self.shown}: the rule {_shorten(rule)} is not used: {why}.")

    def _note_unused(self, table: Mapping[str, Any]) -> None:
        known = {*_RULE_KEYS, "filter"} if _read_filter(table)[1] else _RULE_KEYS
        self.unused.update(f"`{key}`" for key in sorted(table.keys() - known))

    def _report_unused(self) -> None:
        if self.has_defaults:
            words = "extend.useDefault means the rules of another program, and memtui's own run in their place"
            changed = f"; not used is what only changes those: {_join(self.changed)}" if self.changed else ""
            self.remarks.append(f"{self.shown}: {words}{changed}.")
        if self.unused:
            told = ", ".join(
                f"{key} ({count:,} times)" if count > 1 else key for key, count in self.unused.most_common()
            )
            self.remarks.append(
                f"{self.shown}: not used, because memtui does not know it: {to_one_line(told)[:_LONGEST]}."
            )


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return _fold_keys(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        why = str(error)
        raise InvalidRuleFile(f"it is not TOML: {why[:1].lower()}{to_one_line(why[1:])[:_LONGEST]}") from error


def _fold_keys(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table with its keys in small letters: they are written in many ways, and mean the same."""
    return {key.lower(): value for key, value in table.items()}


def _get_tables(table: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The tables of a key, which may be one or many."""
    value = table.get(key, ())
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict)]


def _get_texts(table: Mapping[str, Any], key: str) -> list[str]:
    """The texts of a key; `ValueError` for anything else."""
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"its {key} are not a list of texts")
    return value


def _read_filter(table: Mapping[str, Any]) -> tuple[float, bool]:
    """The entropy that a rule's filter asks for, 0 for none, and whether it asks for nothing else."""
    found = _ENTROPY_FILTER.match(str(table.get("filter", "")))
    if found is None:
        return 0.0, False
    least = float(found[2])
    return least if found[1] else math.nextafter(least, 0), not found[3]


def _parse_required(table: Mapping[str, Any]) -> RequiredRule:
    folded = _fold_keys(table)
    name, lines, columns = folded.get("id"), folded.get("withinlines"), folded.get("withincolumns")
    if not isinstance(name, str) or not name:
        raise ValueError("what it requires has no id")
    if any(each is not None and (isinstance(each, bool) or not isinstance(each, int)) for each in (lines, columns)):
        raise ValueError(f"the distance to {_shorten(name)} is not a whole number")
    return RequiredRule(name, lines, columns)


def _merge_rules(base: list[dict[str, Any]], own: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rules that a file extends, as it changes them, and those of its own."""
    changes = {str(each.get("id")): each for each in own}
    merged = [_merge_rule(each, changes.get(str(each.get("id")), {})) for each in base]
    known = {str(each.get("id")) for each in base}
    return [*merged, *(each for each in own if str(each.get("id")) not in known)]


def _merge_rule(base: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """A rule with the values of another that changes it; lists hold what both have."""
    lists: dict[str, Any] = {
        key: [*_as_list(base.get(key)), *_as_list(change.get(key))]
        for key in ("tags", "keywords", "allowlists", "allowlist")
        if key in change
    }
    return {**base, **{key: value for key, value in change.items() if value}, **lists}


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _shorten(text: object) -> str:
    return to_one_line(text.strip())[:_LONGEST] if isinstance(text, str) else ""


def _join(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    shown = ", ".join(_shorten(name) for name in names[:_NAMED])
    return f"{shown} and {len(names) - _NAMED:,} more" if len(names) > _NAMED else shown
