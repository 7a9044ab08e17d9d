"""Reads one note: what it calls itself, what it states, and what it links to, each with its place.

Observations and relations are those of Basic Memory's dialect (0.24), in any folder: an observation is a heading, a
paragraph or an item outside quotations that begins with `[category]`, or that holds a `#tag`; a relation is an item
`type [[Target]] (context)`. Where this reads them otherwise, it is on purpose: a `#` alone is no tag, an embed
`![[…]]` is no relation, and links are what `memtui.notes.links` takes for links.
"""

import re
from collections.abc import Iterator, Mapping

from memtui.knowledge.model import Heading, NoteLink, Observation, ParsedNote
from memtui.knowledge.time_qualifier import take_time_qualifier
from memtui.notes.front_matter import find_front_matter_end, parse_front_matter
from memtui.notes.inline_blocks import InlineBlock, find_inline_blocks
from memtui.notes.links import (
    Link,
    collect_names,
    collect_tags,
    find_headings,
    find_links_in,
)
from memtui.notes.memory_index import is_entry, is_index
from memtui.notes.spans import blank_code

MOST_CHARACTERS = 2_000_000
"""Of a note that are read: what stands behind them is in no graph."""
_MOST_OBSERVATIONS = 10_000
_MAY_CATEGORISE = re.compile(r"\n[ \t>]{0,40}(?:(?:[-+*]|[0-9]{1,9}[.)]|#{1,6})[ \t]{1,8}){0,8}\[[^\[\]()\n]")
_MAY_TAG = re.compile(r"#(?<![^\s#]#)[^\s#]")
_MAY_HIDE = re.compile(r"\n(?: {4}|\t| {0,3}<)")
"""What indented code and HTML begin with: there a link is text."""
_HASHES = re.compile(r"\A {0,3}#{1,6}[ \t]+|(?<![ \t])[ \t]++#++[ \t\r]*+\Z|\r\Z")
_ITEM = re.compile(r"(?:\A|\n)[ \t>]*+(?:[-+*]|[0-9]{1,9}[.)])[ \t]")
_MARKER = re.compile(r"(?:[-+*>]+|#{1,6}|[0-9]{1,9}[.)])\Z")
_CATEGORY = re.compile(r"\[([^\[\]()]+)\]\s+(.+)")
_EMPTY_CATEGORY = re.compile(r"\[\]\s+(.+)")
_CLOCK = re.compile(r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?(?:\s+-\s+\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?)?\Z")
_TASKS = ("[ ]", "[x]", "[-]")
_LINKS_TO = re.compile(r"(?<!\s)\s+#bm:links_to\s*\Z")


def parse_note(text: str, path: str) -> ParsedNote:
    """What a note says, in time that grows with its length.

    Args:
        path: Relative to the folder: links are from where it stands.
    """
    text = text[:MOST_CHARACTERS]
    start = find_front_matter_end(text)
    properties = _read_properties(text) if start else {}
    body = blank_code(text)
    names = collect_names(properties, text, start)
    may_link = "[[" in text or "](" in text or "@" in text or "]:" in text
    found = find_links_in(text, path, body, start) if may_link else ()
    links = [link for link in found if link.kind != "url" and (link.path != "" or link.fragment)]
    blocks: list[InlineBlock] = []
    is_hiding = bool(links) and _search_lines(_MAY_HIDE, body, start)
    if is_hiding or _may_relate(text, start, links) or _may_observe(text, start):
        blocks = find_inline_blocks(text, start)
    if is_hiding:
        shown = {line for block in blocks for line, _ in block.places}
        links = [link for link in links if link.line in shown or link.form in ("definition", "import")]
    return ParsedNote(
        path,
        names[0] if names else path.rpartition("/")[2].rpartition(".")[0] or path.rpartition("/")[2],
        names,
        _get_word(properties, "type").casefold(),
        tuple(sorted(collect_tags(properties, body[start:]))),
        _get_word(properties, "permalink"),
        _get_word(properties, "status").casefold(),
        tuple(_iter_headings(blocks, text, body, start)),
        tuple(_iter_observations(blocks)),
        tuple(_iter_note_links(links, blocks, text, body, path)),
    )


def _read_properties(text: str) -> Mapping[str, object]:
    properties = parse_front_matter(text).properties
    metadata = properties.get("metadata")
    return {**metadata, **properties} if isinstance(metadata, dict) else properties


def _get_word(properties: Mapping[str, object], name: str) -> str:
    value = properties.get(name)
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def _search_lines(pattern: re.Pattern[str], text: str, start: int) -> bool:
    """Whether a pattern that begins with a line end fits from some line on, or from the first one."""
    return pattern.search(text, max(start - 1, 0)) is not None or (
        start == 0 and pattern.match("\n" + text[:1_000]) is not None
    )


def _iter_headings(blocks: list[InlineBlock], text: str, body: str, start: int) -> Iterator[Heading]:
    """The headings that are in no list and no quotation."""
    if not blocks:
        found = find_headings(body, start)
        lines = text.split("\n") if found and body[start:] != text[start:] else None
        for line, level, words in found:
            there = lines[line - 1] if lines is not None else ""
            written = _HASHES.sub("", there) if "`" in there else words  # code is a part of a heading
            yield Heading(line, level, " ".join(written.split()))
    for block in blocks:
        if block.level and not (block.is_item or block.is_quoted):
            yield Heading(block.places[0][0], block.level, " ".join(block.text.split()))


# Observations and relations


def _may_relate(text: str, start: int, links: list[Link]) -> bool:
    """Whether a link may be a relation: it is in an item, behind one word, or several in quotation marks."""
    if not any(link.kind == "wiki" for link in links):
        return False
    at = text.find("[[", start)
    while at >= 0:
        words = text[text.rfind("\n", 0, at) + 1 : at].split()
        first, count = 0, len(words)
        while first < count and _MARKER.match(words[first]):
            first += 1
        if count - first <= 1 or words[-1][-1] in "'\"":
            return _ITEM.search(text, max(start - 1, 0)) is not None
        line_end = text.find("\n", at)
        at = text.find("[[", line_end) if line_end >= 0 else -1
    return False


def _may_observe(text: str, start: int) -> bool:
    """Whether a note may state something: most do not, and are not looked at block by block."""
    if "#" in text and _MAY_TAG.search(text, start):
        return True
    return "[" in text and _search_lines(_MAY_CATEGORISE, text, start)


def _iter_observations(blocks: list[InlineBlock]) -> Iterator[Observation]:
    count = 0
    for block in blocks:
        if not block.is_quoted and (found := _parse_observation(block)) is not None:
            yield found
            count += 1
            if count >= _MOST_OBSERVATIONS:
                return


def _parse_observation(block: InlineBlock) -> Observation | None:
    if not block.text.startswith("[") and "#" not in block.text:
        return None
    content = _drop_directive(block.text.strip())
    if content.startswith(_TASKS) or _is_lone_link(content):
        return None
    category, rest = _split_category(content)
    if not category and not any(word.startswith("#") and word.strip("#") for word in content.split()):
        return None
    if not category and (empty := _EMPTY_CATEGORY.match(rest)) is not None:
        rest = empty[1]
    time, rest = take_time_qualifier(rest.strip())
    context = ""
    if rest.endswith(")") and (at := rest.rfind("(")) >= 0:
        context, rest = rest[at + 1 : -1].strip(), rest[:at].strip()
    if not rest:
        return None
    tags = tuple(tag for word in rest.split() if word.startswith("#") for tag in word.split("#") if tag)
    line, column = block.places[0]
    first = block.text.partition("\n")[0].rstrip()
    return Observation(category, rest, tags, context, time, line, (column, column + len(first)))


def _is_lone_link(content: str) -> bool:
    """Whether a text begins and ends as a link does."""
    if "\n" in content or not content.startswith("["):
        return False
    return (content.endswith(")") and "](" in content) or (content.startswith("[[") and content.endswith("]]"))


def _drop_directive(content: str) -> str:
    return _LINKS_TO.sub("", content) if "#bm:links_to" in content else content


def _split_category(content: str) -> tuple[str, str]:
    """The category of an observation, and the text behind it; empty for none, or for what only looks like one."""
    found = _CATEGORY.match(content)
    if found is None:
        return "", content
    category = found[1].strip()
    is_task = len(category) == 1 and (category in "xX" or not category.isalnum())
    if not category or is_task or _CLOCK.match(category):
        return "", content
    return category, found[2].strip()


# Links, and what relations say of them


def _iter_note_links(
    links: list[Link], blocks: list[InlineBlock], text: str, body: str, path: str
) -> Iterator[NoteLink]:
    relations = _find_relations(blocks, body) if any(link.kind == "wiki" for link in links) else {}
    lines = text.split("\n") if is_index(path) else None
    for link in links:
        if link.kind == "import":
            yield NoteLink("import", link)
        elif (relation := relations.get((link.line, link.span[0]))) is not None and link.kind == "wiki":
            yield NoteLink("relation", link, *relation)
        elif lines is not None and is_entry(link, lines):
            yield NoteLink("entry", link)
        else:
            yield NoteLink(link.kind, link)


def _find_relations(blocks: list[InlineBlock], body: str) -> dict[tuple[int, int], tuple[str, str]]:
    """Type and context of the relations, by the line and the column of their links."""
    found: dict[tuple[int, int], tuple[str, str]] = {}
    blanked: list[str] | None = None
    for block in blocks:
        if not block.is_item or "[[" not in block.text:
            continue
        masked = block.text
        if "`" in masked:
            blanked = blanked if blanked is not None else body.split("\n")
            masked = _mask_code(block, blanked)
        if (relation := _parse_relation(masked, block.text)) is not None:
            at, kind, context = relation
            found[block.locate(at)] = kind, context
    return found


def _mask_code(block: InlineBlock, blanked: list[str]) -> str:
    """The text of a block in which brackets within code are blanks."""
    lines = []
    for line, (number, column) in zip(block.text.split("\n"), block.places, strict=False):
        there = blanked[number - 1][column : column + len(line)]
        pairs = zip(line, there.ljust(len(line)), strict=True)
        lines.append("".join(" " if sign in "[]" and blank == " " else sign for sign, blank in pairs))
    return "\n".join(lines)


def _parse_relation(masked: str, text: str) -> tuple[int, str, str] | None:
    """Where the link of a relation begins, its type and its context; `None` for a sentence with a link in it."""
    if _drop_directive(masked) != masked:
        return None
    at = masked.find("[[")
    end = masked.find("]]", at + 2)
    kind = _parse_relation_type(masked[:at].strip()) if at >= 0 and end >= 0 else None
    if not kind or kind == "!" or not text[at + 2 : end].strip():
        return None
    behind = masked[end + 2 :].strip()
    if not behind:
        return at, kind, ""
    if not _is_parenthesized(behind):
        return None
    return at, kind, text[end + 2 :].strip()[1:-1].strip()


def _parse_relation_type(words: str) -> str | None:
    """One word, or several in quotation marks; `None` for anything else."""
    if words[:1] in ("'", '"') and words.endswith(words[0]):
        return words[1:-1].strip() or None
    return words if words and not any(sign.isspace() for sign in words) else None


def _is_parenthesized(text: str) -> bool:
    """Whether a text is one group in parentheses, and nothing else."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return at == len(text) - 1 and at > 0
    return False
