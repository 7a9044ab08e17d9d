"""What of a note is not shown once it is rendered: comments, hidden elements, words in places where nobody reads them.

An agent reads a note as it is stored, a person often as it is rendered. What only one of them sees is told here; marks
that programs leave for themselves (tables of contents, linters, formatters) are left alone.
"""

import re
from collections.abc import Iterator
from html import unescape
from itertools import islice
from string import ascii_lowercase, ascii_uppercase
from urllib.parse import urlsplit

from memtui.core.confusables import lookalikes
from memtui.core.visible import one_line
from memtui.notes.code import Parts, parts_of
from memtui.notes.orders import gives_orders
from memtui.notes.spots import Spot

_DIRECTIVE = re.compile(
    r"\s*(?:/?\s*[\w.]*toc\b|table of contents|no ?toc|omit (?:in|from) toc|doctoc\b|START doctoc|END doctoc|"
    r"more\s*\Z|truncate\s*\Z|excerpt\s*\Z|readmore\s*\Z|page-?break|[/!]?\s*(?:markdownlint|prettier|eslint"
    r"|stylelint|textlint|remark|rumdl|mdformat|"
    r"md-?lint|lint|vale|alex|write-good|cspell|spell-?checker|codespell|proselint|mdx|pyml|dprint|biome|editorconfig|"
    r"checkmate|lychee|htmlhint|html-?validate|djlint|bandit|noqa|nosec|gitleaks|detect-secrets|pragma|sonar|semgrep|"
    r"coverage|istanbul|c8|deno|tsx?|jsx?|badges?|shields?|all-contributors|readme|automd|embedme|mermaid|excalidraw"
    r"|kroki|"
    r"terraform-docs|tf[_-]docs|helm-docs|action-docs|release-please|changelogith?|auto-generated|generated|memtui|"
    r"obsidian|dataview|logseq|notion|joplin|zettel|anki|roam|hugo|jekyll|vitepress|docusaurus|mkdocs|sphinx|jupytext|"
    r"marp|slide|_class|_backgroundColor|theme|paginate|column|vim?|emacs|region|endregion|SPDX|REUSE|copyright"
    r"|licen[cs]e)"
    r"(?:[-_:\s*/{@.]|\Z)[^\n]{0,200}\s*\Z|"
    r"-\*-[^\n]{0,200}-\*-\s*\Z|[#/{%]?[\w.:/@=#|+~\[\]()-]{1,80}[%}]?\s*\Z|"
    r"(?:BEGIN|END|START|STOP|begin|end|start|stop|Begin|End|Start|Stop)\b[:\s]\s{0,4}[^\n.!?]{0,60}\s*\Z"
    r"|[-=*#_\s]{1,200}\Z|\Z)"
)
"""What a program leaves for itself or for another one: one line, or a single word."""
_REMARK = re.compile(
    r"\s*(?:todo|fixme|xxx|hack|tbd|wip|draft|note|n\.?b\.?|nb|source|sources|see|ref|refs|via|from|cf\.?|by|author"
    r"|owner|"
    r"reviewer|version|rev(?:ision)?|date|created|added|moved|merged|renamed|imported|exported|migrated|copied|updated|"
    r"modified|reviewed|verified|checked|archived|last[ _-]\w+|as of|until|since|expires?|status|section|template|"
    r"example|placeholder|pinned|old|previous(?:ly)?|deprecated|obsolete|superseded|id|uuid|key|hash|index|"
    r"\d[\d./: TZ+-]{3,}|[\[(]?\d|https?://)",
    re.IGNORECASE,
)
"""How a remark begins that people leave for each other."""
_LONGEST_REMARK = 160
_TAG = re.compile(r"<(?P<name>[A-Za-z][A-Za-z0-9-]{0,40})(?=[\s/>])(?P<attributes>[^<>]{0,2000})>")
_STYLE = re.compile(
    r"""\bstyle\s{0,8}=\s{0,8}(?:"([^"]{0,1500})"|'([^']{0,1500})'|([^\s"'<>]{1,400}))""", re.IGNORECASE
)
_HIDING = re.compile(
    r"(?:^|;|\s)(?:"
    r"(?P<none>display\s{0,4}:\s{0,4}none)|(?P<invisible>visibility\s{0,4}:\s{0,4}(?:hidden|collapse))|"
    r"(?P<clear>opacity\s{0,4}:\s{0,4}(?:0?\.0\d{0,9}|0(?:\.0{1,9}\d?)?%?)(?![\d.]))|"
    r"(?P<tiny>font(?:-size)?\s{0,4}:\s{0,4}(?:0?\.\d{1,9}|[01](?:\.\d{1,9})?)(?:px|pt|%|)(?![\w.%]))|"
    r"(?P<zero>(?:max-)?(?:height|width)\s{0,4}:\s{0,4}[01](?:px|pt|)(?![\w.%]))|"
    r"(?P<away>(?:text-indent|left|top|right|bottom|margin-left|margin-top)\s{0,4}:\s{0,4}-\d{3,9}(?:px|em|rem|vw|pt"
    r"|%))|"
    r"(?P<clip>clip(?:-path)?\s{0,4}:\s{0,4}(?:rect\(\s{0,4}[01](?:px)?[\s,]|inset\(\s{0,4}(?:50|100)%"
    r"|circle\(\s{0,4}0))|"
    r"(?P<scale>transform\s{0,4}:\s{0,4}scale[XY]?\(\s{0,4}0(?:\.0\d{0,4})?\s{0,4}\))|"
    r"(?P<mso>mso-hide\s{0,4}:\s{0,4}all)"
    r")",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"(?:^|;|\s)color\s{0,4}:\s{0,4}([#\w]{1,30}(?:\([\d\s.,%/]{1,60}\))?)", re.IGNORECASE)
_BACKGROUND = re.compile(
    r"(?:^|;|\s)background(?:-color)?\s{0,4}:\s{0,4}([#\w]{1,30}(?:\([\d\s.,%/]{1,60}\))?)", re.IGNORECASE
)
_CHANNELS = re.compile(
    r"rgba?\((\d{1,3}),(\d{1,3}),(\d{1,3})(?:,1(?:\.0+)?)?\)|#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})(?:ff)?"
)
_FAINTEST = 250
"""The red, green and blue that a colour has at least, of 255, that nobody can tell from white."""
_SIZE = re.compile(r"(?:^|\s)(?:width|height)\s{0,4}=\s{0,4}[\"']?0(?:px)?[\"']?(?=\s|/|$)", re.IGNORECASE)
_WHITE = frozenset({"white", "#fff", "#ffffff", "#fefefe", "#fffffe", "#ffffffff", "rgb(255,255,255)", "snow", "ivory"})
_HIDDEN_ATTRIBUTE = re.compile(
    r"(?:^|\s)hidden(?=\s|/|$|=(?:\"\"|''|\"hidden\"|'hidden'|hidden|\"until-found\"|true|\"true\"))", re.I
)
_FORMULA = re.compile(
    r"\\(?:(?:text)?color\{(?:white|#fff(?:fff)?)\}[ ]{0,4}\{?(?:\\\w{1,12}\{)?(?P<words>[^{}$\n]{8,400})"
    r"|[hv]?phantom\{(?:\\\w{1,12}\{)?(?P<room>(?:[^\W\d_]{2,30}[ ,.]{1,3}){2}[^{}$\n]{2,400}))",
    re.IGNORECASE,
)
"""Words of a formula in white, or of which only the room is left."""
_ARIA = re.compile(r"\baria-hidden\s{0,4}=\s{0,4}[\"']?true", re.IGNORECASE)
_CLASS = re.compile(
    r"\bclass\s{0,4}=\s{0,4}[\"'][^\"']{0,400}\b(?:sr-only|visually-hidden|visuallyhidden|screen-reader-text|d-none)\b",
    re.I,
)
_FONT_COLOUR = re.compile(r"(?:^|\s)color\s{0,4}=\s{0,4}[\"']?(white|#fff(?:fff)?)\b", re.IGNORECASE)
_NEVER_SHOWN = frozenset(
    {"script", "style", "template", "noscript", "noembed", "noframes", "head", "title", "datalist", "desc", "metadata"}
)
_VOID = frozenset(
    {"img", "br", "hr", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr"}
)
_OPEN = re.compile(r"(?:^|\s)open(?=\s|/|$|=)", re.IGNORECASE)
"""What makes a dialog be shown."""
_STYLE_COMMENT = re.compile(r"/\*[^*]{0,200}\*/")
_ATTRIBUTE = re.compile(
    r"(?:^|\s)(?P<name>title|alt|content|aria-label|aria-description|summary|label|placeholder|value"
    r"|data-[\w-]{1,30})\s{0,4}=\s{0,4}"
    r"(?:\"(?P<words>[^\"<>]{0,1900})\"|'(?P<single>[^'<>]{0,1900})')",
    re.IGNORECASE,
)
_FEWEST_WORDS = 24
"""Characters in an attribute that nobody sees, of which less is no order."""
_MARKUP = re.compile(r"<[^<>]{0,2000}>|&nbsp;|\s+")
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_INSIDE = 2_000
"""Characters of an element that are looked at."""
_FEWEST_ARIA = 24
"""Letters in an element that is kept from screen readers: fewer are an icon."""
_LINK = re.compile(
    r"\]\(\s{0,8}(?:<(?P<angled>[^<>\n]{0,2000})>|(?P<plain>[^\s()<>]{0,1000}(?:\([^\s()]{0,200}\)[^\s()]{0,1000})?))"
    r"(?:\s{1,8}(?:\"(?P<title>[^\"\n]{0,2000})\"|'(?P<single>[^'\n]{0,2000})'))?\s{0,8}\)"
)
_LONGEST_LABEL = 600
_LONGEST_TITLE = 120
_LONGEST_ALT = 250
_FEWEST_ALT = 40
_SCRIPT = re.compile(r"\s{0,8}(?:javascript|vbscript|data)\s{0,4}:(?!image/)", re.IGNORECASE)
_DEFINITION = re.compile(
    r"^ {0,3}\[(?P<name>[^\[\]\n]{1,200})\]:[ \t]{0,20}(?:<(?P<angled>[^<>\n]{0,1000})>|(?P<plain>[^\s<>]{1,2000}))"
    r"(?:[ \t]{1,20}(?P<title>\"[^\"\n]{0,4000}\"|'[^'\n]{0,4000}'|\([^\n]{0,4000}\)))?[ \t]{0,20}\r?$",
    re.MULTILINE,
)
_FOOTNOTE = re.compile(r"^ {0,3}\[(?P<name>\^[^\[\]\s]{1,200})\]:", re.MULTILINE)
_USE = re.compile(r"\[([^\[\]]{1,200})\](?!:)|(?<=\])\[([^\[\]]{1,200})\]|(?<=[^\s>])[ \t]\[([^\[\]]{1,200})\]")
_ADDRESS = re.compile(
    r"(?:(?P<scheme>https?)://"
    r"|(?=www\.))?(?P<host>(?:[\w-]{1,63}\.){1,8}(?P<top>[^\W\d_]{2,24}))(?::\d{1,5})?(?:[/?#]\S{0,800})?",
    re.IGNORECASE,
)
_PLAIN_TOPS = frozenset({"com", "org", "edu", "gov"})
"""Top-level domains by which words are known as an address without `https://`; others are endings of files, too."""
_DISGUISED = re.compile(
    r"https?://(?P<shown>[^\s/?#@<>\"'()]{1,200}\.[^\s/?#@:<>\"'()]{2,60})(?::[^\s/?#@<>\"'()]{0,100})?@(?P<host>[^\s"
    r"/?#<>\"'()]{1,200})"
)
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
_INFO = re.compile(r"(?:```|~~~)([^`\n{=\"]{12,400})$", re.MULTILINE)
"""What stands behind the marks that begin a block of code."""
_OF_ANOTHER = "a comment of another kind, not shown, which tells its reader to do something"
_BEHIND_MARK = "words behind the mark of a block of code, which tell their reader to do something"
_FEWEST_BLANKS = 3
"""Blanks between the words of a comment of another program, of which less is no sentence."""
_HASHED = re.compile(r"(?:^|\s)#(?P<words>[^\n]{12,2000})", re.MULTILINE)
_TO_A_MODEL = re.compile(
    r"\b(?:assistant|claude|agent|ai|llm|model|you must|ignore|disregard|secretly)\b", re.IGNORECASE
)
_NOT_SHOWN = 4_000
_MOST = 500
"""Spots that are told of one kind."""
_MOST_LINKS = 5_000
_SHOWN = 80


def unrendered(text: str, *, is_page: bool = False) -> Iterator[Spot]:
    """What is in a text and not shown, by rule, not in order.

    Args:
        text: What the note says.
        is_page: Whether it is an HTML page, in which scripts and styles are usual.
    """
    yield from _other_comments(text)
    if text.startswith("---") and "#" in text:
        yield from _front_matter_comments(text)
    has_tags = "<" in text
    has_links = "](" in text or "]:" in text or "@" in text
    if "color{" in text or "phantom{" in text:
        yield from _colourless_formulas(text)
    if not has_tags and not has_links:
        return
    has_comment = has_tags and "<!--" in text
    may_hide = has_tags and _TAG.search(text) is not None
    may_link = has_links and ("](" in text or "]:" in text or _DISGUISED.search(text) is not None)
    if not (has_comment or may_hide or may_link):
        return
    parts = parts_of(text)
    if has_comment:
        yield from _comments(text, parts)
    if may_hide:
        yield from _elements(text, parts, is_page=is_page)
    if may_link:
        yield from _links(text, parts)
        if "]:" in text:
            yield from _definitions(text, parts)


# Comments


def _comments(text: str, parts: Parts) -> Iterator[Spot]:
    for start, end in parts.comments[:_MOST]:
        closed = text.startswith("-->", end - 3) and end - start >= 7
        spot = _comment(text[start + 4 : end - 3 if closed else end], start, end, "a comment", is_closed=closed)
        if spot is not None:
            yield spot


def _comment(words: str, start: int, end: int, what: str, *, is_closed: bool = True) -> Spot | None:
    """What a comment is; `None` for one that a program left for itself."""
    orders = gives_orders(words)
    if is_closed and not words.strip():
        return None
    if is_closed and not (orders and " " in words.strip()) and _DIRECTIVE.match(words):
        return None
    if not is_closed:
        told = f"{what} that is not shown, and never closed: all that follows is hidden"
    elif orders:
        told = f"{what} that is not shown, and tells its reader to do something: {_quoted(words)}"
    else:
        told = f"{what} that is not shown: {_quoted(words)}"
    is_remark = is_closed and not orders and len(words.strip()) <= _LONGEST_REMARK and _REMARK.match(words)
    return Spot("hidden", "html-remark" if is_remark else "html-comment", start, end, told)


def _other_comments(text: str) -> Iterator[Spot]:
    """What other programs than a browser take for comments, and words behind the language of a block of code.

    Each is usual where it belongs; so only those are told that tell their reader to do something.
    """
    parts: Parts | None = None
    for mark, pattern in _OTHER_COMMENTS:
        for found in islice(pattern.finditer(text), _MOST) if mark in text else ():
            if _is_order_of_words(found[1]):
                parts = parts or parts_of(text)
                if not parts.is_code(found.start()):
                    told = f"{_OF_ANOTHER}: {_quoted(found[1])}"
                    yield Spot("hidden", "html-comment", *found.span(), told)
    for found in islice(_INFO.finditer(text), _MOST) if "```" in text or "~~~" in text else ():
        if _is_order_of_words(found[1]) and _begins_line(text, found.start()):
            yield Spot("hidden", "html-comment", *found.span(), f"{_BEHIND_MARK}: {_quoted(found[1])}")


def _begins_line(text: str, at: int) -> bool:
    """Whether nothing but blanks and marks of quotations stands before a place in its line."""
    start = max(0, at - 64)
    return not text[max(start, text.rfind("\n", start, at) + 1) : at].strip(" \t>")


def _is_order_of_words(words: str) -> bool:
    return len(words.strip()) >= _FEWEST_WORDS and words.strip().count(" ") >= _FEWEST_BLANKS and gives_orders(words)


def _front_matter_comments(text: str) -> Iterator[Spot]:
    """Comments in the front matter that speak to an assistant: of the others nearly all say how to fill it in."""
    end = text.find("\n---", 3, _NOT_SHOWN)
    for found in islice(_HASHED.finditer(text, 3, max(end, 3)), _MOST):
        if gives_orders(found["words"]) and _TO_A_MODEL.search(found["words"]):
            words = f"a comment in the front matter, which tells its reader to do something: {_quoted(found['words'])}"
            yield Spot("hidden", "html-comment", *found.span("words"), words)


# Elements


def _elements(text: str, parts: Parts, *, is_page: bool) -> Iterator[Spot]:
    told = 0
    at = 0
    while told < _MOST and (found := _TAG.search(text, at)) is not None:
        at = found.end()
        how = _how_hidden(found["name"].lower(), found["attributes"], is_page=is_page)
        if not how and "=" in found["attributes"] and (spot := _attribute(found, parts)) is not None:
            yield spot
            told += 1
            continue
        if not how or parts.is_code(found.start()) or parts.is_comment(found.start()):
            continue
        inside, end = _inside(text, found)
        if found["name"].lower() in _NEVER_SHOWN and _is_mentioned(text, found, end):
            continue
        words = _MARKUP.sub(" ", inside).strip()
        if not words or (how == "aria-hidden" and sum(map(str.isalpha, words)) < _FEWEST_ARIA):
            continue
        orders = ", and tells its reader to do something" if gives_orders(words) else ""
        yield Spot(
            "hidden", "hidden-element", found.start(), end, f"text that is not shown ({how}){orders}: {_quoted(words)}"
        )
        told += 1
        at = max(at, end)


def _attribute(tag: re.Match[str], parts: Parts) -> Spot | None:
    """Words in an attribute of a tag that nobody sees, if they tell their reader to do something."""
    for found in _ATTRIBUTE.finditer(tag["attributes"]):
        words = (found["words"] or found["single"] or "").strip()
        is_seen = found["name"].lower() == "value" and "hidden" not in tag["attributes"].lower()
        if len(words) < _FEWEST_WORDS or " " not in words or is_seen or not gives_orders(words):
            continue
        if len(words) < _LONGEST_TITLE and not _TO_A_MODEL.search(words):
            continue
        if parts.is_code(tag.start()) or parts.is_comment(tag.start()):
            return None
        told = f"words in an attribute, `{found['name'].lower()}`, which few see: {_quoted(words)}"
        return Spot("hidden", "hidden-link-text", *tag.span(), told)
    return None


def _colourless_formulas(text: str) -> Iterator[Spot]:
    """Words of a formula in the colour of the page, or of which nothing but their room is shown."""
    for number, found in enumerate(_FORMULA.finditer(text)):
        if number >= _MOST:
            return
        how = "white on white" if found["words"] else "a phantom"
        words = f"text that is not shown ({how}, in a formula): {_quoted(found['words'] or found['room'])}"
        yield Spot("hidden", "hidden-element", *found.span(), words)


def _inside(text: str, opened: re.Match[str]) -> tuple[str, int]:
    """What an element holds, as far as it is looked at, and where it ends."""
    if opened["name"].lower() in _VOID:
        return "", opened.end()
    limit = opened.end() + _INSIDE
    lower = text[opened.end() : limit].translate(_LOWER)  # `lower` may make it longer
    closing = lower.find(f"</{opened['name'].lower()}")
    if closing < 0:
        return text[opened.end() : limit], min(limit, len(text))
    end = lower.find(">", closing)
    return text[opened.end() : opened.end() + closing], opened.end() + (end + 1 if end >= 0 else len(lower))


def _is_mentioned(text: str, opened: re.Match[str], end: int) -> bool:
    """Whether a tag is only spoken of, as in `put it into <head>`: nothing closes it, and words stand beside it."""
    if opened["attributes"].rstrip().endswith("/"):
        return True
    if f"</{opened['name']}".lower() in text[opened.end() : end].lower():
        return False
    first = text.rfind("\n", max(0, opened.start() - 200), opened.start()) + 1
    last = text.find("\n", opened.end(), opened.end() + 200)
    beside = text[first : opened.start()] + text[opened.end() : last if last >= 0 else opened.end() + 200]
    return any(map(str.isalnum, _MARKUP.sub(" ", beside)))


def _how_hidden(name: str, attributes: str, *, is_page: bool) -> str:
    """How a tag hides what is in it; empty if it does not."""
    if name in _NEVER_SHOWN:
        return "" if is_page else f"<{name}>"
    if name == "dialog" and not _OPEN.search(attributes):
        return "<dialog>"
    if not attributes or name in _VOID:
        return ""
    if found := _STYLE.search(attributes):
        style = _plain_style(found[1] or found[2] or found[3] or "")
        hiding = _HIDING.search(style)
        if hiding and (hiding.lastgroup != "zero" or "overflow" in style.lower()):
            return " ".join(hiding.group().strip("; \t\n").split())
        if how := _colourless(style):
            return how
    if _HIDDEN_ATTRIBUTE.search(attributes):
        return "hidden"
    if name == "svg" and len(_SIZE.findall(attributes)) > 1:
        return "of no size"
    if _ARIA.search(attributes):
        return "aria-hidden"
    if _CLASS.search(attributes):
        return "a class for screen readers"
    if name == "font" and _FONT_COLOUR.search(attributes):
        return "white on white"
    return ""


def _plain_style(style: str) -> str:
    """A style as a browser reads it: without comments, and with the letters that references stand for."""
    style = unescape(style) if "&" in style else style
    return _STYLE_COMMENT.sub("", style) if "/*" in style else style


def _colourless(style: str) -> str:
    """How a style makes letters the colour of what they stand on; empty if it does not."""
    colour = _COLOUR.search(style)
    if colour is None:
        return ""
    ink = _nearly_white("".join(colour[1].lower().split()))
    if ink == "transparent" or re.fullmatch(r"rgba\(.*,0(?:\.0+)?\)|#[0-9a-f]{3}0|#[0-9a-f]{6}00", ink):
        return "transparent"
    background = _BACKGROUND.search(style)
    paper = _nearly_white("".join(background[1].lower().split())) if background else "white"
    if ink == paper or (ink in _WHITE and paper in _WHITE):
        return "white on white" if ink in _WHITE else f"{one_line(ink)} on {one_line(paper)}"
    return ""


def _nearly_white(colour: str) -> str:
    """A colour, or `white` if nobody can tell it from white."""
    found = _CHANNELS.fullmatch(colour)
    if found is None:
        return colour
    channels = (
        [int(value) for value in found.groups()[:3]] if found[1] else [int(value, 16) for value in found.groups()[3:]]
    )
    return "white" if min(channels) >= _FAINTEST else colour


# Links


def _links(text: str, parts: Parts) -> Iterator[Spot]:
    told = 0
    for number, found in enumerate(_LINK.finditer(text)):
        if number >= _MOST_LINKS or told >= _MOST:
            break
        opening = _opening(text, found.start())
        if opening < 0 or parts.is_code(found.start()) or parts.is_comment(found.start()):
            continue
        label = text[opening + 1 : found.start()]
        target = found["angled"] if found["angled"] is not None else found["plain"] or ""
        spot = _link(label, target, found["title"] or found["single"] or "", opening, found.end(), text)
        if spot is not None:
            yield spot
            told += 1
    if "@" in text:
        for found in _DISGUISED.finditer(text):
            if told >= _MOST:
                break
            if parts.is_code(found.start()):
                continue
            shown, host = one_line(found["shown"]), one_line(found["host"])
            yield Spot(
                "hidden", "misleading-link", *found.span(), f"an address that begins as {shown} and leads to {host}"
            )
            told += 1


def _opening(text: str, closing: int) -> int:
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


def _link(label: str, target: str, title: str, start: int, end: int, text: str) -> Spot | None:
    if title and (len(title) > _LONGEST_TITLE or gives_orders(title)):
        return Spot(
            "hidden", "hidden-link-text", start, end, f"words in the title of a link, which few see: {_quoted(title)}"
        )
    if start and text[start - 1] == "!":
        if len(label) > _LONGEST_ALT or (len(label) > _FEWEST_ALT and gives_orders(label)):
            words = f"words in place of an image, which are seen only where it is missing: {_quoted(label)}"
            return Spot("hidden", "hidden-link-text", start - 1, end, words)
        return None
    if not label.strip() and target and not target.startswith(("#", "^")):
        return Spot("hidden", "misleading-link", start, end, f"a link without words, to {_quoted(target)}")
    if _SCRIPT.match(target):
        return Spot(
            "hidden", "misleading-link", start, end, f"a link that runs a script or holds a page, {_quoted(target)}"
        )
    shown = _host_shown(label.strip().strip("*_` "))
    host = _host_of(target)
    if host and (false := [letter for word in re.split(r"[-.]", host) for letter in lookalikes(word)]):
        words = f"a link to {one_line(host)}, in which “{one_line(false[0])}” is no Latin letter"
        return Spot("hidden", "misleading-link", start, end, words)
    if shown and host and not _is_same_site(shown, host, target):
        words = f"a link that reads {one_line(shown)} and leads to {one_line(host)}"
        return Spot("hidden", "misleading-link", start, end, words)
    return None


def _host_shown(label: str) -> str:
    """The host that the words of a link name; empty if they name none."""
    found = _ADDRESS.fullmatch(label)
    if found is None or not (found["scheme"] or label[:4].lower() == "www." or found["top"].lower() in _PLAIN_TOPS):
        return ""
    return found["host"].lower()


def _host_of(target: str) -> str:
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


def _definitions(text: str, parts: Parts) -> Iterator[Spot]:
    uses = {_plain(use[1] or use[2] or use[3]) for use in _USE.finditer(text)}
    told = 0
    for note in _FOOTNOTE.finditer(text):
        if told < _MOST and _plain(note["name"]) not in uses and not parts.is_code(note.start()):
            end = text.find("\n", note.end(), note.end() + _INSIDE)
            end = min(len(text), note.end() + _INSIDE) if end < 0 else end
            words = f"a footnote that nothing refers to: {_quoted(text[note.end() : end])}"
            yield Spot("hidden", "unused-definition", note.start(), end, words)
            told += 1
    for found in _DEFINITION.finditer(text):
        if told >= _MOST:
            return
        if found["name"].startswith("^") or parts.is_code(found.start()) or parts.is_comment(found.start()):
            continue
        spot = _definition(found, is_used=_plain(found["name"]) in uses)
        if spot is not None:
            yield spot
            told += 1


def _definition(found: re.Match[str], *, is_used: bool) -> Spot | None:
    name, title = found["name"], (found["title"] or "")[1:-1]
    target = found["angled"] if found["angled"] is not None else found["plain"]
    if is_used:
        if not title or (len(title) <= _LONGEST_TITLE and not gives_orders(title)):
            return None
        words = f"words in the title of a link, which few see: {_quoted(title)}"
        return Spot("hidden", "hidden-link-text", *found.span(), words)
    if title and (target in ("#", "", "<>") or not name.strip("/ ") or " " in title.strip()):
        return _comment(title, *found.span(), "a comment in the form of a link's definition")
    shown = f"a definition of a link that nothing refers to: [{one_line(name[:_SHOWN])}]"
    return Spot("hidden", "unused-definition", *found.span(), shown)


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def _quoted(words: str) -> str:
    words = " ".join(words[:_NOT_SHOWN].split())
    return f"“{one_line(words[:_SHOWN])}{'…' if len(words) > _SHOWN else ''}”"
