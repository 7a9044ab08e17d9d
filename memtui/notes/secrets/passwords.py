"""Passwords within addresses and command lines: `scheme://name:password@host`, `curl -u name:password`."""

import re
from collections.abc import Iterator

from memtui.notes.secrets.clues import places_of
from memtui.notes.secrets.pictures import is_picture
from memtui.notes.spots import Spot

_SCHEME = re.compile(r"[A-Za-z0-9+.-]{1,21}")
"""A scheme, read from its end."""
_IN_ADDRESS = re.compile(
    r"://[^\s:/@<>\"'`]{0,64}:(?P<value>[^\s:/<>\"'`]{3,128})@(?=[^\s/@<>\"'`])(?P<host>[^\s/@<>\"'`]{1,300})"
)
_ON_COMMAND_LINE = re.compile(
    r"\bcurl(?:[ \t][^\n|;]{0,400}?)?[ \t](?:-u|--user)[ =]?[\"']?[^\s:\"']{1,64}:(?P<value>[^\s\"':`]{4,128})"
    r"|\b(?:sshpass|mysql|mysqldump)(?:[ \t][^\n|;]{0,200}?)?[ \t]-p(?P<other>[^\s\"'$=-][^\s\"'$]{4,128})"
)
_REFERENCE = re.compile(r"[$%{\[(*]|pass(?:word|wd)?$|pwd$|secret$|token$|pw$|xxx", re.IGNORECASE)


def in_addresses(text: str) -> Iterator[Spot]:
    """Passwords that stand where a program reads them."""
    if "@" in text:
        for at in places_of(text, "://"):
            found = _IN_ADDRESS.match(text, at)
            if found is None or _REFERENCE.match(found["value"]) or is_picture(found["value"]):
                continue
            scheme = _SCHEME.match(text[max(0, at - 22) : at][::-1])
            if scheme is not None:
                words = "a password in an address"
                yield Spot("secret", "password-in-address", at - scheme.end(), found.end(), words, found.span("value"))
    if " -" in text and ("curl " in text or "sshpass " in text or "mysql" in text):
        for found in _ON_COMMAND_LINE.finditer(text):
            group = "value" if found["value"] else "other"
            if not _REFERENCE.match(found[group]) and not is_picture(found[group]):
                words = "a password on a command line"
                yield Spot("secret", "password-assignment", *found.span(), words, found.span(group))
