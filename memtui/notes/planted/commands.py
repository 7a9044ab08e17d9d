"""Commands that send away what is private, or run whatever an address answers."""

import re
from collections.abc import Iterator

from memtui.notes.planted.phrase import around, has_any

ALWAYS = re.compile(
    r"\b(?:always|first|silently|secretly|before (?:each|every|any|you|answering|doing)|at the (?:start|beginning|end)"
    r" of (?:each|every|any)"
    r"|every (?:time|session|conversation)|each (?:time|session|conversation)|whenever|on (?:every|each)|must|immer"
    r"|jedes mal|toujours|siempre)\b"
)
"""Words by which a command becomes a habit."""
_RUN_ANSWER = re.compile(
    r"\b(?:curl|wget|fetch|iwr|invoke-webrequest)\b[^\n|]{0,240}?\|\s{0,3}(?:sudo )?(?:ba|z|da)?sh\b"
    r"|\biex\b[^\n]{0,80}?(?:iwr|downloadstring|http)"
    r"|\b(?:ba|z)?sh\s{1,3}(?:-c\s{1,3})?[\"']?(?:<\(|\$\()\s{0,3}(?:curl|wget)\b"
)
_KEPT = re.compile(
    r"\|\s{0,3}(?:sudo )?(?:ba|z|da)?sh\b[\"'`) ]{0,4}(?:>>|\|\s{0,3}crontab\b)"
    r"|(?:(?:[\d*/,-]{1,12} ){4}[\d*/,-]{1,12}|@(?:reboot|daily|hourly)) [^\n|]{0,200}\b(?:curl|wget)\b"
)
"""It is written to where it runs again and again: a shell's start, a table of cron."""
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
    r"(?:[\"']?\$\(|`|(?:~|\$\{?home\}?)?/?[\w./-]{0,80}(?:\.ssh|\.aws|\.env\b|id_rsa|id_ed25519|\.netrc|\.npmrc"
    r"|/etc/passwd|credentials"
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
_COPIES = re.compile(
    r"\b(?:scp|rsync|sftp)\b[^\n|;]{0,60}?~?/?(?:\.ssh|\.aws|\.gnupg|id_rsa|id_ed25519"
    r"|/etc/shadow)(?![\w./-]*(?:\.pub\b"
    r"|known_hosts|config\b))[^\n|;]{0,40}?\s(?:[\w.-]{1,40}@)?[\w.-]{1,80}:"
)
_LOOKS_UP = re.compile(
    r"\b(?:dig|nslookup|host|ping|resolve|getent)\b[^\n]{0,60}?(?:\$\(\s{0,2}(?:whoami|hostname|cat|env|base64|id"
    r"|head|tail"
    r"|xxd|printenv)\b[^)\n]{0,80}\)|`(?:whoami|hostname|cat|env|base64|id|head|tail|xxd|printenv)\b[^`\n]{0,80}`"
    r"|<[^<>\n]{0,40}\b(?:key|token|secret|password|base64)\b[^<>\n]{0,20}>)\.(?!local\b)[^\s]{0,80}\.\w{2}"
)
_ENVIRONMENT = re.compile(
    r"\b(?:urlopen|requests\.(?:get|post)|httpx\.(?:get|post)|fetch|axios(?:\.\w{1,8})?)\s{0,3}\([^\n]{0,200}?"
    r"(?:\bos\.environ\b(?!\s{0,2}[\[.]|\[)|\bprocess\.env\b(?!\s{0,2}[\[.?]))"
)
_SENDERS = ("curl", "wget", "/dev/tcp", "iwr", "nc", "iex", "fetch")

_AROUND = 260
"""Characters before and behind a place that belong to its sentence, at most."""

_WHY_RUN = "a command that runs whatever an address answers"
_WHY_SENDS = "a command that sends files, variables or output away"
_WHY_LOOKS_UP = "a name is looked up that carries data to whoever answers for it"

_SENT = (
    *(".ssh", ".aws", ".env", "id_rsa", "id_ed", "netrc", "npmrc", "passwd", "credentials", "memor", ".claude", ".pem"),
    *(".key", "_key", "_token", "_secret", "password", "$(", "`", "env", "/dev/tcp", " -e"),
)
"""One of these is in each command that sends something private away."""
_RUN = ("|", "iex", "<(", "$(")
_SENDER_HEADS = frozenset({"curl", "wget", "tcp", "iwr", "nc", "ncat", "iex", "invok"})
_OTHERS: tuple[tuple[str, re.Pattern[str], tuple[str, ...], frozenset[str]], ...] = (
    (_WHY_SENDS, _COPIES, ("scp ", "rsync ", "sftp "), frozenset({"scp", "rsync", "sftp"})),
    (_WHY_SENDS, _ENVIRONMENT, ("os.environ", "process.env"), frozenset({"envir", "env"})),
    (
        _WHY_LOOKS_UP,
        _LOOKS_UP,
        ("$(", "`whoami", "`hostname", "`cat ", "`env", "`base64", "`id", "key>", "secret>", "token>", "password>"),
        frozenset({"dig", "nsloo", "host", "ping", "resol", "geten"}),
    ),
)


def commands(text: str, heads: frozenset[str]) -> Iterator[tuple[str, int, int]]:
    """Commands in a folded text that send something away, or run what comes back: why each is told, and where.

    Args:
        text: The text.
        heads: The first letters of its words.
    """
    if not _SENDER_HEADS.isdisjoint(heads):
        for start, end in around(text, _SENDERS, 200, 300):
            for found in _SHELL_SENDS.finditer(text, start, end) if has_any(text, _SENT, start, end) else ():
                yield _WHY_SENDS, *found.span()
            for found in _RUN_ANSWER.finditer(text, start, end) if has_any(text, _RUN, start, end) else ():
                first, last = line_around(text, *found.span())
                if any(odd.search(text, first, last) for odd in (_ODD_HOST, ALWAYS, _KEPT)):
                    yield _WHY_RUN, *found.span()
    for why, pattern, hints, hint_heads in _OTHERS:
        if not hint_heads.isdisjoint(heads):
            for start, end in around(text, hints, 200, 300):
                for found in pattern.finditer(text, start, end):
                    yield why, *found.span()


def line_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The line around a place, and no more than a sentence or two of it."""
    first = text.rfind("\n", max(0, start - _AROUND), start) + 1 or max(0, start - _AROUND)
    last = text.find("\n", end, end + _AROUND)
    return first, last if last >= 0 else min(len(text), end + _AROUND)
