"""Passwords within addresses and command lines: `scheme://name:password@host`, `curl -u name:password`."""

import re
from collections.abc import Iterator

from memtui.notes.secrets.pictures import is_picture
from memtui.notes.spots import Spot

_IN_ADDRESS = re.compile(
    r"[A-Za-z](?<![A-Za-z0-9_].)[A-Za-z0-9+.-]{1,20}://[^\s:/@<>\"'`]{0,64}:(?P<value>[^\s:/@<>\"'`]{3,128})"
    r"@[^\s/@<>\"'`]{1,300}"
)
_ON_COMMAND_LINE = re.compile(
    r"\bcurl(?:[ \t][^\n|;]{0,400}?)?[ \t](?:-u|--user)[ =]?[\"']?[^\s:\"']{1,64}:(?P<value>[^\s\"':`]{4,128})"
    r"|\b(?:sshpass|mysql|mysqldump)(?:[ \t][^\n|;]{0,200}?)?[ \t]-p(?P<other>[^\s\"'$=-][^\s\"'$]{4,128})"
)
_REFERENCE = re.compile(r"[$%{\[(*]|pass(?:word|wd)?$|pwd$|secret$|token$|pw$|xxx", re.IGNORECASE)


def in_addresses(text: str) -> Iterator[Spot]:
    """Passwords that stand where a program reads them."""
    if "://" in text and "@" in text:
        for found in _IN_ADDRESS.finditer(text):
            if not _REFERENCE.match(found["value"]) and not is_picture(found["value"]):
                words = "a password in an address"
                yield Spot("secret", "password-in-address", *found.span(), words, found.span("value"))
    if "curl " in text or "sshpass " in text or "mysql" in text:
        for found in _ON_COMMAND_LINE.finditer(text):
            group = "value" if found["value"] else "other"
            if not _REFERENCE.match(found[group]) and not is_picture(found[group]):
                words = "a password on a command line"
                yield Spot("secret", "password-assignment", *found.span(), words, found.span(group))
