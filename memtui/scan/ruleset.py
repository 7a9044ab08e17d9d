"""The rules as they stand in `rules/*.toml`, one entry a rule. A file is parsed when it is first asked for.

An entry holds the texts of a rule's findings and the regexes and words by which it is found. Regexes are compiled one
by one when they are first used, since most notes pass the keywords of no rule.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from importlib import resources
from typing import Any

_LIST = re.compile(r",\s+")
"""What stands between the words of a list in a text."""


class Entry:
    """One rule.

    Args:
        defaults: Values for all rules of the file.
    """

    def __init__(self, table: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        self.id: str = table["id"]
        self._table = table
        self._defaults = defaults

    def get(self, key: str, default: Any = "") -> Any:
        """The value of a key, or that of the file, or another one."""
        return self._table.get(key, self._defaults.get(key, default))

    def text(self, key: str) -> str:
        """A text of its findings: `title`, `why`, `do`, `bad`, `good`, `description`; empty where there is none."""
        if key == "title" and "title" not in self._table:
            return self.description[:1].upper() + self.description[1:]
        return str(self.get(key)).replace("{id}", self.id)

    @property
    def description(self) -> str:
        """What it finds, as a part of a sentence."""
        return str(self.get("description"))

    @cached_property
    def forms(self) -> tuple[Mapping[str, Any], ...]:
        """Its regexes: the one of the entry itself, if it has one, and its variants; each with a description."""
        variants = self._table.get("variants", ())
        every = (self._table, *variants) if "regex" in self._table else variants
        return tuple({"description": self.description, **each} for each in every)

    @cached_property
    def _patterns(self) -> dict[str, re.Pattern[str]]:
        return {}

    def get_pattern(self, name: str) -> re.Pattern[str]:
        """One of its `patterns`, compiled."""
        if name not in self._patterns:
            self._patterns[name] = re.compile(join_lines(self._table["patterns"][name]))
        return self._patterns[name]

    def get_words(self, name: str) -> tuple[str, ...]:
        """One of its lists of `words`."""
        return tuple(self._table["words"][name])

    @cached_property
    def stopwords(self) -> frozenset[str]:
        """What its allowlists name."""
        return frozenset(word for each in self.get("allowlists", ()) for word in each.get("stopwords", ()))

    @cached_property
    def allowed(self) -> tuple[re.Pattern[str], ...]:
        """The regexes of its allowlists."""
        return _compile_regexes(self.get("allowlists", ()))


class Ruleset(Mapping[str, Entry]):
    """The rules of one file, by id, in order."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._table = table
        self.patterns: Mapping[str, str] = table.get("patterns", {})
        self._entries = {each["id"]: Entry(each, table.get("defaults", {})) for each in table["rules"]}

    def __getitem__(self, id: str) -> Entry:
        return self._entries[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Values for all rules of the file."""
        return self._table.get("defaults", {})  # type: ignore[no-any-return]

    @cached_property
    def lexicon(self) -> Mapping[str, list[str]]:
        """Stems of words, by the name of what they mean. Long lists are one text, which is parsed ten times as fast."""
        lists: Mapping[str, list[str] | str] = self._table.get("lexicon", {})
        return {name: _LIST.split(words.strip()) if isinstance(words, str) else words for name, words in lists.items()}

    @cached_property
    def hashes(self) -> frozenset[str]:
        """The hashes in the allowlists of all rules."""
        lists = self._table.get("allowlists", ())
        return frozenset(digest for each in lists for digest in each.get("hashes", ()))

    @cached_property
    def allowed(self) -> tuple[re.Pattern[str], ...]:
        """The regexes of the allowlists of all rules."""
        return _compile_regexes(self._table.get("allowlists", ()))


@cache
def load_pattern(file: str, name: str) -> re.Pattern[str]:
    """A regex of the `patterns` of a file, which serve several of its rules, compiled."""
    return re.compile(join_lines(load_rules(file).patterns[name]))


@cache
def load_rules(name: str) -> Ruleset:
    """The rules of a file."""
    text = resources.files("memtui.scan").joinpath("rules", f"{name}.toml").read_text(encoding="utf-8")
    return Ruleset(tomllib.loads(text))


def join_lines(regex: str) -> str:
    """A regex as one line: in the files it may stand in several, and their indents do not count."""
    return "".join(line.lstrip(" ") for line in regex.split("\n")) if "\n" in regex else regex


def _compile_regexes(allowlists: list[Mapping[str, Any]]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(join_lines(regex)) for each in allowlists for regex in each.get("regexes", ()))
