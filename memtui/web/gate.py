"""Which requests are answered: all are judged here, before a process is started for any.

Every program and every web page on this machine can connect to a port of 127.0.0.1. A page can also reach it under a
name of its own (DNS rebinding), and a browser sends cookies to every port of a host. So:

- `Host` must be the address that was bound, and an `Origin` the same one.
- The token in the address is random and works once: it is exchanged for a cookie, which scripts cannot read.
- The cookie is bound to a path that is random, too: a server at another port is not sent it.
- The websocket needs the cookie and the `Origin`.
"""

import hmac
import secrets
from collections.abc import Callable, Sequence
from http import HTTPStatus
from urllib.parse import parse_qs

from memtui.core.lazy_dataclass import dataclass

HOST = "127.0.0.1"
ASSETS = {"": "page.html", "page.css": "page.css", "page.js": "page.js"}
"""The files of the page, by their path below the session's."""
_SCREEN = "screen"
_COOKIE = "memtui"

GetHeaders = Callable[[str], Sequence[str]]
"""All values of a header of a request."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that is not answered; the sentence is for a person."""

    status: HTTPStatus
    sentence: str


@dataclass(frozen=True, slots=True)
class Exchanged:
    """The token was right: the browser is sent on to the page with a cookie."""

    location: str
    cookie: str


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page."""

    name: str


@dataclass(frozen=True, slots=True)
class Admitted:
    """The websocket may open."""


Verdict = Refused | Exchanged | Asset | Admitted


class Gate:
    """Judges requests to one server.

    Args:
        port: The port that the server is bound to.
    """

    def __init__(self, port: int) -> None:
        self._hosts = (f"{HOST}:{port}", f"localhost:{port}")
        self._token: str | None = secrets.token_urlsafe(32)
        self._session = secrets.token_urlsafe(32)
        self._path = f"/{secrets.token_urlsafe(16)}/"

    @property
    def address(self) -> str:
        """The address for a person; it works once."""
        return f"http://{self._hosts[0]}/?token={self._token or ''}"

    def judge(self, method: str, target: str, get_headers: GetHeaders) -> Verdict:
        """Judge a request.

        Args:
            method: Such as `GET`.
            target: The path with its query.
            get_headers: Returns the values of a header, of which there may be several.
        """
        hosts, origins = get_headers("Host"), get_headers("Origin")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return Refused(HTTPStatus.MISDIRECTED_REQUEST, f"This server answers only at http://{self._hosts[0]}")
        if method != "GET":
            return Refused(HTTPStatus.METHOD_NOT_ALLOWED, "Only GET is answered.")
        if origins and list(origins) != [f"http://{hosts[0]}"]:
            return Refused(HTTPStatus.FORBIDDEN, "Another web page asked for this. It was refused.")
        path, _, query = target.partition("?")
        if path == "/":
            if get_headers("Sec-Purpose") or get_headers("Purpose"):  # a browser that guesses would use it up
                return Refused(HTTPStatus.SERVICE_UNAVAILABLE, "This page is not loaded ahead.")
            return self._exchange(query)
        if not path.startswith(self._path) or not self._has_session(get_headers("Cookie")):
            words = "This browser has no session here. Use the address that memtui serve printed."
            return Refused(HTTPStatus.FORBIDDEN, words)
        name = path.removeprefix(self._path)
        if name == _SCREEN:
            if not origins:
                return Refused(HTTPStatus.FORBIDDEN, "No web page asked for this. It was refused.")
            return Admitted()
        if name in ASSETS:
            return Asset(ASSETS[name])
        return Refused(HTTPStatus.NOT_FOUND, "There is no such page.")

    def _exchange(self, query: str) -> Verdict:
        """Exchange the token for a session; it works once."""
        given = parse_qs(query).get("token", [])
        if self._token is None:
            words = "This address was used already. For a new one, start memtui serve again."
            return Refused(HTTPStatus.FORBIDDEN, words)
        if len(given) != 1 or not _is_equal(given[0], self._token):
            words = "The token is missing or wrong. Use the address that memtui serve printed."
            return Refused(HTTPStatus.FORBIDDEN, words)
        self._token = None
        cookie = f"{_COOKIE}={self._session}; Path={self._path}; HttpOnly; SameSite=Strict"
        return Exchanged(self._path, cookie)

    def _has_session(self, cookies: Sequence[str]) -> bool:
        pairs = (pair.strip().partition("=") for header in cookies for pair in header.split(";"))
        return any(name == _COOKIE and _is_equal(value, self._session) for name, _, value in pairs)


def _is_equal(given: str, expected: str) -> bool:
    """Compare in a time that does not depend on where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())
