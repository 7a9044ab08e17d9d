"""Who may do what: the tokens of a file, each with an actor, and with rights to all stores or to some.

    [[token]]
    agent = "planner"        # the actor in history; or person = "ada"
    token = "..."            # or sha256 = "...", of the token
    rights = "read"          # to every store: read, write, admin, or none
    [token.stores]
    team-notes = "write"     # to one store, by the name of its folder

A token is compared as its SHA-256, with every entry and in constant time.
"""

import hashlib
import hmac
import re
import secrets
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import IntEnum

from memtui.core.events import Actor, Agent, Person
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.serve.errors import AUTHENTICATION, RATE_LIMIT, ApiError, make_forbidden, make_missing

LEAST_TOKEN, LONGEST_TOKEN = 16, 1_000
MOST_FILE_BYTES = 262_144
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LONGEST_NAME = 64


class Right(IntEnum):
    """Each holds those before it."""

    NONE = 0
    """The store is not there for this token."""
    READ = 1
    WRITE = 2
    """Memories are created, changed and deleted."""
    ADMIN = 3
    """Stores are created, changed, archived and deleted; a person also removes texts from history."""


_RIGHTS = {right.name.lower(): right for right in Right}


class AccessFileError(ValueError):
    """A file of tokens that cannot be used; the words say what is wrong, without a token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Who a token stands for.

    Attributes:
        actor: In history.
        digest: The SHA-256 of the token.
        rights: To every store that is not in `stores`.
        stores: The right to a store, by the name of its folder.
    """

    actor: Actor
    digest: bytes
    rights: Right = Right.NONE
    stores: Mapping[str, Right] = field(default_factory=dict)

    def get_right(self, key: str) -> Right:
        return self.stores.get(key, self.rights)

    def require(self, key: str, store_id: str, least: Right) -> None:
        """Raise `ApiError` without a right to a store; where there is none at all, the store is not there."""
        right = self.get_right(key)
        if right is Right.NONE:
            raise make_missing("memory store", store_id)
        if right < least:
            raise make_forbidden(f"This token has no right to that: it needs the right {least.name.lower()!r}.")

    def require_everywhere(self, least: Right) -> None:
        if self.rights < least:
            raise make_forbidden(f"This token has no right to that: it needs the right {least.name.lower()!r}.")

    def require_person(self) -> None:
        """Raise `ApiError` for an agent: none removes history."""
        if not isinstance(self.actor, Person):
            raise make_forbidden("Agents cannot redact: it needs a token that is given to a person.")


class TokenChecker:
    """Finds the client of a request, and slows down who guesses.

    Args:
        clients: All clients.
        failures: Requests a second without a valid token that are answered with more than "too many".
    """

    def __init__(self, clients: Sequence[Client], failures: float) -> None:
        self._clients = clients
        self._failures = TokenBucket(failures, max(int(failures), 1))

    def find(self, authorizations: Sequence[str], keys: Sequence[str]) -> Client:
        """The client by the values of `Authorization` and `X-Api-Key`; raises `ApiError`."""
        found = [self._match(given) for given in (*(_parse_bearer(each) for each in authorizations), *keys)]
        client = found[0] if found else None
        if client is None or any(each is not client for each in found):
            if (wait := self._failures.take()) > 0:
                raise make_rate_error(wait)
            words = "A valid token is needed: as X-Api-Key, or as Authorization: Bearer."
            raise ApiError(401, AUTHENTICATION, words, {"www-authenticate": "Bearer"})
        return client

    def _match(self, given: str) -> Client | None:
        digest = hashlib.sha256(given.encode("utf-8", "surrogateescape")).digest()
        found = None
        for client in self._clients:  # all of them: how long it takes tells nothing
            if hmac.compare_digest(digest, client.digest):
                found = client
        return found


class TokenBucket:
    """Allows so many requests a second on average, and so many at once. For one thread."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate = rate
        self._burst = float(burst)
        self._left = float(burst)
        self._counted_at = time.monotonic()

    def take(self) -> float:
        """Count a request; returns how many seconds too early it came, 0 if it may be answered."""
        now = time.monotonic()
        self._left = min(self._left + (now - self._counted_at) * self._rate, self._burst)
        self._counted_at = now
        if self._left < 1:
            return (1 - self._left) / self._rate
        self._left -= 1
        return 0.0


def make_rate_error(wait: float) -> ApiError:
    seconds = max(int(wait + 0.999), 1)
    return ApiError(429, RATE_LIMIT, "Too many requests.", {"retry-after": str(seconds)})


def _parse_bearer(given: str) -> str:
    scheme, _, token = given.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def make_access_file(agent: str) -> str:
    """The text of a file with one new token, for an agent that may write to every store."""
    return f'[[token]]\nagent = "{agent}"\ntoken = "{secrets.token_urlsafe(32)}"\nrights = "write"\n'


def parse_access_file(data: bytes) -> tuple[Client, ...]:
    """The clients that a file names; raises `AccessFileError`."""
    try:
        kept = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise AccessFileError("it is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise AccessFileError(f"it is not TOML: {to_one_line(str(error))}") from None
    tables = kept.pop("token", None)
    if kept:
        raise AccessFileError(f"{to_one_line(next(iter(kept)))[:60]!r} is unknown; tokens are in [[token]]")
    if not isinstance(tables, list) or not tables:
        raise AccessFileError("it has no [[token]]")
    clients = tuple(_parse_client(table, number) for number, table in enumerate(tables, 1))
    if len({client.digest for client in clients}) != len(clients):
        raise AccessFileError("two [[token]] tables have the same token")
    return clients


def _parse_client(table: object, number: int) -> Client:
    where = f"[[token]] {number}"
    if not isinstance(table, dict):
        raise AccessFileError(f"{where} is not a table")
    unknown = table.keys() - {"agent", "person", "token", "sha256", "rights", "stores"}
    if unknown:
        raise AccessFileError(f"{where}: {to_one_line(min(unknown))[:60]!r} is unknown")
    stores = table.get("stores", {})
    if not isinstance(stores, dict):
        raise AccessFileError(f"{where}: stores is not a table of names and rights")
    return Client(
        actor=_parse_actor(table, where),
        digest=_parse_token(table, where),
        rights=_parse_right(table.get("rights", "none"), where),
        stores={name: _parse_right(right, where) for name, right in stores.items()},
    )


def _parse_actor(table: Mapping[str, object], where: str) -> Actor:
    names = [(kind, table[kind]) for kind in ("agent", "person") if kind in table]
    if len(names) != 1:
        raise AccessFileError(f"{where} needs one of agent and person")
    kind, name = names[0]
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME or to_one_line(name) != name:
        raise AccessFileError(f"{where}: a name has 1 to {_LONGEST_NAME} characters that can be seen")
    return Agent(name) if kind == "agent" else Person(name)


def _parse_token(table: Mapping[str, object], where: str) -> bytes:
    token, digest = table.get("token"), table.get("sha256")
    if (token is None) is (digest is None):
        raise AccessFileError(f"{where} needs one of token and sha256")
    if digest is not None:
        if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
            raise AccessFileError(f"{where}: sha256 is 64 digits and letters a to f")
        return bytes.fromhex(digest)
    if not isinstance(token, str) or not LEAST_TOKEN <= len(token) <= LONGEST_TOKEN or not _TOKEN.fullmatch(token):
        words = f"a token is {LEAST_TOKEN} to {LONGEST_TOKEN} letters, digits and - . _ ~ + / ="
        raise AccessFileError(f"{where}: {words}")
    return hashlib.sha256(token.encode()).digest()


def _parse_right(given: object, where: str) -> Right:
    if not isinstance(given, str) or given not in _RIGHTS:
        raise AccessFileError(f"{where}: a right is one of {', '.join(_RIGHTS)}")
    return _RIGHTS[given]
