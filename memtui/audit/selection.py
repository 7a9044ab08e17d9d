"""The selection of rules and their severities: their defaults, then the settings."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from fnmatch import fnmatchcase

from memtui.audit.model import AuditRule, Family, Severity, SkippedRule
from memtui.core.lazy_dataclass import dataclass
from memtui.core.settings import AuditSettings

_OFF = "off"
_ON = "on"
_REPO = "--repo"
_TABLES = ("rules", "exemptions", "rule_files")
"""Settings that are no limits: what they name is told apart."""


@dataclass(frozen=True, slots=True)
class RuleSelection:
    """The rules of one audit."""

    severities: Mapping[str, Severity]
    skipped: tuple[SkippedRule, ...]
    digest: str  # over the rules that run and their settings, 16 hexadecimal digits


def select_rules(
    rules: Iterable[AuditRule],
    settings: AuditSettings,
    *,
    only: Collection[str] | None = None,
    repo: str | None = None,
    content: str = "",
) -> RuleSelection:
    """Choose among the rules.

    Args:
        only: Ids, patterns of ids and names of families; a rule that is named by its id runs even if it is off. What
            could not be looked at is told whatever is asked for.
        content: A digest over the files that rules are from; empty if they are all memtui's own.
    """
    severities: dict[str, Severity] = {}
    skipped: list[SkippedRule] = []
    for rule in rules:
        word = find_setting(rule.id, settings.rules)
        is_asked = only is None or any(matches_rule(each, rule) for each in only)
        if not is_asked and rule.family is not Family.COVERAGE:
            skipped.append(SkippedRule(rule.id, "not asked for"))
        elif word == _OFF and not (only is not None and rule.id in only):
            skipped.append(SkippedRule(rule.id, "off"))
        elif rule.needs.startswith(_REPO) and repo is None:
            skipped.append(SkippedRule(rule.id, "needs --repo DIR"))
        elif not rule.is_on and not word and not (only is not None and rule.id in only):
            skipped.append(SkippedRule(rule.id, "off by default"))
        else:
            severities[rule.id] = rule.severity if word in ("", _ON, _OFF) else Severity(word)
    return RuleSelection(severities, tuple(skipped), _compute_digest(severities, settings, content))


def matches_rule(pattern: str, rule: AuditRule) -> bool:
    """Whether an id, a pattern of ids or the name of a family means a rule."""
    return pattern in (rule.id, rule.family) or fnmatchcase(rule.id, pattern)


def find_setting(rule: str, words: Mapping[str, str]) -> str:
    """What was settled for a rule; empty if nothing was. Its own id comes first, then the last pattern that fits."""
    if rule in words:
        return words[rule]
    return next((word for pattern, word in reversed(list(words.items())) if fnmatchcase(rule, pattern)), "")


def describe_changed_settings(settings: AuditSettings) -> dict[str, str]:
    """How an audit was set, as far as it is not by default, in words."""
    default = AuditSettings()
    changed = {
        each.name: str(getattr(settings, each.name))
        for each in fields(AuditSettings)
        if each.name not in _TABLES and getattr(settings, each.name) != getattr(default, each.name)
    }
    return changed | {f"rules.{rule}": word for rule, word in settings.rules.items()}


def _compute_digest(severities: Mapping[str, Severity], settings: AuditSettings, content: str) -> str:
    limits = {each.name: getattr(settings, each.name) for each in fields(AuditSettings) if each.name not in _TABLES}
    chosen = sorted((rule, severity.value) for rule, severity in severities.items())
    canonical = json.dumps([chosen, limits, *([content] if content else [])], sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
