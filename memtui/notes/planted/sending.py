"""Calls to send away what is private, or to fetch orders from elsewhere and carry them out.

An address alone is nothing, nor is `curl` with a token in its header: what is told is a line in which somebody is
told to send credentials, files or the conversation to an address, or to run what an address answers.
"""

import re
from collections.abc import Iterator
from itertools import islice

from memtui.notes.outline import numeric
from memtui.notes.planted.phrases import around

_MOST = 2_000
"""Addresses that are looked at of one note."""
_AROUND = 260
"""Characters before and behind an address that belong to its sentence, at most."""
_ADDRESS = re.compile(
    r"https?://|\b[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}|\b(?:\d{1,3}\.){3}\d{1,3}\b|/dev/tcp/|\bwebhooks?\b"
    r"|\bpastebin\b|\bftp://"
)
_SEND = re.compile(
    r"\b(?:send|post|upload|forward|e-?mail|exfiltrate|transmit|leak|submit|copy|report|beacon|pipe|push|deliver|relay"
    r"|sende?|schicke?|übertrage|lade|envoie|envoyez|transmets|envía|envíe|sube|发送|上传|傳送|转发)\b|发送|上传|傳送|转发"
)
_PRIVATE = re.compile(
    r"\b(?:credentials?|passwords?|secrets?|api[ _-]?keys?|access[ _-]?tokens?|auth[ _-]?tokens?|tokens|private keys?"
    r"|ssh keys?"
    r"|\.env\b|id_rsa|id_ed25519|~/\.ssh|~/\.aws|\.npmrc|\.netrc|keychain|environment variables|env(?:ironment)? vars"
    r"|conversation(?:s| history| so far| log)?|chat (?:history|logs?)|transcripts?|system prompt|your (?:instructions"
    r"|memory|memories|context)"
    r"|memory (?:files?|folder|directory|contents?)|(?:all|these|your|the) memories|cookies|/etc/(?:passwd|shadow)"
    r"|what the user (?:said|wrote|typed)|user'?s (?:messages?|data|files|answers?)|clipboard"
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
    r"(?:says?|returns?|contains?|tells? you)|steps (?:it|they) (?:lists?|contains?)|payload|(?:it|them) without)\b"
)
_ORDERS_FROM = re.compile(
    r"\b(?:instructions?|commands?|orders|payload|directives?|prompt)\s+(?:from|at|in|hosted at|stored at|found"
    r" at)\s+https?://"
)
_ALWAYS = re.compile(
    r"\b(?:always|first|silently|secretly|before (?:each|every|any|you|answering|doing)|at the (?:start|beginning|end)"
    r" of (?:each|every|any)"
    r"|every (?:time|session|conversation)|each (?:time|session|conversation)|whenever|on (?:every|each)|must|immer"
    r"|jedes mal|toujours|siempre)\b"
)
_RUN_ANSWER = re.compile(
    r"\b(?:curl|wget|fetch|iwr|invoke-webrequest)\b[^\n|]{0,240}?\|\s{0,3}(?:sudo )?(?:ba|z|da)?sh\b"
    r"|\biex\b[^\n]{0,80}?(?:iwr|downloadstring|http)"
    r"|\b(?:ba|z)?sh\s{1,3}(?:-c\s{1,3})?[\"']?(?:<\(|\$\()\s{0,3}(?:curl|wget)\b"
)
_ODD_HOST = re.compile(
    r"https?://(?:(?:\d{1,3}\.){3}\d{1,3}(?<!127\.0\.0\.1)(?<!0\.0\.0\.0)\b|[\w.-]{0,80}(?:\.onion|ngrok[\w.-]{0,20}"
    r"|trycloudflare\.com|serveo\.net|webhook\.site|requestbin[\w.]{0,12}"
    r"|pipedream\.net|beeceptor\.com|interact\.sh|oast\.\w{2,6}|oastify\.com|burpcollaborator\.net|pastebin\.com/raw"
    r"|paste\.ee|transfer\.sh"
    r"|hookbin\.com|requestcatcher\.com|canarytokens\.com|duckdns\.org|0x0\.st|termbin\.com|ix\.io))"
)
_SHELL_SENDS = re.compile(
    r"\b(?:curl|wget|nc|ncat|iwr)\b[^\n]{0,300}?(?:(?:-d|--data(?:-\w+)?|-f|--form|-t|--upload-file|--post-(?:data"
    r"|file)|--body-file|-body)[ =]?[\"']?(?:\w{1,40}=)?[@<]?"
    r"(?:[\"']?\$\(|`|~?/?[\w./-]{0,80}(?:\.ssh|\.aws|\.env\b|id_rsa|id_ed25519|\.netrc|\.npmrc|/etc/passwd|credentials"
    r"|memories|memory\.md|\.claude)|@~?/?[\w./-]{0,60}(?:\.pem|\.key)\b|\$\{?\w{0,40}(?:_key|_token|_secret"
    r"|password)\b)"
    r"|[?&]\w{1,40}=(?:\$\(|`|\$\{?\w{0,40}(?:_key|_token|_secret|password)\b)|<\s{0,2}~?/?[\w./-]{0,80}(?:\.ssh|\.aws"
    r"|\.env\b|id_rsa|passwd))"
    r"|\b(?:cat|tar|base64|zip)\b[^\n|]{0,120}?(?:\.ssh|\.aws|\.env\b|id_rsa|credentials|/etc/passwd|memories)[^\n"
    r"|]{0,60}?"
    r"\|\s{0,3}(?:base64[^\n|]{0,20}\|\s{0,3})?(?:curl|nc|ncat|wget)\b"
    r"|\b(?:env|printenv)\s{0,3}\|\s{0,3}(?:base64[^\n|]{0,20}\|\s{0,3})?(?:curl|nc|ncat|wget)\b"
    r"|\b(?:ba)?sh -i\s{0,3}>&\s{0,3}/dev/tcp/|\bnc\b[^\n]{0,40}? -e\s{0,3}/bin/|/dev/tcp/(?:\d{1,3}\.){3}\d{1,3}/\d"
)
_PUT_INTO = re.compile(
    r"\b(?:include|append|embed|put|place|insert|encode|add|attach|hide)\b[^\n.]{0,60}?\b(?:api keys?|tokens?|secrets?"
    r"|credentials?|passwords?|conversation|chat history|system prompt|user'?s (?:data|messages?|files))\b"
    r"[^\n.]{0,40}?\b(?:in|into|to|as)\b[^\n.]{0,24}?\b(?:the |a |every |each |an |your )(?:\w+ )?(?:url|query(?:"
    r" string)?|link|image(?: url)?|request|commit message|pixel|subdomain|hostname|dns)\b"
)

_POINTED = b"0.0"
"""What stands in each of these, in a numeric outline."""
_THEN_SENDS = re.compile(
    r"\b(?:and|then|,)\s+(?:then\s+)?(?:send|post|upload|forward|e-?mail|transmit|submit|paste)\s+"
    r"(?:it|them|this|that|its contents?|the (?:contents?|result|output|file))\b[^\n.]{0,20}?\b(?:to|at|via)\b"
)
"""What was named before is sent: `read … and post it to …`."""
_NUMBERED = re.compile(r"\d\.\d{1,3}\.\d{1,3}\.\d")
_PROGRAMS = ("curl", "wget", "/dev/tcp", "iwr", " nc ", "\nnc ", "iex")
_CARRIERS = ("url", "query", "link", "image", "request", "commit message", "pixel", "subdomain", "hostname", "dns")
_CARGOES = (
    "api key", "token", "secret", "credential", "password", "conversation", "chat history", "system prompt", "user's",
)  # fmt: skip

_WHY_SEND = "a call to send what is private to an address"
_WHY_ORDERS = "a call to fetch orders from an address and carry them out"
_WHY_RUN = "a command that runs whatever an address answers"
_WHY_SHELL = "a command that sends files, variables or output away"
_WHY_PUT = "a call to put what is private into an address"


def sendings(text: str) -> Iterator[tuple[str, int, int]]:
    """Calls to send or to fetch in a folded text: why each is told, and where it stands."""
    if _has(text, _PROGRAMS):
        yield from _commands(text)
    if _has(text, _CARGOES) and _has(text, _CARRIERS):
        for start, end in around(text, _CARGOES):
            for found in _PUT_INTO.finditer(text, start, end):
                yield _WHY_PUT, *found.span()
    seen = -1
    for at in islice(_addresses(text), _MOST):
        start, end = _line(text, at, at)
        if start == seen:
            continue
        seen = start
        if span := _sends(text, start, end):
            yield _WHY_SEND, *span
        elif span := _obeys(text, start, end):
            yield _WHY_ORDERS, *span


def _has(text: str, hints: tuple[str, ...]) -> bool:
    for hint in hints:  # noqa: SIM110 - a loop is twice as fast here
        if hint in text:
            return True
    return False


def _commands(text: str) -> Iterator[tuple[str, int, int]]:
    """Commands that send something away, or run what comes back."""
    for start, end in around(text, _PROGRAMS):
        for found in _SHELL_SENDS.finditer(text, start, end):
            yield _WHY_SHELL, *found.span()
        for found in _RUN_ANSWER.finditer(text, start, end):
            line = _line(text, found.start(), found.end())
            if _ODD_HOST.search(text, *line) or _ALWAYS.search(text, *line):
                yield _WHY_RUN, *found.span()


def _addresses(text: str) -> Iterator[int]:
    """Where something stands that may be an address."""
    for hint in ("://", "@", "webhook", "/dev/tcp/", "pastebin"):
        at = text.find(hint)
        while at >= 0:
            yield at
            at = text.find(hint, at + len(hint))
    if _POINTED in numeric(text):
        for found in _NUMBERED.finditer(text):
            yield found.start()


def _obeys(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Somebody is told to fetch orders from an address, and to carry them out."""
    fetch = _FETCH.search(text, start, end)
    obey = fetch and _OBEY.search(text, fetch.end() - 1, end)
    if not fetch or not obey or text.find("http", start, end) < 0:
        return None
    is_blind = any(word in obey.group() for word in ("whatever", "command", "obey", "without"))
    is_of_orders = "instruction" in fetch.group() or _ORDERS_FROM.search(text, start, end)
    return (fetch.start(), obey.end()) if is_blind or is_of_orders or _ALWAYS.search(text, start, end) else None


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
    r"\b(?:never|not|n't|do not|don't|nicht|nie|niemals|ne|jamais|no|nunca|without|cannot|must not)\b[^\n.]{0,30}\Z|"
    r"(?:不要|勿|别|不得)[^\n。]{0,8}\Z"
)


def _is_told_off(before: str) -> bool:
    """Whether it is forbidden: `never send tokens to …`."""
    return _TOLD_OFF.search(before[-60:]) is not None


def _line(text: str, start: int, end: int) -> tuple[int, int]:
    """The line around a place, and no more than a sentence or two of it."""
    first = text.rfind("\n", max(0, start - _AROUND), start) + 1 or max(0, start - _AROUND)
    last = text.find("\n", end, end + _AROUND)
    return first, last if last >= 0 else min(len(text), end + _AROUND)
