"""All rules there are, by id."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from memtui.audit import own
from memtui.audit.families import claims, hidden, integrity, planted, secret, upkeep
from memtui.audit.rule import Rule

FAMILIES: Sequence[Any] = (secret, hidden, planted, integrity, upkeep, claims)
"""The families, in the order in which they are told: modules with `RULES`, and with `in_note`, `across` or both."""


def rules_of(families: Sequence[Any]) -> Mapping[str, Rule]:
    """The rules of families, and those about the audit itself, by id."""
    return MappingProxyType({rule.id: rule for each in (*families, own) for rule in each.RULES})


RULES: Mapping[str, Rule] = rules_of(FAMILIES)
"""All rules, by id."""
