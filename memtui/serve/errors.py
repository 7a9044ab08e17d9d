"""The API's errors: a status, a type that programs compare, and a sentence for a person."""

from collections.abc import Mapping

from memtui.core.errors import (
    FolderMissing,
    LockTimeout,
    MemoryClosed,
    MemtuiError,
    RemoteRefused,
    ServerUnusable,
    StateUnusable,
)
from memtui.core.events import Answer
from memtui.core.messages import MessageKey
from memtui.core.paths import ROOT_NAME
from memtui.core.unicode import to_one_line

_LONGEST = 1_000
"""Characters of a sentence."""

INVALID, AUTHENTICATION, PERMISSION = "invalid_request_error", "authentication_error", "permission_error"
NOT_FOUND, RATE_LIMIT, TIMEOUT = "not_found_error", "rate_limit_error", "timeout_error"
API, OVERLOADED, TOO_LARGE = "api_error", "overloaded_error", "request_too_large"
PRECONDITION, PATH_CONFLICT, CONFLICT = (
    "memory_precondition_failed_error",
    "memory_path_conflict_error",
    "conflict_error",
)
_RETRIED = frozenset({RATE_LIMIT, OVERLOADED})
"""What another attempt may change: clients are told to try again, and for all else not to."""


class ApiError(MemtuiError):
    """A request that is answered with an error.

    Args:
        status: The status code of HTTP.
        kind: The error's type.
        sentence: For a person; it may hold a client's text.
        headers: Further headers of the answer.
    """

    def __init__(self, status: int, kind: str, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(to_one_line(sentence)[:_LONGEST])
        self.status = status
        self.kind = kind
        self.headers = {"x-should-retry": "true" if kind in _RETRIED else "false", **(headers or {})}

    def make_body(self, request_id: str) -> dict[str, object]:
        return {"type": "error", "error": {"type": self.kind, "message": str(self)}, "request_id": request_id}


def make_invalid(sentence: str) -> ApiError:
    return ApiError(400, INVALID, sentence)


def make_forbidden(sentence: str) -> ApiError:
    return ApiError(403, PERMISSION, sentence)


def make_missing(what: str, given: str) -> ApiError:
    return ApiError(404, NOT_FOUND, f"There is no {what} {given}.")


def make_path_conflict(path: str, sentence: str = "") -> ApiError:
    return ApiError(409, PATH_CONFLICT, sentence or f"A memory at {path} exists already.")


def make_precondition_error(path: str) -> ApiError:
    words = f"The memory at {path} has another content_sha256 than expected. Nothing was changed. Read it again."
    return ApiError(409, PRECONDITION, words)


def make_busy(sentence: str) -> ApiError:
    return ApiError(529, OVERLOADED, sentence)


_TAKEN = frozenset(
    {
        MessageKey.EXISTS,
        MessageKey.CREATE_BELOW_FILE,
        MessageKey.RENAME_BELOW_FILE,
        MessageKey.DESTINATION_EXISTS,
        MessageKey.ESCAPES_BY_LINK,
        MessageKey.RENAME_INTO_ITSELF,
    }
)
_FORBIDDEN = frozenset({MessageKey.PROTECTED, MessageKey.READ_ONLY})
_GONE = frozenset({MessageKey.MISSING, MessageKey.EDIT_MISSING, MessageKey.FOLDER_GONE})
_FAULTS = frozenset({MessageKey.SYSTEM, MessageKey.UNRECORDED, MessageKey.UNCERTAIN, MessageKey.UNKNOWN_OUTCOME})


def make_refusal_error(answer: Answer) -> ApiError:
    """The error for a command that the engine refused, in the engine's words."""
    words = answer.text.removeprefix("Error: ").replace(f"{ROOT_NAME}/", "/")
    words = words if words.endswith((".", "?")) else f"{words}."
    key = MessageKey[answer.refusal] if answer.refusal else None
    if key in _TAKEN:
        return ApiError(409, PATH_CONFLICT, words)
    if key in _FORBIDDEN:
        return ApiError(403, PERMISSION, words)
    if key in _GONE:
        return ApiError(404, NOT_FOUND, words)
    if key is MessageKey.BUSY:
        return make_busy(words)
    if key is None or key in _FAULTS:
        return ApiError(500, API, words)
    return make_invalid(words)


def make_fault_error(error: BaseException) -> ApiError:
    """The error for a fault of the folder or of its journal; no path of the machine is in it."""
    match error:
        case ApiError():
            return error
        case LockTimeout():
            return make_busy("The store is busy: another program writes to it. Nothing was changed.")
        case FolderMissing():
            return ApiError(404, NOT_FOUND, "The store's folder is missing.")
        case MemoryClosed():
            return make_busy("The store is being closed. Nothing was changed.")
        case ServerUnusable() if not isinstance(error, RemoteRefused):
            return make_busy("The store is on another server, which cannot be used now.")
        case StateUnusable():
            return ApiError(500, API, "The store's journal cannot be used. The server's operator can see why.")
        case _:
            return ApiError(500, API, "The server has failed. The server's operator can see why.")
