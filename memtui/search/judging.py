"""Which notes the filters of a query let through: by whom and when they were changed, where they are, what they say."""

from collections.abc import Callable, Collection

from memtui.search.filters import Filters
from memtui.search.record import Record, Thing
from memtui.search.wanted import Text


class Judged:
    """What the filters of one query let through.

    Args:
        filters: The filters.
        record: Who changed what, and when.
        text: Tells what a note says.
        changed_us: Tells when a note changed last, in microseconds since 1970.
    """

    def __init__(
        self,
        filters: Filters,
        *,
        record: Record,
        text: Callable[[str], Text],
        changed_us: Callable[[str], int],
    ) -> None:
        self._filters = filters
        self._record = record
        self._text = text
        self._changed_us = changed_us

    def accepts(self, path: str, text: Text) -> bool:
        """Whether a note with this text is looked at."""
        return self._accepts_past_of(path) and (not self._filters.concerns_text or self.accepts_text(path, text))

    def accepts_path(self, path: str) -> bool:
        """Whether the name of a note is looked at."""
        if not self._accepts_past_of(path):
            return False
        if not self._filters.concerns_text:
            return True
        return self.accepts_text(path, self._text(path))

    def _accepts_past_of(self, path: str) -> bool:
        filters = self._filters
        if not filters.takes_path(path):
            return False
        if not (filters.concerns_actors or filters.concerns_time):
            return True
        thing = self._record.at(path)
        if filters.concerns_actors and not filters.takes_actors(thing.writers if thing else ()):
            return False
        return not filters.concerns_time or self._changed_in_time(path, thing)

    def _changed_in_time(self, path: str, thing: Thing | None) -> bool:
        """Whether it changed in time, and by one of those who are asked for."""
        filters = self._filters
        changes = [step for step in thing.steps if not step.is_found] if thing else []
        if not changes:
            seq = thing.steps[0].seq if thing else 0
            return filters.takes_event(seq, self._changed_us(path))
        return any(
            filters.takes_event(step.seq, step.at_us) and (not filters.by or step.who.casefold().startswith(filters.by))
            for step in changes
        )

    def accepts_text(self, path: str, text: Text) -> bool:
        """Whether what a text says of itself passes."""
        filters, without = self._filters, self._filters.without or Filters()
        if (filters.tags or without.tags) and not filters.takes_tags(_fact(text, "tags", path)):
            return False
        if (filters.types or without.types) and not filters.takes_types(_fact(text, f"types {path}", path)):
            return False
        return not (filters.flags or without.flags) or filters.takes_flags(_fact(text, f"flags {path}", path))


def _fact(text: Text, name: str, path: str) -> frozenset[str]:
    """Something that a text says of itself; found out once."""
    if name not in text.facts:
        text.facts[name] = frozenset(_FACTS[name.partition(" ")[0]](path, text))
    return text.facts[name]


def _tags(_: str, text: Text) -> Collection[str]:
    from memtui.notes.tags import tags_of  # deferred: only `tag:` needs it

    return tags_of(text.decoded)


def _types(path: str, text: Text) -> Collection[str]:
    from memtui.notes.kinds import types_of  # deferred: only `type:` needs it

    return types_of(path, text.decoded)


def _flags(path: str, text: Text) -> Collection[str]:
    from memtui.notes.flags import flags_of  # deferred: only `flag:` needs it

    return flags_of(text.data, path)


_FACTS: dict[str, Callable[[str, Text], Collection[str]]] = {"tags": _tags, "types": _types, "flags": _flags}
