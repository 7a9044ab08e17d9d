"""One pass of all rules over a folder: what each family finds, what becomes of it, and what broke down on the way."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import date
from typing import Any

from memtui.audit import own
from memtui.audit.audit import Excepted
from memtui.audit.choosing import Chosen
from memtui.audit.exempting import excepted, expired
from memtui.audit.findings import Finding, Hit
from memtui.audit.rule import Rule
from memtui.audit.stopping import Stopped, go_on
from memtui.audit.subject import Subject
from memtui.audit.telling import Teller

Progress = Callable[[str, int, int], None]
"""Told what is done, how many, and of how many."""

_EVERY = 64
"""Notes between two reports of how far it is."""


@dataclass
class Inspection:
    """One pass of all rules over a folder.

    Attributes:
        families: What is asked.
        rules: All there are, by id.
        subject: The folder.
        choice: The rules that run.
        teller: Makes findings of hits.
        baseline: Fingerprints of findings that were there before.
        today: The day of the audit (UTC).
        progress: Told what is done, how many, and of how many.
        tell: Told the findings of each family once they are known, those that count.
        stop: Asked now and then whether to give up.
        findings: Those that count, so far.
        excepted: Those that do not.
        expired: Exemptions that hold no more, as sentences.
        ran: The ids of rules that came to their end.
        found: The ids of rules that found something, also if that is excepted.
    """

    families: Sequence[Any]
    rules: Mapping[str, Rule]
    subject: Subject
    choice: Chosen
    teller: Teller
    baseline: Collection[str]
    _: KW_ONLY
    today: date
    progress: Progress | None = None
    tell: Callable[[Sequence[Finding]], None] | None = None
    stop: Callable[[], bool] = lambda: False
    findings: list[Finding] = field(default_factory=list)
    excepted: list[Excepted] = field(default_factory=list)
    expired: list[str] = field(default_factory=list)
    ran: set[str] = field(default_factory=set)
    found: set[str] = field(default_factory=set)

    def go(self, seconds: dict[str, float]) -> None:
        """Ask every family.

        Args:
            seconds: Told how long each took.

        Raises:
            Stopped: `stop` said so.
        """
        for family in self.families:
            began = time.perf_counter()
            name = family.__name__.rpartition(".")[2]
            mine = {rule.id for rule in family.RULES} & set(self.choice.severities)
            if mine:
                crashes = _Crashes(name)
                hits = list(self._hits(family, name, crashes))
                self._take(self.teller.findings([*hits, *crashes.hits()]))
                if not crashes.count:
                    self.ran |= mine
            seconds[name] = time.perf_counter() - began
        old = expired(self.subject.audit.exemptions, self.today)
        self.expired += [sentence for _, sentence in old]
        self._take(self.teller.findings([hit for hit, _ in old]))
        self.ran |= {rule.id for rule in own.RULES} & set(self.choice.severities)

    def _hits(self, family: Any, name: str, crashes: "_Crashes") -> Iterator[Hit]:
        """What a family finds. What breaks down in one note is told, and hides nothing in another one."""
        in_note = getattr(family, "in_note", None)
        if in_note is not None:
            notes = self.subject.notes
            for number, note in enumerate(notes.values()):
                if number % _EVERY == 0:
                    go_on(self.stop)
                    if self.progress is not None:
                        self.progress(name, number, len(notes))
                try:
                    yield from self._checked(in_note(note, self.subject))
                except Exception as error:  # a bug in one rule must not hide what the others find: it is a finding
                    crashes.add(error, note.path)
        across = getattr(family, "across", None)
        if across is not None:
            go_on(self.stop)
            try:
                yield from self._checked(across(self.subject))
            except Exception as error:  # as above
                crashes.add(error, "")

    def _checked(self, hits: Iterable[Hit]) -> Iterator[Hit]:
        """Hits of rules that there are.

        Raises:
            LookupError: There is no such rule.
        """
        for hit in hits:
            if hit.rule not in self.rules:
                raise LookupError(hit.rule)
            yield hit

    def _take(self, found: list[Finding]) -> None:
        counted = []
        for finding in found:
            self.found.add(finding.rule)
            exception = excepted(finding, self.subject.audit.exemptions, self.baseline, self.today)
            if exception is None:
                counted.append(finding)
            else:
                self.excepted.append(exception)
        self.findings += counted
        if self.tell is not None and counted:
            self.tell(counted)


class _Crashes:
    """What broke down in a family: told once, however many notes it was."""

    def __init__(self, family: str) -> None:
        self.count = 0
        self._family = family
        self._first: tuple[Exception, str] | None = None

    def add(self, error: Exception, path: str) -> None:
        """Note what broke down, and in which note: empty for the folder as a whole."""
        if isinstance(error, Stopped):
            raise error
        self.count += 1
        self._first = self._first or (error, path)

    def hits(self) -> Iterator[Hit]:
        """All of it as one."""
        if self._first is None:
            return
        error, path = self._first
        kind = type(error).__name__
        where = "a note" if self.count == 1 else f"{self.count:,} notes"
        words = f"the {self._family} rules broke down in {where if path else 'the folder as a whole'}: {kind}"
        facts: dict[str, str | int | float] = {"family": self._family, "error": kind, "notes": self.count}
        yield Hit(rule=own.CRASHED, path=path, words=words, facts=facts, identity=f"{self._family} {kind}")
