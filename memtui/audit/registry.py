"""All rules, by id."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from memtui.audit.model import AuditRule
from memtui.audit.rules import claims, hidden, injection, integrity, secrets, self_checks, upkeep

FAMILIES: Sequence[Any] = (secrets, hidden, injection, integrity, upkeep, claims)
"""The families, in the order of reports: modules with `RULES`, and with `in_note`, `across` or both."""


def collect_rules(families: Sequence[Any]) -> Mapping[str, AuditRule]:
    """The rules of families, and those about the audit itself, by id."""
    return MappingProxyType({rule.id: rule for each in (*families, self_checks) for rule in each.RULES})


RULES: Mapping[str, AuditRule] = collect_rules(FAMILIES)
"""All rules, by id."""
