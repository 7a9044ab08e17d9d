"""All rules, by id, and settings that name them: the settings file itself cannot know the rules."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType, SimpleNamespace
from typing import Any

from memtui.audit.model import NO_CUSTOM_RULES, Audit, AuditRule, CustomRules, read_rules
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
"""All rules of memtui, by id."""


def add_custom_rules(families: Sequence[Any], custom: CustomRules) -> Sequence[Any]:
    """The families, with the rules of a person's own files among those about secrets, behind memtui's own."""
    if not custom.rules:
        return families
    extended = SimpleNamespace(**{**vars(secrets), "RULES": (*secrets.RULES, *custom.rules)})
    return tuple(extended if family is secrets else family for family in families)


def list_rules(custom: CustomRules = NO_CUSTOM_RULES) -> Mapping[str, AuditRule]:
    """All rules by id, also those of a person's own files."""
    return collect_rules(add_custom_rules(FAMILIES, custom)) if custom.rules else RULES


def find_rule(id: str, audit: Audit | None) -> AuditRule | None:
    """A rule, also one of an audit's own; `None` if this memtui does not have it."""
    custom = audit.custom.rules if audit is not None else ()
    return RULES.get(id) or next((rule for rule in custom if rule.id == id), None)


def find_rule_problems(loaded: LoadedConfig, custom: CustomRules = NO_CUSTOM_RULES) -> list[ConfigProblem]:
    """What is wrong with the names of rules in the settings, each as one sentence."""
    problems: list[ConfigProblem] = []
    for name in loaded.config.audit.rules:
        if not is_known_rule(name, custom):
            words = f'audit.rules names "{name}", which is not a rule'
            problems.append(_build_problem(loaded, f"audit.rules.{name}", words, name, custom))
    for number, each in enumerate(loaded.config.audit.exemptions, 1):
        if not is_known_rule(each.rule, custom):
            words = f'audit.exempt is about "{each.rule}", which is not a rule'
            problems.append(_build_problem(loaded, f"audit.exempt.{number}", words, each.rule, custom))
    return problems


def suggest_rule(name: str, *others: str, custom: CustomRules = NO_CUSTOM_RULES) -> str:
    """A hint at the rule, or at one of other names, that a mistyped name is likely to mean, as a sentence."""
    return format_suggestion(name, (*others, *list_rules(custom)), "All rules: memtui audit --rules.")


def is_known_rule(name: str, custom: CustomRules = NO_CUSTOM_RULES) -> bool:
    """Whether a name is the id of a rule, or a pattern that fits one."""
    rules = list_rules(custom)
    return name in rules or any(fnmatchcase(rule, name) for rule in rules)


def _build_problem(loaded: LoadedConfig, key: str, words: str, name: str, custom: CustomRules) -> ConfigProblem:
    origin, line = loaded.get_origin(key), loaded.get_line(key)
    where = f"{origin.rpartition(':')[0]}, line {line}: " if line else ""
    return ConfigProblem(f"{where}{words}. {suggest_rule(name, custom=custom)} It has no effect.", key, line)
