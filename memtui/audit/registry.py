"""All rules, by id, and settings that name them: the settings file itself cannot know the rules."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any

from memtui.audit.model import AuditRule, read_rules
from memtui.audit.rules import claims, coverage, hidden, injection, integrity, secrets, upkeep
from memtui.config import ConfigProblem, LoadedConfig
from memtui.core.suggestion import format_suggestion

FAMILIES: Sequence[Any] = (secrets, hidden, injection, coverage, integrity, upkeep, claims)
"""The families, in the order of reports: modules with `RULES`, and with `check_note`, `check_folder` or both."""

CRASHED = "rule-crashed"
EXPIRED = "expired-exemption"
SELF_CHECKS: tuple[AuditRule, ...] = read_rules("audit")
"""Rules about the audit itself: what somebody excepted from it that holds no more."""


def collect_rules(families: Sequence[Any]) -> Mapping[str, AuditRule]:
    """The rules of families, what could not be looked at, and the rules about the audit itself, by id."""
    rules = (*(rule for family in families for rule in family.RULES), *coverage.RULES, *SELF_CHECKS)
    return MappingProxyType({rule.id: rule for rule in rules})


RULES: Mapping[str, AuditRule] = collect_rules(FAMILIES)
"""All rules, by id."""


def find_rule_problems(loaded: LoadedConfig) -> list[ConfigProblem]:
    """What is wrong with the names of rules in the settings, each as one sentence."""
    problems: list[ConfigProblem] = []
    for name in loaded.config.audit.rules:
        if not is_known_rule(name):
            words = f'audit.rules names "{name}", and there is no such rule'
            problems.append(_build_problem(loaded, f"audit.rules.{name}", words, name))
    for number, each in enumerate(loaded.config.audit.exemptions, 1):
        if not is_known_rule(each.rule):
            words = f'audit.exempt is about "{each.rule}", and there is no such rule'
            problems.append(_build_problem(loaded, f"audit.exempt.{number}", words, each.rule))
    return problems


def suggest_rule(name: str, *others: str) -> str:
    """A hint at the rule, or at one of other names, that a mistyped name is likely to mean, as a sentence."""
    return format_suggestion(name, (*others, *RULES), "All there are: memtui audit --rules.")


def is_known_rule(name: str) -> bool:
    """Whether a name is the id of a rule, or a pattern that fits one."""
    return name in RULES or any(fnmatchcase(rule, name) for rule in RULES)


def _build_problem(loaded: LoadedConfig, key: str, words: str, name: str) -> ConfigProblem:
    origin, line = loaded.get_origin(key), loaded.get_line(key)
    where = f"{origin.rpartition(':')[0]}, line {line}: " if line else ""
    return ConfigProblem(f"{where}{words}. {suggest_rule(name)} It has no effect.", key, line)
