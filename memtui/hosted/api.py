"""The requests that a hosted store is read and changed with, by the official SDK's client.

Each fault becomes an error of ours, with a sentence in which neither the key nor the server's address is. A change is
sent once: where its answer does not come, the store is asked what became of it.
"""

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeVar

import anthropic
import httpx2
from anthropic import Anthropic
from anthropic.types.beta.memory_stores import BetaManagedAgentsMemory, BetaManagedAgentsMemoryVersion

from memtui.core.errors import OutcomeUnknown, RemoteRefused, Unreachable
from memtui.core.events import Actor, Agent, Outside
from memtui.core.unicode import to_one_line

MOST_BYTES = 102_400
"""Bytes of a memory's content, as the API has it."""
SECONDS = 30.0
"""For how long an answer is waited for."""
LOOK_SECONDS = 5.0
"""The same where it is only asked whether anything is new: what is known can be shown without."""
PAGE, _FULL_PAGE = 100, 20
"""Items of a page, as the API has it: without and with contents."""
_LONGEST = 300
"""Characters of the API's own words in a sentence."""
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
"""What happens before a request is on its way."""
_IN_DOUBT = frozenset({408, 500, 502, 503, 504, 529})
"""Statuses after which a change may have been made."""
_FAULTS = (anthropic.AnthropicError, TypeError, ValueError, AttributeError)
"""What a request may raise: the SDK checks no types of an answer, and names a missing key by a `TypeError`."""
_T = TypeVar("_T")


class Away(RemoteRefused, Unreachable):
    """The API cannot be reached, has failed, or takes no more requests for a while."""


class Conflict(Exception):
    """A memory is not what it was expected to be, or stands at the path already: nothing was changed."""


class RemoteVersion(NamedTuple):
    """One entry of a store's history.

    Attributes:
        path: Relative to the store's root; `None` where the version was redacted, and for one that cannot be.
        sha256: Of the content; `None` where it was redacted, and of a deletion.
        at_us: When it was made, in microseconds since 1970.
    """

    id: str
    memory_id: str
    path: str | None
    sha256: str | None
    is_deleted: bool
    is_redacted: bool
    at_us: int
    actor: Actor
    content: bytes | None = None


class RemoteMemory(NamedTuple):
    """A memory as it stands; see `RemoteVersion` for its fields."""

    id: str
    version_id: str
    path: str
    sha256: str
    at_us: int


class StoreInfo(NamedTuple):
    name: str
    created_us: int
    is_archived: bool


class HostedApi:
    """One store. Every method may raise `RemoteRefused`, and is called from any thread.

    Args:
        store_id: `memstore_...`.
        client: The SDK's client; by default one that has key and address from the SDK's environment variables.
    """

    def __init__(self, store_id: str, client: Anthropic | None = None) -> None:
        self.store_id = store_id
        with self._translate():
            self._client = client or Anthropic(timeout=SECONDS)
        self._owns_client = client is None
        self._stores = self._client.beta.memory_stores
        self._writes = self._client.with_options(max_retries=0).beta.memory_stores.memories
        self._looks = self._client.with_options(max_retries=0, timeout=LOOK_SECONDS).beta.memory_stores.memory_versions

    def close(self) -> None:
        if self._owns_client:
            self._client.close()

    # Reading

    def get_info(self) -> StoreInfo:
        with self._translate():
            store = self._stores.retrieve(self.store_id)
            return StoreInfo(store.name, _to_us(store.created_at), store.archived_at is not None)

    def find_newest(self) -> str | None:
        """The id of the newest version; asked once, and not waited for as long as for others."""
        with self._translate():
            newest = next(iter(self._looks.list(self.store_id, limit=1).data or ()), None)
            return str(newest.id) if newest is not None else None

    def iter_versions(self, *, full: bool = False, limit: int = PAGE) -> Iterator[RemoteVersion]:
        """The versions of all memories, newest first; `full` ones have their content."""
        with self._translate():
            view: Literal["full", "basic"] = "full" if full else "basic"
            most = _FULL_PAGE if full else limit
            for each in self._stores.memory_versions.list(self.store_id, view=view, limit=most):
                yield _read_version(each)

    def get_content(self, version_id: str) -> bytes | None:
        """The content of a version; `None` where it was redacted or is not kept any more."""
        with self._translate(), contextlib.suppress(anthropic.NotFoundError):
            found = self._stores.memory_versions.retrieve(version_id, memory_store_id=self.store_id, view="full")
            return _read_version(found).content
        return None

    def iter_memories(self) -> Iterator[RemoteMemory]:
        with self._translate():
            for each in self._stores.memories.list(self.store_id, limit=PAGE):
                if isinstance(each, BetaManagedAgentsMemory) and _read_path(each.path) is not None:
                    yield _read_memory(each)

    def find_memory(self, memory_id: str) -> RemoteMemory | None:
        with self._translate(), contextlib.suppress(anthropic.NotFoundError):
            return _read_memory(self._stores.memories.retrieve(memory_id, memory_store_id=self.store_id, view="basic"))
        return None

    def find_at(self, path: str) -> RemoteMemory | None:
        """The memory at a path."""
        prefix = f"/{path.rpartition('/')[0]}/" if "/" in path else "/"
        with self._translate():
            for each in self._stores.memories.list(self.store_id, path_prefix=prefix, depth=1, limit=PAGE):
                if isinstance(each, BetaManagedAgentsMemory) and each.path == f"/{path}":
                    return _read_memory(each)
        return None

    # Changing. Each raises `Conflict` where the memory is not as expected, and `OutcomeUnknown` where nobody can say
    # what became of the change.

    def create(self, path: str, content: str) -> RemoteMemory:
        return self._change(
            lambda: _read_memory(self._writes.create(self.store_id, path=f"/{path}", content=content)),
            lambda: _has_content(self.find_at(path), path, content),
        )

    def update(self, memory_id: str, *, expected: str, path: str | None, content: str | None) -> RemoteMemory:
        """Give a memory, of which the content has the SHA-256 `expected`, a path and a content, `None` for the same.

        Its path is no part of the precondition: where it is not given, the memory may have got another one meanwhile.
        """
        given: dict[str, Any] = {} if content is None else {"content": content}
        if path is not None:
            given["path"] = f"/{path}"
        return self._change(
            lambda: _read_memory(
                self._writes.update(
                    memory_id,
                    memory_store_id=self.store_id,
                    precondition={"type": "content_sha256", "content_sha256": expected},
                    **given,
                )
            ),
            lambda: _has_content(self.find_memory(memory_id), path, content, expected),
        )

    def delete(self, memory_id: str, *, expected: str) -> None:
        self._change(
            lambda: self._writes.delete(memory_id, memory_store_id=self.store_id, expected_content_sha256=expected).id,
            lambda: memory_id if self.find_memory(memory_id) is None else None,
        )

    def redact(self, version_id: str) -> None:
        """Remove the content of a version for good, where the store still has it."""
        with self._translate(), contextlib.suppress(anthropic.NotFoundError):
            self._stores.memory_versions.redact(version_id, memory_store_id=self.store_id)

    def _change(self, send: Callable[[], _T], find_outcome: Callable[[], _T | None]) -> _T:
        """Send a change once. Where no answer comes, what `find_outcome` finds is the answer, and `None` is none."""
        try:
            return send()
        except (anthropic.ConflictError, anthropic.NotFoundError) as error:
            if isinstance(error, anthropic.NotFoundError):
                self.get_info()  # raises where it is the store that is not there
            raise Conflict(_get_words(error)) from None
        except _FAULTS as error:
            if not _is_in_doubt(error):
                raise self._make_refusal(error) from None
        try:
            found = find_outcome()
        except RemoteRefused:
            raise OutcomeUnknown("The connection was lost, and nobody knows whether the change was made.") from None
        if found is None:
            raise Away("The connection to the memory store was lost, and the change was not made.")
        return found

    # Errors

    @contextlib.contextmanager
    def _translate(self) -> Iterator[None]:
        """Raise `RemoteRefused` for the SDK's errors."""
        try:
            yield
        except _FAULTS as error:
            raise self._make_refusal(error) from None

    def _make_refusal(self, error: Exception) -> RemoteRefused:
        match error:
            case anthropic.APIConnectionError():
                return Away("The memory store cannot be reached.")
            case anthropic.AuthenticationError():
                return RemoteRefused("The API refused the key. Set ANTHROPIC_API_KEY to one that may use this store.")
            case anthropic.NotFoundError():
                return RemoteRefused(f"There is no memory store {to_one_line(self.store_id)} for this key.")
            case anthropic.RateLimitError():
                after = error.response.headers.get("retry-after", "")
                when = f"in {after} s" if after.isdecimal() else "later"
                return Away(f"The API takes no more requests for now. Try again {when}.")
            case anthropic.APIStatusError() if error.status_code >= 500 or error.status_code == 408:
                return Away(f"The API has failed ({error.status_code}). Try again later.")
            case anthropic.APIStatusError():
                return RemoteRefused(f"The API refused it: {_get_words(error)}")
            case _ if _is_in_doubt(error):
                return RemoteRefused("The API's answer cannot be read: it is not that of a memory store.")
            case _:
                return RemoteRefused("There is no key for the API. Set ANTHROPIC_API_KEY.")


def _is_in_doubt(error: Exception) -> bool:
    """Whether a change may have been made, although no answer says so."""
    match error:
        case anthropic.APIConnectionError():
            return not isinstance(error.__cause__, _NOT_SENT)
        case anthropic.APIStatusError():
            return error.status_code in _IN_DOUBT
        case TypeError():
            return "authentication" not in str(error)
        case _:
            return not isinstance(error, anthropic.AnthropicError) or isinstance(error, anthropic.APIError)


def _get_words(error: anthropic.APIStatusError) -> str:
    """The API's own words, on one line."""
    body = error.body
    inner = body.get("error") if isinstance(body, dict) else None
    words = inner.get("message") if isinstance(inner, dict) else None
    return to_one_line(words)[:_LONGEST] if isinstance(words, str) and words else f"status {error.status_code}."


def _has_content(
    found: RemoteMemory | None, path: str | None, content: str | None, same: str | None = None
) -> RemoteMemory | None:
    """The memory, if it is what a change was to make of it."""
    meant = same if content is None else hashlib.sha256(content.encode()).hexdigest()
    return found if found is not None and found.sha256 == meant and path in (None, found.path) else None


def _read_memory(memory: BetaManagedAgentsMemory) -> RemoteMemory:
    return RemoteMemory(
        memory.id, memory.memory_version_id, memory.path[1:], memory.content_sha256, _to_us(memory.updated_at)
    )


def _read_version(version: BetaManagedAgentsMemoryVersion) -> RemoteVersion:
    is_redacted = version.redacted_at is not None
    content = None
    if version.content is not None and not is_redacted:
        content = version.content.encode("utf-8", "surrogatepass")
    if content is not None and hashlib.sha256(content).hexdigest() != version.content_sha256:
        raise RemoteRefused("The API's answer is broken: a content does not have the SHA-256 that it names.")
    return RemoteVersion(
        version.id,
        version.memory_id,
        _read_path(version.path),
        version.content_sha256,
        version.operation == "deleted",
        is_redacted,
        _to_us(version.created_at),
        _read_actor(version.created_by),
        content,
    )


def _read_path(given: str | None) -> str | None:
    """A path relative to the root; `None` for one that no API may name: a memory there is left out."""
    if given is None or not given.startswith("/") or "\0" in given:
        return None
    is_unicode = given == given.encode("utf-8", "replace").decode()
    if not is_unicode or any(part in ("", ".", "..") for part in given[1:].split("/")):
        return None
    return given[1:]


def _read_actor(actor: Any) -> Actor:
    """Who made a version: its id is all that the API says of it. None of them is the person at this screen."""
    match getattr(actor, "type", None):
        case "session_actor":
            return Agent("session", session=to_one_line(actor.session_id))
        case "api_actor":
            return Agent(to_one_line(actor.api_key_id))
        case "user_actor":
            return Agent(to_one_line(actor.user_id))
        case "service_account_actor":
            return Agent(to_one_line(actor.service_account_id))
        case _:
            return Outside()


def _to_us(at: datetime) -> int:
    return round(at.timestamp() * 1_000_000)
