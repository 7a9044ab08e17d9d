"""What a client sent: fields of its body and of its query, each validated."""

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime

from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.serve.access import Client
from memtui.serve.errors import make_invalid
from memtui.serve.listing import DEFAULT_LIMIT, MOST_LIMIT, PageRequest, decode_cursor

_LONGEST_NAME, _LONGEST_DESCRIPTION = 255, 1_024
_MOST_PAIRS, _LONGEST_KEY, _LONGEST_VALUE = 16, 64, 512
_HEX = frozenset("0123456789abcdef")
ABSENT = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest:
    """A request that was admitted.

    Attributes:
        client: Who sent it.
        ids: The ids in its path, by name.
        query: The parameters behind its path.
        body: The fields of its body.
    """

    client: Client
    ids: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, object] = field(default_factory=dict)

    @property
    def store_id(self) -> str:
        return self.ids["store_id"]

    def is_full(self, *, default: bool) -> bool:
        """Whether the view is `full`."""
        match self.query.get("view"):
            case None:
                return default
            case "full":
                return True
            case "basic":
                return False
        raise make_invalid("view: it must be basic or full.")

    def get_page(self, cursor: type) -> PageRequest:
        """Which page is asked for; `cursor` is what a `next_page` of this list holds."""
        page = self.query.get("page")
        return PageRequest(
            limit=self.get_number("limit", DEFAULT_LIMIT, 1, MOST_LIMIT),
            is_full=self.is_full(default=False),
            cursor=None if page is None else decode_cursor(page, cursor),
        )

    def get_number(self, name: str, default: int, least: int, most: int) -> int:
        given = self.query.get(name)
        if given is None:
            return default
        if not (given.isascii() and given.isdecimal() and len(given) < 10 and least <= int(given) <= most):
            raise make_invalid(f"{name}: it must be a number from {least} to {most}.")
        return int(given)

    def get_flag(self, name: str) -> bool:
        given = self.query.get(name, "false").lower()
        if given not in ("true", "false"):
            raise make_invalid(f"{name}: it must be true or false.")
        return given == "true"

    def get_time_us(self, name: str) -> int | None:
        """A time by RFC 3339, in microseconds since 1970."""
        given = self.query.get(name)
        if given is None:
            return None
        try:
            at = datetime.fromisoformat(given)
            return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1_000_000)
        except (ValueError, OverflowError):
            raise make_invalid(f"{name}: it must be a time in RFC 3339 format.") from None

    def get_choice(self, name: str, choices: tuple[str, ...]) -> str | None:
        given = self.query.get(name)
        if given is not None and given not in choices:
            raise make_invalid(f"{name}: it must be one of {', '.join(choices)}.")
        return given

    def get_hash(self, name: str) -> str | None:
        """A SHA-256 in the query."""
        given = self.query.get(name)
        return None if given is None else validate_hash(given, name)

    # The body

    def get_text(self, name: str) -> str:
        """A text that must be there."""
        value = self.body.get(name, ABSENT)
        if not isinstance(value, str):
            raise make_invalid(f"{name}: {'it is required' if value is ABSENT else 'it must be a string'}.")
        return value

    def get_optional_text(self, name: str) -> str | None:
        """A text, or `None` where it is left out or null."""
        value = self.body.get(name)
        if value is not None and not isinstance(value, str):
            raise make_invalid(f"{name}: it must be a string.")
        return value

    def get_precondition(self) -> str | None:
        """The SHA-256 that a memory's content must have; `None` for any."""
        given = self.body.get("precondition")
        if given is None:
            return None
        if not isinstance(given, Mapping) or given.get("type") != "content_sha256":
            raise make_invalid("precondition: its type must be content_sha256.")
        return validate_hash(given.get("content_sha256"), "precondition.content_sha256")


def validate_hash(given: object, name: str) -> str:
    if not isinstance(given, str) or len(given) != 64 or not _HEX.issuperset(given):
        raise make_invalid(f"{name}: it must be 64 digits and letters a to f.")
    return given


def parse_body(data: bytes) -> Mapping[str, object]:
    """The fields of a body, nothing for an empty one; raises `ApiError`."""
    if not data:
        return {}
    try:
        body = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise make_invalid("The request's body is not JSON in UTF-8.") from None
    if not isinstance(body, dict):
        raise make_invalid("The request's body must be a JSON object.")
    return body


def validate_name(given: str) -> str:
    if not 1 <= len(given) <= _LONGEST_NAME or any(unicodedata.category(each) in ("Cc", "Cs") for each in given):
        raise make_invalid(f"name: it has 1 to {_LONGEST_NAME} characters, without control characters.")
    return given


def validate_description(given: str) -> str:
    if len(given) > _LONGEST_DESCRIPTION or not _is_unicode(given):
        raise make_invalid(f"description: it has at most {_LONGEST_DESCRIPTION:,} characters.")
    return given


def merge_metadata(before: Mapping[str, str], given: object) -> Mapping[str, str]:
    """Metadata after a change: strings replace values, null removes keys; raises `ApiError`."""
    if given is None:
        return before
    if not isinstance(given, Mapping):
        raise make_invalid("metadata: it must be an object of strings.")
    merged = dict(before)
    for key, value in given.items():
        if value is None:
            merged.pop(key, None)
        elif not isinstance(value, str) or not _is_unicode(key) or not _is_unicode(value):
            raise make_invalid(f"metadata: the value of {to_one_line(key)[:100]!r} must be a string.")
        elif not 1 <= len(key) <= _LONGEST_KEY or len(value) > _LONGEST_VALUE:
            raise make_invalid(
                f"metadata: keys have 1 to {_LONGEST_KEY} characters, and values at most {_LONGEST_VALUE}."
            )
        else:
            merged[key] = value
    if len(merged) > _MOST_PAIRS:
        raise make_invalid(f"metadata: it has at most {_MOST_PAIRS} pairs.")
    return merged


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= each <= "\udfff" for each in text)
