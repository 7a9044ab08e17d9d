"""Rules about the audit itself: what it could not look at, and what somebody excepted from it that holds no more."""

from memtui.audit.model import AuditRule, read_rules

CRASHED = "rule-crashed"
EXPIRED = "expired-exemption"

RULES: tuple[AuditRule, ...] = read_rules("audit")
