"""Links that carry data away: whoever draws the picture, or follows the link, sends what was put into its address."""

import re
from collections.abc import Iterator
from itertools import islice

_IMAGE = re.compile(
    r"!\[[^\]\n]{0,300}\]\(\s{0,4}<?(?P<url>https?://[^\s)>]{4,4000})|<img\b[^>\n]{0,300}?\bsrc\s{0,3}=\s{0,3}[\"']?"
    r"(?P<src>https?://[^\s\"'>]{4,4000})",
    re.IGNORECASE,
)
_LINK = re.compile(
    r"(?<!!)\[[^\]\n]{0,300}\]\(\s{0,4}<?(?P<url>https?://[^\s)>]{4,4000})|(?<![\w(<\"'/])(?P<bare>https?://"
    r"(?:[^\s\"'<>)\]]|<[\w -]{2,40}>){4,2000})",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\$?\{\{?\s{0,2}[\w .:-]{1,60}\}?\}|\$\([^)\n]{1,80}\)|\$[A-Z_]{3,40}\b|%7b[\w%.-]{1,60}%7d|<[\w ]{2,40}>|\[[A-Z_"
    r" ]{3,40}\]|%s\b",
    re.IGNORECASE,
)
_PRIVATE = re.compile(
    r"conversation|secret|password|memor(?:y|ies)|system_?prompt|prompt|history|chat|context|user_?(?:data|input"
    r"|message|name)|transcript|contents?"
    r"|credentials?|environ|env_?vars?|summary|base64|encoded|exfil|stolen|leak|api_?key|private|note_?text"
    r"|last_?message|answer",
    re.IGNORECASE,
)
_OF_PERSON = re.compile(r"user_?name", re.IGNORECASE)
"""What is private in a question, and the usual place in the address of somebody's page: `<username>.github.io`."""
_IN_CAPITALS = (
    "CONVERSATION", "QUESTION", "SECRET", "PASSWORD", "MEMORY", "PROMPT", "HISTORY", "SUMMARY", "ANSWER", "MESSAGE",
)  # fmt: skip
_CAPITALS = re.compile(rf"[?&/=](?:[A-Z]{{3,20}}_){{0,3}}(?:{'|'.join(_IN_CAPITALS)})\b")
"""A place that is told in capitals, in the address of a picture: `?t=LAST_QUESTION`."""
_TOKENS = re.compile(r"token|key|data|session|cookie", re.IGNORECASE)
_BLANKS = re.compile(
    r"https?://[^\s<>\"'()\[\]{}]{4,400}[?&][\w.-]{1,40}=(?P<place>\[[\w,'-]{1,30}(?: [\w,'-]{1,30}){1,6}\]"
    r"|<[\w,'-]{1,30}(?: [\w,'-]{1,30}){1,6}>|\{[\w,'-]{1,30}(?: [\w,'-]{1,30}){1,6}\})",
    re.IGNORECASE,
)
"""A place that is told in words: `?q=<summary of the conversation>`."""
_SIGNED = re.compile(r"data:image|x-amz-|x-goog-|signature=|sig=|[?&]s=|hmac=|token=|hash=|fit=|utm_", re.IGNORECASE)
_UP_TO_PLACE = re.compile(r"://[^\s{$%<\[]*+[{$%<\[]?")
_LONG_RUN = re.compile(r"://\S{160}")
_LONG_VALUE = re.compile(r"[?&/][\w.-]{0,40}=?(?P<value>[A-Za-z0-9+/_-]{160,})")
_MOST = 2_000


def carried(text: str) -> Iterator[tuple[str, int, int]]:
    """Links with data in them: why each is told, and where it stands in the text, which is not folded."""
    if "://" not in text or ("http" not in text and "HTTP" not in text):
        return
    has_place = _has_place(text)
    is_drawn = has_place or _LONG_RUN.search(text) is not None or _has_capitals(text)
    for found in islice(_IMAGE.finditer(text), _MOST) if is_drawn and ("![" in text or "<" in text) else ():
        url = found["url"] or found["src"]
        tail = _tail(url)
        place = _PLACE.search(tail)
        if _CAPITALS.search(tail) or (
            place and (_PRIVATE.search(place.group()) or _TOKENS.search(place.group()) or "?" in tail)
        ):
            yield "a picture whose address has a place for data in it: drawing it sends them", *found.span()
        elif (value := _LONG_VALUE.search(tail)) and not _SIGNED.search(tail):
            yield f"a picture whose address carries {len(value['value'])} characters of data", *found.span()
    for found in islice(_BLANKS.finditer(text), _MOST) if has_place else ():
        if _PRIVATE.search(found["place"]):
            yield "a link whose address has a place for what is private in it", *found.span()
    for found in islice(_LINK.finditer(text), _MOST) if has_place else ():
        url = found["url"] or found["bare"]
        tail = _tail(url)
        query = tail.find("?")
        for place in islice(_PLACE.finditer(tail), 20):
            name = _PRIVATE.search(place.group())
            if name is None or (_OF_PERSON.match(name.group()) and not -1 < query < place.start()):
                continue
            yield "a link whose address has a place for what is private in it", *found.span()
            break


def _has_capitals(text: str) -> bool:
    """Whether an address may have a place in it that is told in capitals."""
    return any([word in text for word in _IN_CAPITALS]) and _CAPITALS.search(text) is not None  # noqa: C419


def _has_place(text: str) -> bool:
    """Whether an address may have a place for something in it."""
    return any(found.group()[-1] in "{$%<[" for found in _UP_TO_PLACE.finditer(text))


def _tail(url: str) -> str:
    """What of an address may carry data: all behind the scheme; of one without a query, also the host."""
    return url.partition("://")[2]
