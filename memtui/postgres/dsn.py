"""The address of memories on a server, as a person writes it: `postgres://USER@HOST/DATABASE?store=NAME`."""

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from memtui.core.errors import StateUnusable
from memtui.core.paths import resolve_place

_FORM = "Write it as postgres://USER@HOST/DATABASE?store=NAME"
_SECRET = "A password in an address can be read by every program of this machine. Put it into ~/.pgpass, or PGPASSWORD"


class Address(NamedTuple):
    """Where memories are.

    Attributes:
        dsn: What a driver connects with.
        store: The name of the store there.
    """

    dsn: str
    store: str


def parse_address(place: str) -> Address:
    """An address in its parts; PostgreSQL's own variables and files (`PGSERVICE`, `~/.pgpass`) say what is not in it.

    Raises:
        StateUnusable: It is none, or there is a password in it, which would be shown and kept with it.
    """
    try:
        parts = urlsplit(resolve_place(place))
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True)
        has_password = parts.password is not None or any(
            "password" in name or "passphrase" in name for name, _ in pairs
        )
    except ValueError as error:
        raise StateUnusable(f"The address of the server cannot be read: {error}. {_FORM}") from error
    if has_password:
        raise StateUnusable(f"{_SECRET}.")
    store = dict(pairs)["store"]
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", store):
        raise StateUnusable(f"The name of a store has letters, digits, dots, - and _ only. {_FORM}")
    rest = urlencode([pair for pair in pairs if pair[0] != "store"], quote_via=quote)
    return Address(urlunsplit(("postgresql", parts.netloc, parts.path, rest, "")), store)
