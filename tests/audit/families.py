"""Families of rules made for tests, so that what becomes of hits is tested apart from what finds them."""

import re
from collections.abc import Callable, Iterable, Iterator

from memtui.audit.context import AuditContext, Note
from memtui.audit.model import AuditRule, Family, Hit, Severity


def rule(id: str, family: Family = Family.HIDDEN, severity: Severity = Severity.WARN, **given: object) -> AuditRule:
    """A rule with nothing to say."""
    words = {"title": id, "why": "A test wants it.", "do": f"Mend {id}.", "example": "", "good": ""}
    return AuditRule(id=id, family=family, severity=severity, **{**words, **given})  # type: ignore[arg-type]


class Words:
    """A family in which each rule finds a pattern in texts; what a group `value` holds is masked."""

    __name__ = "tests.words"

    def __init__(self, *rules: tuple[AuditRule, str]) -> None:
        self.RULES = tuple(each for each, _ in rules)
        self._patterns = [(each.id, re.compile(pattern)) for each, pattern in rules]

    def check_note(self, note: Note, subject: AuditContext) -> Iterator[Hit]:
        """What is found in one note."""
        del subject
        for id, pattern in self._patterns:
            for found in pattern.finditer(note.text or ""):
                masked = found.span("value") if "value" in pattern.groupindex else None
                yield Hit(
                    rule=id, path=note.path, words=f"it says {id}", start=found.start(), end=found.end(), masked=masked
                )


class Whole:
    """A family of one rule that looks at the folder as a whole."""

    __name__ = "tests.whole"

    def __init__(self, rule: AuditRule, find: Callable[[AuditContext], Iterable[Hit]]) -> None:
        self.RULES = (rule,)
        self.check_folder = find
