"""Faults of the connection as sentences: what happened, why, and the next step.

Faults before an answer begins are the SDK's. Those in the middle of it come raw from its HTTP library or from the JSON
reader; so every exception is classified here, and an unknown one is reported as a bug.
"""

import errno
import json
import re
import socket
import ssl
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from memtui.agents.chat.client import CONNECT_SECONDS, READ_SECONDS, ClientUnavailable
from memtui.agents.chat.events import FaultKind
from memtui.core.errors import MemtuiError
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line

_LONGEST_WORDS = 300
_SET_VARIABLE = "Set ANTHROPIC_API_KEY and run memtui chat again."
_SET_KEY = "Set a valid one and run memtui chat again."
_LOOK_AT_URL = "Check ANTHROPIC_BASE_URL."
_PROVIDER_PACKAGES = frozenset({"azure", "boto3", "botocore", "google"})
"""Packages that providers' clients take credentials with."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a request went, for sentences; `key` names the source of the key."""

    host: str
    model: str = ""
    key: str = "the credentials"
    provider: str = "anthropic"


@dataclass(frozen=True, slots=True)
class ClassifiedFault:
    """A fault and its treatment.

    Attributes:
        sentence: What happened and why, ending with a full stop.
        advice: The next step; empty where it goes without saying.
        is_retryable: Whether the same request may well succeed soon.
        retry_after: Seconds that the server wants to be waited.
        server_message: The server's words.
    """

    kind: FaultKind
    sentence: str
    advice: str = ""
    is_retryable: bool = False
    retry_after: float | None = None
    server_message: str = ""


def classify_error(error: BaseException, endpoint: Endpoint, *, answering: bool = False) -> ClassifiedFault:
    """The fault that an exception means; `answering` if the answer had begun."""
    if isinstance(error, ClientUnavailable):
        return ClassifiedFault(FaultKind.NO_KEY if error.has_sdk else FaultKind.NO_SDK, error.sentence)
    if isinstance(error, MemtuiError):
        return ClassifiedFault(FaultKind.MEMORY, f"Can't use the memory folder: {_end_sentence(str(error))}")
    import anthropic  # noqa: PLC0415 - start-up: loads the SDK
    import httpx2  # noqa: PLC0415 - start-up: loads the SDK

    host = endpoint.host
    if isinstance(error, anthropic.APIStatusError):
        return _classify_status(error, endpoint)
    if isinstance(error, anthropic.CredentialsError):
        return ClassifiedFault(FaultKind.NO_KEY, f"No API key: {_sanitize_message(str(error))}.", _SET_VARIABLE)
    if isinstance(error, TypeError) and "authentication method" in str(error):
        return ClassifiedFault(FaultKind.NO_KEY, "No API key.", _SET_VARIABLE)
    if any("header value" in str(each).lower() for each in _iter_causes(error)):  # this message would hold the key
        sentence = f"The API key from {endpoint.key} has characters that cannot be sent, such as a line break."
        return ClassifiedFault(FaultKind.WRONG_KEY, sentence, _SET_KEY)
    if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
        if any(isinstance(each, httpx2.ConnectTimeout) for each in _iter_causes(error)):
            reason = f"no answer within {CONNECT_SECONDS:g} seconds"
            return ClassifiedFault(FaultKind.NETWORK, f"Could not reach {host} ({reason}).")
        sentence = f"{host} sent nothing for {READ_SECONDS:g} seconds."
        return ClassifiedFault(FaultKind.TIMEOUT, sentence, is_retryable=not answering)
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | anthropic.APIResponseValidationError):
        sentence = f"{host} sent an invalid answer."
        return ClassifiedFault(FaultKind.CUT_STREAM, sentence, is_retryable=not answering)
    if isinstance(error, anthropic.APIConnectionError | httpx2.TransportError | httpx2.StreamError | OSError):
        if answering:
            return ClassifiedFault(FaultKind.CUT_STREAM, f"The connection to {host} broke in the middle of the answer.")
        reason = _describe_connection_error(error)
        is_dropped = reason in ("the connection was closed", "the connection was reset")
        return ClassifiedFault(FaultKind.NETWORK, f"Could not reach {host} ({reason}).", is_retryable=is_dropped)
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
        return ClassifiedFault(FaultKind.NETWORK, f"{host} is not a valid address.", _LOOK_AT_URL)
    return _classify_other(error, endpoint, is_of_sdk=isinstance(error, anthropic.AnthropicError))


def _classify_other(error: BaseException, endpoint: Endpoint, *, is_of_sdk: bool) -> ClassifiedFault:
    """The fault of an exception that is neither a response nor of the connection."""
    lacks_package = is_of_sdk and "missing required dependency" in str(error)
    if isinstance(error, ImportError) or lacks_package:
        words = "" if lacks_package else f" ({_sanitize_message(str(error))})"
        advice = f"Install them with: pip install 'anthropic[{endpoint.provider}]'."
        return ClassifiedFault(
            FaultKind.NO_SDK, f"The packages for {endpoint.provider} are not installed{words}.", advice
        )
    if is_of_sdk:
        return ClassifiedFault(FaultKind.BAD_REQUEST, f"The request could not be made: {_end_sentence(str(error))}")
    if type(error).__module__.partition(".")[0] in _PROVIDER_PACKAGES or "resolve" in str(error):
        sentence = f"No credentials for {endpoint.host}: {_end_sentence(str(error))}"
        return ClassifiedFault(FaultKind.NO_KEY, sentence)
    what = f"{type(error).__name__}: {_sanitize_message(str(error))}" if str(error) else type(error).__name__
    return ClassifiedFault(FaultKind.BUG, f"memtui stopped this turn because of a bug ({what}).")


_STATUSES: Sequence[tuple[FaultKind, Collection[int], str | None, str, str]] = (
    (FaultKind.WRONG_KEY, (401,), "authentication_error",
     "{host} rejected the API key from {key}{reason}.", _SET_KEY),
    (FaultKind.NO_CREDIT, (402,), "billing_error", "{host} requires payment{reason}.", ""),
    (FaultKind.FORBIDDEN, (403,), "permission_error", "The API key from {key} lacks permission at {host}{reason}.", ""),
    (FaultKind.TOO_LARGE, (413,), "request_too_large", "This conversation is too large for {model}{reason}.",
     "/clear starts a new one and keeps memory. Or leave out attachments."),
    (FaultKind.UNKNOWN_MODEL, (), None, "{host} has no model called {model}.", "/model lists the models."),
    (FaultKind.BAD_REQUEST, (404,), None, "{host} has no such address (404){reason}.", _LOOK_AT_URL),
    (FaultKind.RATE_LIMIT, (429,), "rate_limit_error", "Too many requests to {host}{reason}.", ""),
    (FaultKind.OVERLOADED, (529,), "overloaded_error", "{host} is overloaded.", ""),
    (FaultKind.TIMEOUT, (408, 504), "timeout_error", "{host} timed out{reason}.", ""),
    (FaultKind.SERVER, (409, *range(500, 1_000)), "api_error", "{host} had a server error ({words}).", ""),
)  # fmt: skip
"""Kinds of error responses, the first that applies: kind, statuses, type of the error, sentence, advice."""
_RETRYABLE = frozenset({FaultKind.RATE_LIMIT, FaultKind.OVERLOADED, FaultKind.TIMEOUT, FaultKind.SERVER})


def _classify_status(error: object, endpoint: Endpoint) -> ClassifiedFault:
    """The fault of an error response. In mid-stream its status is 200, and only its type tells."""
    status = getattr(error, "status_code", 0)
    type_ = getattr(error, "type", None)
    words = _sanitize_message(str(getattr(error, "api_message", None) or ""))
    reason, lower, model = f" ({words})" if words else "", words.lower(), endpoint.model or "the model"
    by_words = _classify_words(status, lower, endpoint.model.lower())
    for kind, statuses, name, sentence, advice in _STATUSES:
        if kind is by_words or status in statuses or (name is not None and type_ == name):
            filled = sentence.format(
                host=endpoint.host, key=endpoint.key, model=model, reason=reason, words=words or status
            )
            if kind not in _RETRYABLE:
                return ClassifiedFault(kind, filled, advice, server_message=words)
            headers = getattr(getattr(error, "response", None), "headers", {})
            may_retry = headers.get("x-should-retry") != "false"
            return ClassifiedFault(kind, filled, advice, may_retry, _parse_retry_after(headers), words)
    advice = ""
    if "memory_20250818" in lower:
        advice = f"{model} does not support the memory tool. Choose another model with --model."
    elif "thinking" in lower:
        advice = f"If {model} does not support thinking, start without --thinking."
    elif "effort" in lower or "output_config" in lower:
        advice = f"If {model} does not support effort, start without --effort."
    sentence = f"{endpoint.host} rejected the request{reason or f' ({status})'}."
    return ClassifiedFault(FaultKind.BAD_REQUEST, sentence, advice, server_message=words)


def _classify_words(status: int, words: str, model: str) -> FaultKind | None:
    """The kind of fault that only the server's words tell."""
    if "credit balance" in words:
        return FaultKind.NO_CREDIT
    is_full = "context" in words and any(word in words for word in ("exceed", "window", "limit"))
    if status in (400, 0, 200) and ("too long" in words or is_full):
        return FaultKind.TOO_LARGE
    if status == 404 and ("model" in words or (model and model in words)):
        return FaultKind.UNKNOWN_MODEL
    return None


def _parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that the server wants to be waited."""
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return max(0.0, float(milliseconds) / 1000)
        if (seconds := headers.get("retry-after")) is None:
            return None
        return max(0.0, float(seconds))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(headers["retry-after"]) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, KeyError):
        return None


def _describe_connection_error(error: BaseException) -> str:
    """The cause of a failed connection, in a few words."""
    chain = list(_iter_causes(error))
    for each in chain:
        match each:
            case socket.gaierror():
                return "name not found"
            case ConnectionRefusedError():
                return "connection refused"
            case ssl.SSLError():
                return "TLS failed: untrusted certificate, or no TLS on the server"
            case ConnectionResetError() | BrokenPipeError():
                return "the connection was reset"
            case OSError(errno=errno.ENETUNREACH | errno.EHOSTUNREACH):
                return "no network"
    names = {type(each).__name__ for each in chain}
    if "ProxyError" in names:
        return "the proxy refused the connection"
    if names & {"RemoteProtocolError", "ReadError", "WriteError", "CloseError"}:
        return "the connection was closed"
    return _sanitize_message(str(chain[-1])) or type(chain[-1]).__name__


def _iter_causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and its causes, the outermost first."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        if isinstance(at, BaseExceptionGroup):
            yield from at.exceptions
        at = at.__cause__ or at.__context__


_LIKE_A_KEY = re.compile(r"\bsk-[\w-]{6,}|[\w+/=-]{40,}")


def _sanitize_message(text: str) -> str:
    """A server's message for a sentence: on one line, short, without a stop at the end, and without a key."""
    line = to_one_line(_LIKE_A_KEY.sub("...", " ".join(text.split()))).rstrip(". ")
    return line if len(line) <= _LONGEST_WORDS else line[:_LONGEST_WORDS] + " …"


def _end_sentence(text: str) -> str:
    return text if text.endswith(".") else f"{_sanitize_message(text)}."
