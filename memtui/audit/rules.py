"""All rules there are, by id."""

from collections.abc import Mapping
from types import MappingProxyType

from memtui.audit.families import claims, hidden, integrity, planted, secret, upkeep
from memtui.audit.rule import Rule

FAMILIES = (secret, hidden, planted, integrity, upkeep, claims)
"""The modules of the families, in the order in which they are told."""

RULES: Mapping[str, Rule] = MappingProxyType({rule.id: rule for family in FAMILIES for rule in family.RULES})
"""All rules, by id."""
