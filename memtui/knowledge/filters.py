"""Which notes are wanted, by what they say of themselves: type, status, tags, categories, and fields of front matter.

A field is compared with a value, or by an operator: `{"status": "open", "priority": {"$gt": 2}}`. A field that a note
does not have passes no comparison but `$ne` and `$exists`.
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from memtui.core.lazy_dataclass import dataclass
from memtui.knowledge.model import ParsedNote

OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$contains", "$exists")
MOST_CONDITIONS = 20
_MOST_VALUES = 100
_LONGEST = 200
_ORDERS: Mapping[str, Callable[[int], bool]] = MappingProxyType(
    {
        "$gt": lambda sign: sign > 0,
        "$gte": lambda sign: sign >= 0,
        "$lt": lambda sign: sign < 0,
        "$lte": lambda sign: sign <= 0,
    }
)


class InvalidCondition(ValueError):
    """A condition on a field that cannot be read; its words are a sentence."""


@dataclass(frozen=True, slots=True)
class FieldCondition:
    """A condition on a field of the front matter.

    Attributes:
        names: The name of the field; several lead into mappings: `metadata.type`.
        operator: One of `OPERATORS`.
        value: A word, a number or a truth value; a tuple of them for `$in` and `$contains`.
    """

    names: tuple[str, ...]
    operator: str
    value: object

    def accepts(self, properties: Mapping[str, object]) -> bool:
        """Whether the front matter of a note passes."""
        found: object = properties
        for name in self.names:
            found = found.get(name) if isinstance(found, Mapping) else None
        if self.operator == "$exists":
            return (found is not None) is bool(self.value)
        values = found if isinstance(found, list) else [] if found is None else [found]
        wanted = self.value if isinstance(self.value, tuple) else (self.value,)
        match self.operator:
            case "$ne":
                return not any(_is_equal(each, self.value) for each in values)
            case "$contains" if isinstance(found, str):
                return all(isinstance(each, str) and each.casefold() in found.casefold() for each in wanted)
            case "$contains":
                return all(any(_is_equal(each, one) for each in values) for one in wanted)
            case "$eq" | "$in":
                return any(_is_equal(each, one) for each in values for one in wanted)
            case operator:
                signs = (_compare(each, self.value) for each in values)
                return any(sign is not None and _ORDERS[operator](sign) for sign in signs)


def parse_conditions(fields: Mapping[str, object]) -> tuple[FieldCondition, ...]:
    """Read conditions on fields, as JSON has them: a value, a list (all of which a field has to hold), or operators.

    Raises:
        InvalidCondition: There are too many, or one is none.
    """
    found: list[FieldCondition] = []
    for name, given in fields.items():
        names = tuple(name.split(".")) if isinstance(name, str) else ()
        if not all(names) or not names or len(name) > _LONGEST:
            raise InvalidCondition("the name of a field must be a word, or words with a point between them")
        operators = given if isinstance(given, Mapping) else {"$contains" if isinstance(given, list) else "$eq": given}
        if not operators:
            raise InvalidCondition(f"a condition needs one of {', '.join(OPERATORS)}")
        found += [FieldCondition(names, *_parse_operator(operator, value)) for operator, value in operators.items()]
    if len(found) > MOST_CONDITIONS:
        raise InvalidCondition(f"there may be at most {MOST_CONDITIONS} conditions on fields")
    return tuple(found)


def _parse_operator(operator: object, value: object) -> tuple[str, object]:
    if not isinstance(operator, str) or operator not in OPERATORS:
        raise InvalidCondition(f"a condition needs one of {', '.join(OPERATORS)}")
    if operator == "$exists":
        if not isinstance(value, bool):
            raise InvalidCondition("$exists needs true or false")
        return operator, value
    if operator == "$in" or (operator == "$contains" and isinstance(value, list)):
        if not isinstance(value, list) or not value or len(value) > _MOST_VALUES:
            raise InvalidCondition(f"{operator} needs a list of 1 to {_MOST_VALUES} values")
        return operator, tuple(_parse_scalar(operator, each) for each in value)
    return operator, _parse_scalar(operator, value)


def _parse_scalar(operator: str, value: object) -> object:
    if not isinstance(value, str | int | float | bool):
        raise InvalidCondition(f"{operator} needs a word, a number, true or false")
    return value


def _is_equal(found: object, wanted: object) -> bool:
    if isinstance(found, bool) or isinstance(wanted, bool):
        return str(found).casefold() == str(wanted).casefold()
    return _compare(found, wanted) == 0


def _compare(found: object, wanted: object) -> int | None:
    """The order of two values: numbers as numbers, words without regard to case; `None` if they have none.

    Dates are words that are in order as they are written (2026-11-21).
    """
    if isinstance(found, bool) or isinstance(wanted, bool) or found is None:
        return None
    if isinstance(found, int | float) or isinstance(wanted, int | float):
        left, right = _to_number(found), _to_number(wanted)
        if left is not None and right is not None:
            return (left > right) - (left < right)
    if not isinstance(found, str | int | float) or not isinstance(wanted, str | int | float):
        return None
    first, second = str(found).casefold(), str(wanted).casefold()
    if isinstance(found, str) is not isinstance(wanted, str) and first != second:
        return None
    return (first > second) - (first < second)


def _to_number(value: object) -> float | None:
    if isinstance(value, int | float):
        return value
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class NoteFilter:
    """Which notes are wanted; empty for all.

    Attributes:
        types: Of which a note has one; in lower case.
        statuses: As `types`.
        tags: All of which a note has, in lower case, in its front matter or in what it states.
        categories: Of one of which it states something; in lower case.
        fields: Conditions on the front matter, all of which it passes.
    """

    types: frozenset[str] = frozenset()
    statuses: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    fields: tuple[FieldCondition, ...] = ()

    def __bool__(self) -> bool:
        return self != NoteFilter()

    def accepts(self, note: ParsedNote) -> bool:
        """Whether a note is wanted, as far as its fields do not decide."""
        if (self.types and note.type not in self.types) or (self.statuses and note.status not in self.statuses):
            return False
        if self.tags and not self.tags <= {each.casefold() for each in _iter_tags(note)}:
            return False
        return not self.categories or any(each.category.casefold() in self.categories for each in note.observations)

    def accepts_fields(self, properties: Mapping[str, object]) -> bool:
        """Whether the front matter of a note passes all conditions."""
        return all(condition.accepts(properties) for condition in self.fields)


def _iter_tags(note: ParsedNote) -> Iterable[str]:
    yield from note.tags
    for each in note.observations:
        yield from each.tags
