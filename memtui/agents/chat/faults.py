"""What went wrong, in sentences: what happened, why, and what to do.

Faults before an answer begins are the SDK's. Those in the middle of it are raw ones of its HTTP library, or of the
JSON reader; so every exception is judged here, and what nobody thought of is said as what it is: a bug.
"""

import errno
import json
import re
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from memtui.agents.chat.client import CONNECT_SECONDS, READ_SECONDS, NoClient
from memtui.agents.chat.events import Fault, FaultKind
from memtui.core.errors import MemtuiError
from memtui.core.visible import one_line

_LONGEST_WORDS = 300
_OF_PROVIDERS = frozenset({"azure", "boto3", "botocore", "google"})
"""Packages that providers' clients take credentials with."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request went, for sentences.

    Attributes:
        host: The server.
        model: The model that was to answer.
        key: What the key was taken from.
        provider: Whose client of the SDK is used.
    """

    host: str
    model: str = ""
    key: str = "the credentials"
    provider: str = "anthropic"


@dataclass(frozen=True, slots=True)
class Judged:
    """A fault, and whether it may pass.

    Attributes:
        kind: What.
        sentence: What happened and why, ending with a full stop.
        advice: What to do; empty where that goes without saying.
        passes: Whether the same request may well succeed soon.
        after: Seconds after which the server wants to be asked again, where it said so.
        words: The server's own.
    """

    kind: FaultKind
    sentence: str
    advice: str = ""
    passes: bool = False
    after: float | None = None
    words: str = ""

    def fault(self, kept: str) -> Fault:
        """As it is told.

        Args:
            kept: What became of what was said, as a sentence.
        """
        return Fault(self.kind, " ".join(part for part in (self.sentence, kept, self.advice) if part))


def judged(error: BaseException, place: Place, *, answering: bool = False) -> Judged:
    """What an exception means.

    Args:
        error: Anything.
        place: Where the request went.
        answering: Whether the answer had begun.
    """
    if isinstance(error, NoClient):
        return Judged(FaultKind.NO_KEY if error.has_sdk else FaultKind.NO_SDK, error.sentence)
    if isinstance(error, MemtuiError):
        return Judged(FaultKind.MEMORY, f"The memory cannot be used: {_ended(str(error))}")
    # Loaded already: whatever comes here comes from them.
    import anthropic
    import httpx2

    if isinstance(error, anthropic.APIStatusError):
        return _of_status(error, place)
    if isinstance(error, anthropic.CredentialsError) or (
        isinstance(error, TypeError) and "authentication method" in str(error)
    ):
        words = _words(str(error)) if isinstance(error, anthropic.CredentialsError) else "there is no API key"
        return Judged(FaultKind.NO_KEY, f"No API key: {words}.", "Set ANTHROPIC_API_KEY and run memtui chat again.")
    if any("header value" in str(each).lower() for each in _chain(error)):  # the words hold the key, as it is sent
        sentence = f"What was taken from {place.key} cannot be sent: it holds what no key holds, such as a line end."
        return Judged(FaultKind.WRONG_KEY, sentence, "Set a valid one and run memtui chat again.")
    if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
        return _of_silence(error, place, answering)
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | anthropic.APIResponseValidationError):
        return Judged(FaultKind.CUT_STREAM, f"{place.host} sent something that is no answer.", passes=not answering)
    if isinstance(error, anthropic.APIConnectionError | httpx2.TransportError | httpx2.StreamError | OSError):
        return _of_connection(error, place, answering)
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
        return Judged(FaultKind.NETWORK, f"{place.host} is no address.", "Look at ANTHROPIC_BASE_URL.")
    lacks_package = isinstance(error, anthropic.AnthropicError) and "missing required dependency" in str(error)
    if isinstance(error, ImportError) or lacks_package:
        words = "" if lacks_package else f" ({_words(str(error))})"
        what_to_do = f"Install it with: pip install 'anthropic[{place.provider}]'."
        return Judged(FaultKind.NO_SDK, f"What {place.provider} needs is not installed{words}.", what_to_do)
    if isinstance(error, anthropic.AnthropicError):
        return Judged(FaultKind.BAD_REQUEST, f"The request could not be made: {_ended(str(error))}")
    if type(error).__module__.partition(".")[0] in _OF_PROVIDERS or "resolve" in str(error):
        return Judged(FaultKind.NO_KEY, f"There are no credentials for {place.host}: {_ended(str(error))}")
    what = f"{type(error).__name__}: {_words(str(error))}" if str(error) else type(error).__name__
    return Judged(FaultKind.BUG, f"memtui stopped this turn because of a bug ({what}).")


def _of_status(error: object, place: Place) -> Judged:
    """Of an answer of the server's that is an error; in mid-stream its status is 200, and only its type tells."""
    status = getattr(error, "status_code", 0)
    kind = str(getattr(error, "type", None) or "")
    words = _words(str(getattr(error, "api_message", None) or ""))
    said = f" ({words})" if words else ""
    after = _after(error)
    host, model = place.host, place.model or "the model"
    lower = words.lower()
    if status == 401 or kind == "authentication_error":
        return Judged(
            FaultKind.WRONG_KEY, f"{host} does not take the API key from {place.key}{said}.",
            "Set a valid one and run memtui chat again.", words=words,
        )  # fmt: skip
    if status == 402 or kind == "billing_error" or "credit balance" in lower:
        return Judged(FaultKind.NO_CREDIT, f"{host} wants to be paid first{said}.", words=words)
    if status == 403 or kind == "permission_error":
        return Judged(FaultKind.FORBIDDEN, f"The key from {place.key} may not do that at {host}{said}.", words=words)
    if status == 413 or kind == "request_too_large" or (status in (400, 0, 200) and _is_too_large(lower)):
        return Judged(
            FaultKind.TOO_LARGE, f"This conversation is too large for {model}{said}.",
            "/clear begins a new one, and memory stays as it is; or leave out what is attached.", words=words,
        )  # fmt: skip
    if status == 404 and ("model" in lower or (place.model and place.model.lower() in lower)):
        return Judged(
            FaultKind.UNKNOWN_MODEL, f"{host} has no model called {model}.", "/model shows those there are.",
            words=words,
        )  # fmt: skip
    if status == 404:
        return Judged(
            FaultKind.BAD_REQUEST, f"{host} knows no such address{said}.", "Look at ANTHROPIC_BASE_URL.", words=words
        )
    if status == 429 or kind == "rate_limit_error":
        return Judged(
            FaultKind.RATE_LIMIT, f"{host} has had too many requests{said}.", passes=_may_pass(error), after=after,
            words=words,
        )  # fmt: skip
    if status == 529 or kind == "overloaded_error":
        return Judged(FaultKind.OVERLOADED, f"{host} is overloaded.", passes=_may_pass(error), after=after, words=words)
    if status in (408, 504) or kind == "timeout_error":
        return Judged(
            FaultKind.TIMEOUT, f"{host} took too long{said}.", passes=_may_pass(error), after=after, words=words
        )
    if status >= 500 or kind == "api_error" or status == 409:
        return Judged(
            FaultKind.SERVER, f"{host} had a fault of its own ({words or status}).", passes=_may_pass(error),
            after=after, words=words,
        )  # fmt: skip
    advice = ""
    if "memory_20250818" in lower:
        advice = f"{model} there does not know the memory tool. Name another model with --model."
    elif "thinking" in lower:
        advice = f"If {model} does not think, start without --thinking."
    elif "effort" in lower or "output_config" in lower:
        advice = f"If {model} knows no effort, start without --effort."
    return Judged(
        FaultKind.BAD_REQUEST, f"{host} did not take the request{said or f' ({status})'}.", advice, words=words
    )


def _is_too_large(lower: str) -> bool:
    return "too long" in lower or ("context" in lower and ("exceed" in lower or "window" in lower or "limit" in lower))


def _may_pass(error: object) -> bool:
    headers = getattr(getattr(error, "response", None), "headers", {})
    return headers.get("x-should-retry") != "false"


def _after(error: object) -> float | None:
    """When the server wants to be asked again, in seconds."""
    headers = getattr(getattr(error, "response", None), "headers", {})
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


def _of_silence(error: BaseException, place: Place, answering: bool) -> Judged:
    import httpx2

    if any(isinstance(each, httpx2.ConnectTimeout) for each in _chain(error)):
        return Judged(
            FaultKind.NETWORK, f"Could not reach {place.host} (no answer within {CONNECT_SECONDS:g} seconds)."
        )
    return Judged(
        FaultKind.TIMEOUT, f"{place.host} fell silent: nothing came for {READ_SECONDS:g} seconds.",
        passes=not answering,
    )  # fmt: skip


def _of_connection(error: BaseException, place: Place, answering: bool) -> Judged:
    reason = _reason(error)
    if answering:
        return Judged(FaultKind.CUT_STREAM, f"The connection to {place.host} broke in the middle of the answer.")
    dropped = reason in _DROPPED
    return Judged(FaultKind.NETWORK, f"Could not reach {place.host} ({reason}).", passes=dropped)


_DROPPED = frozenset({"the connection was closed", "the connection was reset"})


def _reason(error: BaseException) -> str:
    """Why there is no connection, in a few words."""
    chain = list(_chain(error))
    for each in chain:
        match each:
            case socket.gaierror():
                return "name not found"
            case ConnectionRefusedError():
                return "connection refused"
            case ssl.SSLError():
                return "its certificate is not to be trusted, or the connection is not encrypted as it should be"
            case ConnectionResetError() | BrokenPipeError():
                return "the connection was reset"
            case OSError(errno=errno.ENETUNREACH | errno.EHOSTUNREACH):
                return "there is no network"
    names = {type(each).__name__ for each in chain}
    if "ProxyError" in names:
        return "the proxy does not let it through"
    if names & {"RemoteProtocolError", "ReadError", "WriteError", "CloseError"}:
        return "the connection was closed"
    return _words(str(chain[-1])) or type(chain[-1]).__name__


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and what it came from, the outermost first."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        if isinstance(at, BaseExceptionGroup):
            yield from at.exceptions
        at = at.__cause__ or at.__context__


_LIKE_A_KEY = re.compile(r"\bsk-[\w-]{6,}|[\w+/=-]{40,}")


def _words(text: str) -> str:
    """A server's words, fit for a sentence: on one line, short, without a stop at the end, and without a key."""
    line = one_line(_LIKE_A_KEY.sub("...", " ".join(text.split()))).rstrip(". ")
    return line if len(line) <= _LONGEST_WORDS else line[:_LONGEST_WORDS] + " …"


def _ended(text: str) -> str:
    return text if text.endswith(".") else f"{_words(text)}."
