"""Which rules run, and how much their findings matter: what the rules say of themselves, then what somebody settled."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase

from memtui.audit.audit import Skipped
from memtui.audit.findings import Severity
from memtui.audit.rule import Rule
from memtui.core.audit_settings import AuditSettings

_OFF = "off"
_ON = "on"
_SOFTER = frozenset({"no-journal"})
"""Rules that only inform where a baseline says what was there before."""
_REPO = "--repo"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rules of one audit.

    Attributes:
        severities: By the id of each rule that runs, how much its findings matter.
        skipped: Those that do not run, and why.
        digest: Over the rules that run and how they are set, 16 hexadecimal digits.
    """

    severities: Mapping[str, Severity]
    skipped: tuple[Skipped, ...]
    digest: str


def chosen(
    rules: Iterable[Rule],
    settings: AuditSettings,
    *,
    only: Collection[str] | None = None,
    repo: str | None = None,
    has_baseline: bool = False,
) -> Chosen:
    """Choose among the rules.

    Args:
        rules: All there are.
        settings: What somebody settled.
        only: Ids, patterns of ids and names of families: only these run, and whatever is named by its id even if it is
            off.
        repo: A repository that notes are compared with.
        has_baseline: Whether a baseline is given.
    """
    severities: dict[str, Severity] = {}
    skipped: list[Skipped] = []
    for rule in rules:
        word = word_for(rule.id, settings.rules)
        if only is not None and not any(names(each, rule) for each in only):
            skipped.append(Skipped(rule.id, "not asked for"))
        elif word == _OFF and not (only is not None and rule.id in only):
            skipped.append(Skipped(rule.id, "off"))
        elif rule.needs.startswith(_REPO) and repo is None:
            skipped.append(Skipped(rule.id, "needs --repo DIR"))
        elif not rule.is_on and not word and not (only is not None and rule.id in only):
            skipped.append(Skipped(rule.id, "off by default"))
        else:
            severity = rule.severity if word in ("", _ON, _OFF) else Severity(word)
            softer = has_baseline and rule.id in _SOFTER and word in ("", _ON)
            severities[rule.id] = Severity.INFO if softer else severity
    return Chosen(severities, tuple(skipped), _digest(severities, settings))


def names(pattern: str, rule: Rule) -> bool:
    """Whether an id, a pattern of ids or the name of a family means a rule."""
    return pattern in (rule.id, rule.family) or fnmatchcase(rule.id, pattern)


def word_for(rule: str, words: Mapping[str, str]) -> str:
    """What was settled for a rule; empty if nothing was. Its own id comes first, then the last pattern that fits."""
    if rule in words:
        return words[rule]
    return next((word for pattern, word in reversed(list(words.items())) if fnmatchcase(rule, pattern)), "")


def changed_settings(settings: AuditSettings) -> dict[str, str]:
    """How an audit was set, as far as it is not by default, in words."""
    default = AuditSettings()
    changed = {
        each.name: str(getattr(settings, each.name))
        for each in fields(AuditSettings)
        if each.name not in ("rules", "exemptions") and getattr(settings, each.name) != getattr(default, each.name)
    }
    return changed | {f"rules.{rule}": word for rule, word in settings.rules.items()}


def _digest(severities: Mapping[str, Severity], settings: AuditSettings) -> str:
    limits = {
        each.name: getattr(settings, each.name)
        for each in fields(AuditSettings)
        if each.name not in ("rules", "exemptions")
    }
    said = json.dumps([sorted((rule, severity.value) for rule, severity in severities.items()), limits], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:16]
