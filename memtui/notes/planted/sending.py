"""Calls to send away what is private, or to fetch orders from elsewhere and carry them out.

An address alone is nothing, nor is `curl` with a token in its header: what is told is a line in which somebody is
told to send credentials, files or the conversation to an address, or to run what an address answers.
"""

import re
from collections.abc import Iterator
from itertools import islice

from memtui.notes.outline import numeric
from memtui.notes.planted.commands import ALWAYS, commands, line_around
from memtui.notes.planted.phrase import around, has_any

_MOST = 2_000
"""Addresses that are looked at of one note."""
_ADDRESS = re.compile(
    r"https?://|\b[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}|\b(?:\d{1,3}\.){3}\d{1,3}\b|/dev/tcp/|\bwebhooks?\b"
    r"|\bpastebin\b|\bftp://"
)
_SEND = re.compile(
    r"\b(?:send|post|upload|forward|(?:e-?)?mail|exfiltrate|transmit|leak|submit|copy|report|beacon|pipe|push|deliver"
    r"|relay"
    r"|put|leave|attach|share|paste|dump|mirror|ship|stream"
    r"|sende?|schicke?|übertrage|lade|envoie|envoyez|transmets|envía|envíe|sube|发送|上传|傳送|转发)\b|发送|上传|傳送"
    r"|转发"
)
_PRIVATE = re.compile(
    r"\b(?:credentials?|passwords?|secrets?|api[ _-]?keys?|access[ _-]?tokens?|auth[ _-]?tokens?|tokens|private keys?"
    r"|ssh keys?"
    r"|\.env\b|id_rsa|id_ed25519|~/\.ssh|~/\.aws|\.npmrc|\.netrc|keychain|environment variables|env(?:ironment)? vars"
    r"|conversation(?:s| history| so far| log)?|chat (?:history|logs?)|transcripts?|system prompt|your (?:instructions"
    r"|memory|memories|context)"
    r"|memory (?:files?|folder|directory|contents?)|(?:all|these|your|the) memories|cookies|/etc/(?:passwd|shadow)"
    r"|what the user (?:said|wrote|typed|asked)|user'?s (?:messages?|data|files|answers?|questions?)|clipboard"
    r"|(?:copy|transcript|log) of (?:every|each|all|the|this|your) (?:answers?|sessions?|repl(?:y|ies)|conversations?"
    r"|prompts?)"
    r"|everything (?:in|from) (?:memory|your|the memory)|the (?:whole )?workspace"
    r"|passwörter|zugangsdaten|geheimnisse|gespräch|mots de passe|identifiants|contraseñas|credenciales)"
    r"|(?<![\w/])\.env\b|密码|密钥|对话|凭据|令牌"
)
_TO = re.compile(r"\bto\b|\bat\b|\ban\b|\bnach\b|\bà\b|\bvers\b|\ba\b|\bvia\b|\bwith\b|到|至|给|->|→|@")
_FETCH = re.compile(
    r"\b(?:fetch|download|retrieve|load|get|read|open|visit|check|pull|poll)\b[^\n]{0,80}?"
    r"(?:\b(?:new |latest |further |next |your |the )*(?:instructions?|commands?|orders|payload|prompt|directives?)\b"
    r"|https?://)"
)
_OBEY = re.compile(
    r"\b(?:execute|run|follow|obey|apply|perform|carry out|do)\s+(?:(?:all|any|every|the|its|each of the"
    r"|whatever)\s+){0,3}"
    r"(?:instructions?|commands?|orders|directives?|contents?|response|it (?:says|returns|contains)|they say|what"
    r"(?:ever)? (?:it|they) "
    r"(?:says?|returns?|contains?|tells? you)|steps (?:it|they) (?:lists?|contains?)|as (?:it|they|the page) (?:says?"
    r"|tells? you|asks?)|payload|(?:it|them) without)\b"
)
_SAYS = re.compile(
    r"\b(?:do|follow|obey|execute|run|apply)\s+(?:exactly )?(?:what(?:ever)?|as"
    r"|everything(?: that)?)\s+(?:is (?:written|listed) (?:at|on"
    r"|in) )?(?:the page )?https?://\S+"
)
_ORDERS_FROM = re.compile(
    r"\b(?:instructions?|commands?|orders|payload|directives?|prompt)\s+(?:from|at|in|hosted at|stored at|found"
    r" at)\s+https?://"
)
_PUT_INTO = re.compile(
    r"\b(?:include|append|embed|put|place|insert|encode|add|attach|hide|write|copy)\b[^\n.]{0,60}?(?:\b(?:api keys?"
    r"|tokens?"
    r"|secrets?|credentials?|passwords?|conversation|chat history|system prompt|private keys?|user'?s (?:data"
    r"|messages?|files"
    r"|questions?))\b|(?<![\w/])\.env\b)"
    r"(?:(?!\bnever\b|\bnot\b)[^\n.]){0,40}?\b(?:in|into|to|as)\b[^\n.,;]{0,24}?\b(?:the |a |every |each |an "
    r"|your )(?:\w+ )?(?:url|query(?:"
    r" string)?|link|image(?: url)?|request|commit messages?|branch name|pixel|subdomain|hostname|dns)\b"
    r"(?! (?:headers?|body|context|object|options|config\w*)\b)"
)
_FILLED_IN = re.compile(
    r"https?://[^\s<>\"')]{4,400}[?&][\w.-]{1,40}=(?:\.{3}|…)?[)\"'`>*]{0,3}\s[^\n]{0,60}?\b(?:followed by|with|where"
    r"|and then"
    r"|appended|append|plus|replac\w+|fill\w*|url-?encoded)\b[^\n]{0,80}?(?:\b(?:conversation|question|secrets?"
    r"|credentials?"
    r"|passwords?|api keys?|tokens?|memor(?:y|ies)|system prompt|transcript|environment|what the user)\b|memory\.md"
    r"|\.env\b)"
)
"""A link that ends in a place for something, and words that say what is to be put there."""
_IN_PUBLIC = re.compile(
    r"\b(?:create|post|make|open|add|leave|publish|write)\b[^\n.]{0,40}?\b(?:gist|pastebin|paste|comment|issue"
    r"|pull request|wiki"
    r" page)\b[^\n]{0,60}?\b(?:contents?|output|copy|text|values?) of (?:the |your |all |every |my "
    r"|`){0,3}(?:~?/?[\w./-]{0,40}"
    r"(?:\.ssh|\.aws|\.netrc|\.npmrc|id_rsa|\.env\b)|env\b|printenv\b|environment variables|credentials?|secrets"
    r"|passwords?"
    r"|api keys?|tokens)"
    r"|\b(?:contents?|output|copy|text|values?) of (?:the |your |all |every |my |`){0,3}(?:~?/?[\w./-]{0,40}(?:\.ssh"
    r"|\.aws|\.netrc|\.npmrc"
    r"|id_rsa|\.env\b)|environment variables|credentials?|secrets|passwords?|api keys?|tokens)[^\n]{0,40}?\b(?:in"
    r"|into|to|on|as) (?:an? |the )"
    r"?(?:public |new )?(?:gist|pastebin|paste|comment|issue|pull request)\b"
)
_THEN_SENDS = re.compile(
    r"\b(?:and|then|,)\s+(?:then\s+)?(?:send|post|upload|forward|e-?mail|transmit|submit|paste)\s+"
    r"(?:it|them|this|that|its contents?|the (?:contents?|result|output|file))\b[^\n.]{0,20}?\b(?:to|at|via)\b"
)
"""What was named before is sent: `read … and post it to …`."""
_NUMBERED = re.compile(rb"0\.0{1,3}\.0{1,3}\.0")
"""A number of four parts in a numeric outline."""
_ENDS_OPEN = re.compile(r"=(?:\.{3}|…)?[)\"'`>*]{0,3}\s")
"""The end of an address behind which something is missing."""

_CARGOES = (
    *("api key", "token", "secret", "credential", "password", "conversation", "chat history", "system prompt", "user"),
    *("private key", ".env"),
)
_CARGO_HEADS = frozenset(
    {"api", "apike", "token", "secre", "crede", "passw", "conve", "chat", "syste", "user", "users", "priva", "env"}
)
_CARRIERS = (
    *("url", "query", "link", "image", "request", "commit message", "branch name", "pixel", "subdomain", "hostname"),
    "dns",
)
_CARRIER_HEADS = frozenset(
    {"url", "query", "link", "image", "reque", "commi", "branc", "pixel", "subdo", "hostn", "dns"}
)
"""What is put into something, and what it is put into; with the first letters of each, by which notes are passed."""
_PUBLISHED = ("contents of", "content of", "output of", "copy of", "text of", "value")
_PUBLIC_HEADS = frozenset({"gist", "paste", "comme", "issue", "pull", "wiki"})
_PRIVATE_HINTS = (
    *(
        "credential",
        "password",
        "secret",
        "key",
        "token",
        ".env",
        "id_rsa",
        "id_ed",
        "~/.",
        "npmrc",
        "netrc",
        "env var",
    ),
    *("environment", "conversation", "chat", "transcript", "system prompt", "your ", "memor", "cookies", "/etc/"),
    *("the user", "user's", "users ", "copy of", "log of", "everything", "workspace", "clipboard"),
    *(
        "passw",
        "zugang",
        "geheim",
        "gespr",
        "mots",
        "identifiants",
        "contras",
        "credencial",
        "密",
        "对话",
        "凭据",
        "令牌",
    ),
)
_OBEY_HINTS = ("execute", "run", "follow", "obey", "apply", "perform", "carry out", "do ")
"""One of these is in what is private, and in what carries orders out: most lines with an address hold none."""

_WHY_SEND = "a call to send what is private to an address"
_WHY_ORDERS = "a call to fetch orders from an address and carry them out"
_WHY_PUBLIC = "a call to publish what is private"
_WHY_PUT = "a call to put what is private into an address"


def sendings(text: str, heads: frozenset[str]) -> Iterator[tuple[str, int, int]]:
    """Calls to send or to fetch in a folded text: why each is told, and where it stands.

    Args:
        text: The text.
        heads: The first letters of its words.
    """
    yield from commands(text, heads)
    if not _CARGO_HEADS.isdisjoint(heads) and not _CARRIER_HEADS.isdisjoint(heads):
        for start, end in around(text, _CARGOES, 100, 160):
            for found in _PUT_INTO.finditer(text, start, end) if has_any(text, _CARRIERS, start, end) else ():
                if not _is_told_off(text[max(start, found.start() - 60) : found.start()]):
                    yield _WHY_PUT, *found.span()
    if not _PUBLIC_HEADS.isdisjoint(heads):
        for start, end in around(text, _PUBLISHED, 120, 80):
            for found in _IN_PUBLIC.finditer(text, start, end):
                yield _WHY_PUBLIC, *found.span()
    for found in _FILLED_IN.finditer(text) if "=" in text and "://" in text and _ENDS_OPEN.search(text) else ():
        yield _WHY_PUT, *found.span()
    seen = -1
    for at in islice(_addresses(text), _MOST):
        start, end = line_around(text, at, at)
        if start == seen:
            continue
        seen = start
        if has_any(text, _PRIVATE_HINTS, start, end) and (span := _sends(text, start, end)):
            yield _WHY_SEND, *span
        elif has_any(text, _OBEY_HINTS, start, end) and (span := _obeys(text, start, end)):
            yield _WHY_ORDERS, *span


def _addresses(text: str) -> Iterator[int]:
    """Where something stands that may be an address."""
    for hint in ("://", "@", "webhook", "/dev/tcp/", "pastebin"):
        at = text.find(hint)
        while at >= 0:
            yield at
            at = text.find(hint, at + len(hint))
    for found in _NUMBERED.finditer(numeric(text)):
        yield found.start()


def _obeys(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Somebody is told to fetch orders from an address, and to carry them out."""
    if says := _SAYS.search(text, start, end):
        return says.span()
    fetch = _FETCH.search(text, start, end)
    obey = fetch and _OBEY.search(text, fetch.end() - 1, end)
    if not fetch or not obey or text.find("http", start, end) < 0:
        return None
    is_blind = any(word in obey.group() for word in ("whatever", "command", "obey", "without"))
    is_of_orders = "instruction" in fetch.group() or _ORDERS_FROM.search(text, start, end)
    return (fetch.start(), obey.end()) if is_blind or is_of_orders or ALWAYS.search(text, start, end) else None


def _sends(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Somebody is told to send something private to an address, in this order, within one line."""
    send = _SEND.search(text, start, end)
    while send:
        first = send.end() if send.group().isascii() else max(start, send.start() - 20)
        private = _PRIVATE.search(text, first, min(end, send.end() + 90))
        if private:
            to = _TO.search(text, private.end(), min(end, private.end() + 60))
            address = to and _ADDRESS.search(text, to.start(), min(end, to.end() + 80))
            if address and not _is_told_off(text[start : send.start()]):
                return send.start(), address.end()
        send = _SEND.search(text, send.end(), end)
    then = _THEN_SENDS.search(text, start, end)
    private = then and _PRIVATE.search(text, max(start, then.start() - 120), then.start())
    address = then and private and _ADDRESS.search(text, then.end() - 3, min(end, then.end() + 80))
    if then and private and address and not _is_told_off(text[start : private.start()]):
        return private.start(), address.end()
    return None


_TOLD_OFF = re.compile(
    r"\b(?:never|not|n't|do not|don't|nicht|nie|niemals|ne|jamais|no|nunca|without|cannot|must not)\b(?! (?:forget"
    r"|fail|hesitate"
    r"|miss|omit|neglect|only|just|matter|delay|asking|hesitation|exception|vergessen|oublie[rz]?"
    r"|olvides?)\b)[^\n.]{0,30}\Z|"
    r"(?:不要|勿|别|不得)[^\n。]{0,8}\Z"
)


def _is_told_off(before: str) -> bool:
    """Whether it is forbidden: `never send tokens to …`."""
    return _TOLD_OFF.search(before[-60:]) is not None
