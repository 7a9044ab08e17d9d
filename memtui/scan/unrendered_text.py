"""What of a note is not shown once it is rendered: comments, hidden elements, words in places where nobody reads them.

An agent reads a note as it is stored, a person often as it is rendered. What only one of them sees is found here; marks
that programs leave for themselves (tables of contents, linters, formatters) are left alone.
"""

import re
from collections.abc import Iterator
from functools import lru_cache, partial
from html import unescape
from itertools import islice
from urllib.parse import urlsplit

from memtui.core.unicode import find_lookalikes, to_one_line
from memtui.notes.spans import MarkupSpans, find_line_start, find_markup_spans, has_mark
from memtui.scan.orders import find_orders
from memtui.scan.ruleset import load_pattern
from memtui.scan.spots import Spot
from memtui.scan.work_budget import WorkBudget

_get_pattern = partial(load_pattern, "hidden")
_LONGEST_REMARK = 160
_FAINTEST = 250  # the red, green and blue that a colour has at least, of 255, that nobody can tell from white
_WHITE = frozenset({"white", "#fff", "#ffffff", "#fefefe", "#fffffe", "#ffffffff", "rgb(255,255,255)", "snow", "ivory"})
_NEVER_SHOWN = frozenset(
    {"script", "style", "template", "noscript", "noembed", "noframes", "head", "title", "datalist", "desc", "metadata"}
)
_VOID = frozenset(
    {"img", "br", "hr", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr"}
)
_FEWEST_WORDS = 24  # characters in an attribute that nobody sees, of which less is no order
_ONLY_MARKUP = re.compile(r"(?:<[^<>]{0,2000}+>|&nbsp;|\s)*+")
_INSIDE = 2_000  # characters of an element that are looked at
_FEWEST_ARIA = 24  # letters in an element that is kept from screen readers: fewer are an icon
_LONGEST_LABEL = 600
_LONGEST_TITLE = 120
_LONGEST_ALT = 250
_FEWEST_ALT = 40
_PLAIN_TOPS = frozenset({"com", "org", "edu", "gov"})
"""Top-level domains by which words are known as an address without `https://`; others are endings of files, too."""
_OTHER_COMMENTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("%%", re.compile(r"%%(?!\w{1,30}:)([^%]{1,2000})%%")),
    ("{%", re.compile(r"\{%-?\s{0,4}comment\s{0,4}-?%\}([^{]{1,2000})\{%")),
    ("{#", re.compile(r"\{#([^#{}]{1,2000})#\}")),
    ("{/*", re.compile(r"\{/\*([^*]{1,2000})\*/\}")),
    ("<?", re.compile(r"<\?(?:\w{1,20}\b)?([^<>?]{1,2000})\?>")),
    ("<![CDATA[", re.compile(r"<!\[CDATA\[([^\]]{1,2000})\]\]>")),
    ("<!DOCTYPE", re.compile(r"<!DOCTYPE\s([^<>\"]{1,2000})>")),
)
"""What other programs than a browser take for a comment, and by what it begins."""
ORDERS = "tells its reader to do something"
_OF_ANOTHER = "a hidden comment of another kind, which tells its reader to do something"
_BEHIND_MARK = "text after the mark of a code block, which tells its reader to do something"
_FEWEST_BLANKS = 3  # blanks between the words of a comment of another program, of which less is no sentence
_NOT_SHOWN = 4_000  # characters of hidden words that are looked at: whoever gives orders does so early
_MOST = 500  # spots of one kind that are yielded
_MOST_LINKS = 5_000
_SHOWN = 80


def _build_spot(rule: str, start: int, end: int, words: str) -> Spot:
    return Spot("hidden", rule, start, end, words)


def gives_orders(words: str) -> bool:
    """Whether words tell a reader to do something, or speak to an assistant. A heuristic, for English mostly."""
    words = words[:_NOT_SHOWN].strip()
    return any(_get_pattern(name).search(words) for name in ("order", "assistant"))


def find_unrendered(text: str, budget: WorkBudget, *, is_page: bool = False) -> Iterator[Spot]:
    """What is in a text and not shown, by rule, not in order.

    Args:
        text: The text.
        budget: Of the elements that may hide words, which are looked into.
        is_page: Whether it is an HTML page, in which scripts and styles are usual.
    """
    yield from _find_other_comments(text)
    if text.startswith("---") and "#" in text:
        yield from _find_front_matter_comments(text)
    if "{" in text and ("color{" in text or "phantom{" in text):
        yield from _find_formulas(text)
    has_comment = has_mark(text, "<!--")
    may_hide = "<" in text and _get_pattern("tag").search(text) is not None
    may_link = (
        has_mark(text, "](")
        or has_mark(text, "]:")
        or ("@" in text and _get_pattern("disguised").search(text) is not None)
    )
    if not (has_comment or may_hide or may_link):
        return
    parts = find_markup_spans(text)
    if has_comment:
        yield from _find_comments(text, parts)
    if may_hide:
        yield from islice(_find_elements(text, parts, budget, is_page=is_page), _MOST)
    if may_link:
        yield from islice(_find_links(text, parts), _MOST)
        if "]:" in text:
            yield from islice(_find_definitions(text, parts), _MOST)


# Comments


def _find_comments(text: str, parts: MarkupSpans) -> Iterator[Spot]:
    for start, end in parts.comments[:_MOST]:
        closed = text.startswith("-->", end - 3) and end - start >= 7
        spot = _judge_comment(text[start + 4 : end - 3 if closed else end], start, end, "a comment", is_closed=closed)
        if spot is not None:
            yield spot


def _judge_comment(words: str, start: int, end: int, what: str, *, is_closed: bool = True) -> Spot | None:
    """What a comment is; `None` for one that a program left for itself."""
    orders = gives_orders(words) and gives_orders(_blank_upkeep(words)) and not _says_how_to_fill_in(words)
    if is_closed and not words.strip():
        return None
    if is_closed and not (orders and " " in words.strip()) and _get_pattern("directive").match(words):
        return None
    if is_closed and _get_pattern("pragma").match(words):
        return None
    if not is_closed:
        about = f"{what} that is not shown, and never closed: all that follows is hidden"
    elif orders:
        about = f"{what} that is not shown, and {ORDERS}: {_quote(words)}"
    else:
        about = f"{what} that is not shown: {_quote(words)}"
    return _build_spot(_choose_comment_rule(words, gives_orders=orders, is_closed=is_closed), start, end, about)


def _choose_comment_rule(words: str, *, gives_orders: bool, is_closed: bool) -> str:
    """A long comment may hold an order in any language, or a statement that lifts a safeguard."""
    if gives_orders or not is_closed:
        return "html-comment"
    if len(words.strip()) <= _LONGEST_REMARK:
        return "html-remark"
    stated = _get_pattern("renewal").sub(" ", words)
    return "html-comment" if next(find_orders(stated), None) is not None else "html-passage"


def _blank_upkeep(words: str) -> str:
    """A comment without what it says of keeping the note itself, as templates do: add entries below."""
    return _get_pattern("upkeep").sub(" ", words)


def _says_how_to_fill_in(words: str) -> bool:
    """Whether a comment gives no orders but how to fill its note in, as templates do: write a short summary."""
    words = words[:_NOT_SHOWN]
    return (
        _get_pattern("weight").search(words) is None
        and not gives_orders(_get_pattern("filling").sub(" ", _blank_upkeep(words)))
        and next(find_orders(words), None) is None
    )


def _find_other_comments(text: str) -> Iterator[Spot]:
    """What other programs than a browser take for comments, and words behind the language of a block of code.

    Each is usual where it belongs; so only those are found that tell their reader to do something.
    """
    parts: MarkupSpans | None = None
    for mark, pattern in _OTHER_COMMENTS:
        for found in islice(pattern.finditer(text), _MOST) if has_mark(text, mark) else ():
            if _is_order_of_words(found[1]):
                parts = parts or find_markup_spans(text)
                if not parts.is_code(found.start()):
                    about = f"{_OF_ANOTHER}: {_quote(found[1])}"
                    yield _build_spot("html-comment", *found.span(), about)
    for found in (
        islice(_get_pattern("info").finditer(text), _MOST) if has_mark(text, "```") or has_mark(text, "~~~") else ()
    ):
        if _is_order_of_words(found[1]) and _begins_line(text, found.start()):
            yield _build_spot("html-comment", *found.span(), f"{_BEHIND_MARK}: {_quote(found[1])}")


def _begins_line(text: str, at: int) -> bool:
    """Whether nothing but blanks and marks of quotations stands before a place in its line."""
    return not text[find_line_start(text, at, 64) : at].strip(" \t>")


def _is_order_of_words(words: str) -> bool:
    return len(words.strip()) >= _FEWEST_WORDS and words.strip().count(" ") >= _FEWEST_BLANKS and gives_orders(words)


def _find_front_matter_comments(text: str) -> Iterator[Spot]:
    """Comments in the front matter that speak to an assistant: of the others nearly all say how to fill it in."""
    end = text.find("\n---", 3, _NOT_SHOWN)
    for found in islice(_get_pattern("hashed").finditer(text, 3, max(end, 3)), _MOST):
        if _get_pattern("pragma").match(found["words"]):
            continue
        if gives_orders(found["words"]) and _get_pattern("model").search(found["words"]):
            words = f"a comment in the front matter, which tells its reader to do something: {_quote(found['words'])}"
            yield _build_spot("html-comment", *found.span("words"), words)


# Elements


def _find_elements(text: str, parts: MarkupSpans, budget: WorkBudget, *, is_page: bool) -> Iterator[Spot]:
    at = 0
    while (found := _get_pattern("tag").search(text, at)) is not None:
        at = found.end()
        how = _describe_hiding(found["name"].lower(), found["attributes"], is_page=is_page)
        if not how and "=" in found["attributes"] and (spot := _judge_attribute(found, parts)) is not None:
            yield spot
            continue
        if not how or parts.is_code(found.start()) or parts.is_comment(found.start()):
            continue
        if not budget.spend(_INSIDE):
            return
        inside, end = _read_element(text, found)
        if _ONLY_MARKUP.fullmatch(inside) or (
            found["name"].lower() in _NEVER_SHOWN and _is_mentioned(text, found, end)
        ):
            continue
        words = _get_pattern("markup").sub(" ", inside).strip()
        if not words or (how == "aria-hidden" and sum(map(str.isalpha, words)) < _FEWEST_ARIA):
            continue
        orders = gives_orders(words)
        if found["name"] == "Dialog" and not orders:  # a component of a program
            continue
        does = f", and {ORDERS}" if orders else ""
        about = f"text that is not shown ({how}){does}: {_quote(words)}"
        yield _build_spot("hidden-element", found.start(), end, about)
        at = max(at, end)


def _judge_attribute(tag: re.Match[str], parts: MarkupSpans) -> Spot | None:
    """Words in an attribute of a tag that nobody sees, if they tell their reader to do something."""
    for found in _get_pattern("attribute").finditer(tag["attributes"]):
        words = (found["words"] or found["single"] or "").strip()
        is_seen = found["name"].lower() == "value" and "hidden" not in tag["attributes"].lower()
        if len(words) < _FEWEST_WORDS or " " not in words or is_seen or not gives_orders(words):
            continue
        if len(words) < _LONGEST_TITLE and not _get_pattern("model").search(words):
            continue
        if parts.is_code(tag.start()) or parts.is_comment(tag.start()):
            return None
        about = f"text in an attribute, `{found['name'].lower()}`, which few see: {_quote(words)}"
        return _build_spot("hidden-link-text", *tag.span(), about)
    return None


def _find_formulas(text: str) -> Iterator[Spot]:
    """Words of a formula in the colour of the page, or of which nothing but their room is shown."""
    for found in islice(_get_pattern("formula").finditer(text), _MOST):
        how = "white on white" if found["words"] else "a phantom"
        words = f"text that is not shown ({how}, in a formula): {_quote(found['words'] or found['room'])}"
        yield _build_spot("hidden-element", *found.span(), words)


def _read_element(text: str, opened: re.Match[str]) -> tuple[str, int]:
    """What an element holds, as far as it is looked at, and where it ends."""
    if opened["name"].lower() in _VOID:
        return "", opened.end()
    start, limit = opened.end(), opened.end() + _INSIDE
    closing = _compile_closing(opened["name"].lower()).search(text, start, limit)
    if closing is None:
        return text[start:limit], min(limit, len(text))
    end = text.find(">", closing.end(), limit)
    return text[start : closing.start()], end + 1 if end >= 0 else min(limit, len(text))


@lru_cache(maxsize=64)
def _compile_closing(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{re.escape(name)}", re.IGNORECASE | re.ASCII)


def _is_mentioned(text: str, opened: re.Match[str], end: int) -> bool:
    """Whether a tag is only spoken of, as in `put it into <head>`: nothing closes it, and words stand beside it."""
    if opened["attributes"].rstrip().endswith("/"):
        return True
    if f"</{opened['name']}".lower() in text[opened.end() : end].lower():
        return False
    first = find_line_start(text, opened.start(), 200)
    last = text.find("\n", opened.end(), opened.end() + 200)
    beside = text[first : opened.start()] + text[opened.end() : last if last >= 0 else opened.end() + 200]
    return any(map(str.isalnum, _get_pattern("markup").sub(" ", beside)))


def _describe_hiding(name: str, attributes: str, *, is_page: bool) -> str:
    """How a tag hides what is in it; empty if it does not."""
    if name in _NEVER_SHOWN:
        return "" if is_page else f"<{name}>"
    if name == "dialog" and not _get_pattern("open").search(attributes):
        return "<dialog>"
    if not attributes or name in _VOID:
        return ""
    if (found := _get_pattern("style").search(attributes)) and (
        how := _describe_style(found[1] or found[2] or found[3] or "")
    ):
        return how
    if _get_pattern("hidden_attribute").search(attributes):
        return "hidden"
    if name == "svg" and len(_get_pattern("size").findall(attributes)) > 1:
        return "of no size"
    if _get_pattern("aria").search(attributes):
        return "aria-hidden"
    if _get_pattern("class").search(attributes):
        return "a class for screen readers"
    if name == "font" and _get_pattern("font_colour").search(attributes):
        return "white on white"
    return ""


def _describe_style(style: str) -> str:
    """How a style hides an element; empty if it does not."""
    style = _normalize_style(style)
    hiding = _get_pattern("hiding").search(style)
    if hiding and (hiding.lastgroup != "zero" or "overflow" in style.lower()):
        return " ".join(hiding.group().strip("; \t\n").split())
    return _describe_colour(style)


def _normalize_style(style: str) -> str:
    """A style as a browser reads it: without comments, and with the letters that references stand for."""
    style = unescape(style) if "&" in style else style
    return _get_pattern("style_comment").sub("", style) if "/*" in style else style


def _describe_colour(style: str) -> str:
    """How a style makes letters the colour of what they stand on; empty if it does not."""
    colour = _get_pattern("colour").search(style)
    if colour is None:
        return ""
    ink = _round_to_white("".join(colour[1].lower().split()))
    if ink == "transparent" or re.fullmatch(r"rgba\(.*,0(?:\.0+)?\)|#[0-9a-f]{3}0|#[0-9a-f]{6}00", ink):
        return "transparent"
    background = _get_pattern("background").search(style)
    paper = _round_to_white("".join(background[1].lower().split())) if background else "white"
    if ink == paper or (ink in _WHITE and paper in _WHITE):
        return "white on white" if ink in _WHITE else f"{to_one_line(ink)} on {to_one_line(paper)}"
    return ""


def _round_to_white(colour: str) -> str:
    """A colour, or `white` if nobody can tell it from white."""
    found = _get_pattern("channels").fullmatch(colour)
    if found is None:
        return colour
    values, base = (found.groups()[:3], 10) if found[1] else (found.groups()[3:], 16)
    channels = [int(value, base) for value in values]
    return "white" if min(channels) >= _FAINTEST else colour


# Links


def _find_links(text: str, parts: MarkupSpans) -> Iterator[Spot]:
    for found in islice(_get_pattern("link").finditer(text), _MOST_LINKS):
        opening = _find_opening(text, found.start())
        if opening < 0 or parts.is_code(found.start()) or parts.is_comment(found.start()):
            continue
        label = text[opening + 1 : found.start()]
        target = found["angled"] if found["angled"] is not None else found["plain"] or ""
        spot = _judge_link(label, target, found["title"] or found["single"] or "", opening, found.end(), text)
        if spot is not None:
            yield spot
    for found in _get_pattern("disguised").finditer(text) if "@" in text else ():
        if not parts.is_code(found.start()):
            shown, host = to_one_line(found["shown"]), to_one_line(found["host"])
            words = f"an address that begins as {shown} and leads to {host}"
            yield _build_spot("misleading-link", *found.span(), words)


def _find_opening(text: str, closing: int) -> int:
    """Where the label of a link begins that ends at a bracket; below 0 if nowhere near."""
    start = max(0, closing - _LONGEST_LABEL)
    start = max(start, text.rfind("\n\n", start, closing))
    opening, depth_end = text.rfind("[", start, closing), closing
    for _ in range(4):  # brackets within the label
        if opening < 0 or text.count("]", opening, depth_end) == 0:
            break
        depth_end = opening
        opening = text.rfind("[", start, opening)
    return opening


def _judge_link(label: str, target: str, title: str, start: int, end: int, text: str) -> Spot | None:
    if title and (len(title) > _LONGEST_TITLE or gives_orders(title)):
        words = f"text in the title of a link, which few see: {_quote(title)}"
        return _build_spot("hidden-link-text", start, end, words)
    if start and text[start - 1] == "!":
        if len(label) > _LONGEST_ALT or (len(label) > _FEWEST_ALT and gives_orders(label)):
            words = f"text in place of an image, seen only where it is missing: {_quote(label)}"
            return _build_spot("hidden-link-text", start - 1, end, words)
        return None
    if not label.strip() and target and not target.startswith(("#", "^")):
        return _build_spot("misleading-link", start, end, f"a link without words, to {_quote(target)}")
    if _get_pattern("script").match(target):
        words = f"a link that runs a script or holds a page, {_quote(target)}"
        return _build_spot("misleading-link", start, end, words)
    shown = _read_shown_host(label.strip().strip("*_` "))
    host = _read_host(target)
    if host and (false := [letter for word in re.split(r"[-.]", host) for letter in find_lookalikes(word)]):
        words = f"a link to {to_one_line(host)}, in which “{to_one_line(false[0])}” is not a Latin letter"
        return _build_spot("misleading-link", start, end, words)
    if shown and host and not _is_same_site(shown, host, target):
        words = f"a link that reads {to_one_line(shown)} and leads to {to_one_line(host)}"
        return _build_spot("misleading-link", start, end, words)
    return None


def _read_shown_host(label: str) -> str:
    """The host that the words of a link name; empty if they name none."""
    found = _get_pattern("address").fullmatch(label)
    if found is None or not (found["scheme"] or label[:4].lower() == "www." or found["top"].lower() in _PLAIN_TOPS):
        return ""
    return found["host"].lower()


def _read_host(target: str) -> str:
    if not target[:8].lower().startswith(("http://", "https://", "//")):
        return ""
    try:
        return (urlsplit(target).hostname or "").lower()
    except ValueError:
        return ""


def _is_same_site(shown: str, host: str, target: str) -> bool:
    """Whether the host that is shown is the one that is led to, is related to it, or is passed on to by it."""
    shown, host = shown.removeprefix("www."), host.removeprefix("www.")
    if shown == host or shown.endswith("." + host) or host.endswith("." + shown):
        return True
    return shown.split(".")[-2:] == host.split(".")[-2:] or shown in target.lower().partition(host)[2]


# Definitions of references


def _find_definitions(text: str, parts: MarkupSpans) -> Iterator[Spot]:
    uses = {_normalize(use[1] or use[2] or use[3]) for use in _get_pattern("use").finditer(text)}
    for note in _get_pattern("footnote").finditer(text):
        if _normalize(note["name"]) not in uses and not parts.is_code(note.start()):
            end = text.find("\n", note.end(), note.end() + _INSIDE)
            end = min(len(text), note.end() + _INSIDE) if end < 0 else end
            words = f"a footnote that nothing refers to: {_quote(text[note.end() : end])}"
            yield _build_spot("unused-definition", note.start(), end, words)
    for found in _get_pattern("definition").finditer(text):
        if found["name"].startswith("^") or parts.is_code(found.start()) or parts.is_comment(found.start()):
            continue
        spot = _judge_definition(found, is_used=_normalize(found["name"]) in uses)
        if spot is not None:
            yield spot


def _judge_definition(found: re.Match[str], *, is_used: bool) -> Spot | None:
    name, title = found["name"], (found["title"] or "")[1:-1]
    target = found["angled"] if found["angled"] is not None else found["plain"]
    if is_used:
        if not title or (len(title) <= _LONGEST_TITLE and not gives_orders(title)):
            return None
        words = f"text in the title of a link, which few see: {_quote(title)}"
        return _build_spot("hidden-link-text", *found.span(), words)
    if title and (target in ("#", "", "<>") or not name.strip("/ ") or " " in title.strip()):
        return _judge_comment(title, *found.span(), "a comment in the form of a link's definition")
    shown = f"a definition of a link that nothing refers to: [{to_one_line(name[:_SHOWN])}]"
    return _build_spot("unused-definition", *found.span(), shown)


def _normalize(name: str) -> str:
    return " ".join(name.split()).casefold()


def _quote(words: str) -> str:
    words = " ".join(words[:_NOT_SHOWN].split())
    return f"“{to_one_line(words[:_SHOWN])}{'…' if len(words) > _SHOWN else ''}”"
