"""Rules about the audit itself: what it could not look at, and what somebody excepted from it that holds no more."""

from memtui.audit.findings import Family, Severity
from memtui.audit.rule import Rule

CRASHED = "rule-crashed"
EXPIRED = "expired-exemption"

RULES: tuple[Rule, ...] = (
    Rule(
        id=CRASHED,
        family=Family.INTEGRITY,
        severity=Severity.FAIL,
        title="rules that broke down",
        why="A bug in memtui kept rules from looking at a note, and what they would have found there is not told.",
        do="Report the bug with the note's shape but not its text, and look at the note yourself.",
        bad="a family of rules that raises an exception",
        good="a family of rules that comes to its end",
    ),
    Rule(
        id=EXPIRED,
        family=Family.UPKEEP,
        severity=Severity.INFO,
        title="an exemption that holds no more",
        why="Somebody excepted findings until a day that is over: they count again.",
        do="Mend what it excepted, or give the exemption a new day and a reason that still holds.",
        bad="[[audit.exempt]] with until = 2020-01-31",
        good="[[audit.exempt]] with a day to come",
    ),
)
