"""Where a link leads: to a note, to an address outside, or nowhere, and why.

A link was written by somebody else, often by an agent that read it somewhere. What is decided here protects the person
who follows it: only notes inside the folder are opened, and only web and mail addresses can be opened at all.
"""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from memtui.core.unicode import to_one_line
from memtui.notes.links import Link, LinkTargets, find_heading_line, find_links

_WEB = ("http", "https")
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class InternalLink:
    """A note."""

    path: str
    line: int | None = None  # the line of the linked heading, from 1; `None` for the note itself
    words: str = ""  # A remark, such as a missing heading; else empty


@dataclass(frozen=True, slots=True)
class ExternalLink:
    """An address that can be opened elsewhere, if the person wants to."""

    address: str
    host: str
    warning: str = ""  # suspicious parts of the address; else empty


@dataclass(frozen=True, slots=True)
class UnresolvedLink:
    """Nothing can be gone to; says why."""

    words: str


LinkTarget = InternalLink | ExternalLink | UnresolvedLink


def resolve_link_target(
    link: Link, *, source: str, path: str, places: Callable[[bool], LinkTargets], text_of: Callable[[str], str | None]
) -> LinkTarget:
    """Where a link leads.

    Args:
        places: Returns the link targets of the folder, with the notes' own names if asked (which reads all notes).
        text_of: Returns the text of a note; `None` for binary.
    """
    if link.kind == "url":
        return _parse_address(link.target)
    here = next((one for one in find_links(source, path) if (one.line, one.span) == (link.line, link.span)), link)
    shown = shorten_target(here.target)
    if here.path is None:
        return UnresolvedLink(f"Not opened: {shown} leads out of the memory folder.")
    found = places(False).resolve(here, path)
    if found is None and here.kind == "wiki" and here.path:
        found = places(True).resolve(here, path)
    if found is None and not here.path and not here.fragment:
        return UnresolvedLink(f"Not opened: {shown} is the folder itself.")
    if found is None and not here.path:
        found = path
    if found is None:
        return UnresolvedLink(f"This link leads nowhere: there is no note {shown}.")
    if not here.fragment:
        return InternalLink(found)
    line = find_heading_line(text_of(found) or "", here.fragment)
    if line is None:
        return InternalLink(found, None, f"{to_one_line(found)} has no heading {shorten_target(here.fragment)}.")
    return InternalLink(found, line)


def shorten_target(target: str) -> str:
    """A target in a sentence."""
    target = to_one_line(target)
    return target if len(target) <= _SHOWN else target[: _SHOWN - 2] + ".."


def _parse_address(target: str) -> LinkTarget:
    """An address, validated."""
    if target.startswith("//"):
        target = "https:" + target
    scheme = target.partition(":")[0].casefold()
    if any(character == " " or unicodedata.category(character)[0] in "CZ" for character in target):
        return UnresolvedLink(f"Not opened: {shorten_target(target)} holds characters that no address has.")
    if scheme == "mailto":
        who = unquote(target[len("mailto:") :].partition("?")[0])
        if "@" not in who or any(unicodedata.category(character)[0] == "C" for character in who):
            return UnresolvedLink(f"Not opened: {shorten_target(target)} is no mail address.")
        return ExternalLink(target, to_one_line(who), _describe_suspicious_host(who.rpartition("@")[2]))
    if scheme not in _WEB:
        return UnresolvedLink(
            f"Not opened: {shorten_target(target)}. Only http, https and mailto are, never {to_one_line(scheme)[:20]}."
        )
    try:
        parts = urlsplit(target)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        return UnresolvedLink(f"Not opened: {shorten_target(target)} names no host.")
    warning = _describe_suspicious_host(host)
    if parts.username is not None:
        warning = f"What stands before the @ is no host: this leads to {to_one_line(host)}. {warning}".rstrip()
    return ExternalLink(target, to_one_line(host) + (f":{port}" if port else ""), warning)


def _describe_suspicious_host(host: str) -> str:
    """What a person should know of a host whose name is not what it seems."""
    if host.isascii():
        coded = "xn--" in host
        return "Its name is written in letters of other scripts (xn--)." if coded else ""
    try:
        plain = host.encode("idna").decode("ascii")
    except UnicodeError:
        plain = "a name that no host can have"
    return f"Its name is written in letters of other scripts: {plain}"
