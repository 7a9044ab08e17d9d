"""What a reviewer types to narrow the lists: words, and `actor:`, `session:`, `path:` and `rule:` before a word."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from memtui.audit.findings import Finding
from memtui.audit.inbox import ChangedFile

NAMES = ("actor", "session", "path", "rule")
"""What a word may be asked of."""
_WILD = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What is wanted: all of it has to hold.

    Attributes:
        words: Each has to be in what the row says.
        actor: Each has to be in the name of somebody who did it.
        session: Each has to be in the id of its conversation.
        path: Each has to be in its path, or to match it as a pattern.
        rule: Each has to be in the id of its rule, or to match it as a pattern.
    """

    words: tuple[str, ...] = ()
    actor: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    rule: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether everything is wanted."""
        return not (self.words or self.actor or self.session or self.path or self.rule)

    def takes_finding(self, finding: Finding) -> bool:
        """Whether a finding is wanted."""
        origin = finding.origin
        path = finding.place.path
        said = f"{finding.severity} {finding.family} {finding.rule} {path} {finding.words} {origin.actor}"
        return (
            (not self.words or _each_in(self.words, (said,)))
            and (not self.actor or _each_in(self.actor, (origin.actor,)))
            and (not self.session or _each_in(self.session, (origin.session or "",)))
            and (not self.path or _each_in(self.path, (path,)))
            and (not self.rule or _each_in(self.rule, (finding.rule, finding.family)))
        )

    def takes_change(self, file: ChangedFile, rules: Collection[str]) -> bool:
        """Whether a changed file is wanted.

        Args:
            file: Which.
            rules: Ids and families of the rules that found something in it.
        """
        said = " ".join([file.path, file.was, *file.actors, *(mark.words for mark in file.marks)]) if self.words else ""
        return (
            (not self.words or _each_in(self.words, (said,)))
            and (not self.actor or _each_in(self.actor, file.actors))
            and (not self.session or _each_in(self.session, file.sessions))
            and (not self.path or _each_in(self.path, (file.path, file.was)))
            and (not self.rule or _each_in(self.rule, rules))
        )

    def takes_words(self, said: str) -> bool:
        """Whether something that has no actor, session, path and rule is wanted."""
        return not (self.actor or self.session or self.path or self.rule) and _each_in(self.words, [said])


def parsed(text: str) -> Narrowing:
    """What somebody typed; a name that is none of ours is a word like any other."""
    found: dict[str, list[str]] = {"words": []}
    for word in text.casefold().split():
        name, colon, rest = word.partition(":")
        if colon and name in NAMES:
            found.setdefault(name, []).extend([rest] if rest else [])
        else:
            found["words"].append(word)
    return Narrowing(**{name: tuple(words) for name, words in found.items()})


def _each_in(wanted: Iterable[str], held: Iterable[str]) -> bool:
    known = [each.casefold() for each in held]
    for word in wanted:  # plain loops: a generator for each of ten thousand rows would be felt at each key
        for each in known:
            if _is_in(word, each):
                break
        else:
            return False
    return True


def _is_in(word: str, held: str) -> bool:
    return word in held or (not _WILD.isdisjoint(word) and fnmatchcase(held, word))
