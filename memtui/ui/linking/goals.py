"""Where a link leads: to a note, to an address outside, or nowhere; and then why.

A link was written by somebody else, often by an agent that read it somewhere. What is decided here is all that protects
the person who follows it: only notes inside the folder are gone to, only web and mail addresses can be opened at all.
"""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from memtui.core.visible import one_line
from memtui.notes.headings import line_of
from memtui.notes.links import Link, Places, links_of

_WEB = ("http", "https")
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Inside:
    """A note.

    Attributes:
        path: Relative to the folder.
        line: The line of the heading that the link names, from 1; `None` where it names none.
        words: What is to be said besides, such as that there is no such heading; mostly empty.
    """

    path: str
    line: int | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Outside:
    """An address that can be opened elsewhere, if the person wants to.

    Attributes:
        address: All of it, as it would be opened.
        host: Where it leads: the host, or the mail address.
        warning: What is odd about it; empty for nothing.
    """

    address: str
    host: str
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Nowhere:
    """Nothing can be gone to; says why."""

    words: str


Goal = Inside | Outside | Nowhere


def goal_of(
    link: Link,
    *,
    source: str,
    path: str,
    places: Callable[[bool], Places],
    text_of: Callable[[str], str | None],
) -> Goal:
    """Where a link leads.

    Args:
        link: The link, as it stands in the text.
        source: The text that it stands in, as it is shown.
        path: The note that it stands in, relative to the folder.
        places: Tells what is in the folder, and whether with what notes call themselves, for which all are read; asked
            only for links into it.
        text_of: Tells what a note says; `None` if it is no text.
    """
    if link.kind == "url":
        return _address(link.target)
    here = next((one for one in links_of(source, path) if (one.line, one.span) == (link.line, link.span)), link)
    shown = short(here.target)
    if here.path is None:
        return Nowhere(f"Not opened: {shown} leads out of the memory folder.")
    found = places(False).resolve(here, path)
    if found is None and here.kind == "wiki" and here.path:
        found = places(True).resolve(here, path)
    if found is None and not here.path and not here.fragment:
        return Nowhere(f"Not opened: {shown} is the folder itself.")
    if found is None and not here.path:
        found = path
    if found is None:
        return Nowhere(f"This link leads nowhere: there is no note {shown}.")
    if not here.fragment:
        return Inside(found)
    line = line_of(text_of(found) or "", here.fragment)
    if line is None:
        return Inside(found, None, f"{one_line(found)} has no heading {short(here.fragment)}.")
    return Inside(found, line)


def short(target: str) -> str:
    """A target in a sentence."""
    target = one_line(target)
    return target if len(target) <= _SHOWN else target[: _SHOWN - 2] + ".."


def _address(target: str) -> Goal:
    """An address, judged."""
    if target.startswith("//"):
        target = "https:" + target
    scheme = target.partition(":")[0].casefold()
    if any(character == " " or unicodedata.category(character)[0] in "CZ" for character in target):
        return Nowhere(f"Not opened: {short(target)} holds characters that no address has.")
    if scheme == "mailto":
        who = unquote(target[len("mailto:") :].partition("?")[0])
        if "@" not in who or any(unicodedata.category(character)[0] == "C" for character in who):
            return Nowhere(f"Not opened: {short(target)} is no mail address.")
        return Outside(target, one_line(who), _odd(who.rpartition("@")[2]))
    if scheme not in _WEB:
        return Nowhere(f"Not opened: {short(target)}. Only http, https and mailto are, never {one_line(scheme)[:20]}.")
    try:
        parts = urlsplit(target)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        return Nowhere(f"Not opened: {short(target)} names no host.")
    warning = _odd(host)
    if parts.username is not None:
        warning = f"What stands before the @ is no host: this leads to {one_line(host)}. {warning}".rstrip()
    return Outside(target, one_line(host) + (f":{port}" if port else ""), warning)


def _odd(host: str) -> str:
    """What a person should know of a host whose name is not what it seems."""
    if host.isascii():
        coded = "xn--" in host
        return "Its name is written in letters of other scripts (xn--)." if coded else ""
    try:
        plain = host.encode("idna").decode("ascii")
    except UnicodeError:
        plain = "a name that no host can have"
    return f"Its name is written in letters of other scripts: {plain}"
