"""The lines of a note with what is said around them: whether a line is about what there is, was, or is to be.

A name under *Removed*, in a list that is introduced by "these are gone:", or in a sentence whose "formerly" stands on
the line before, is no claim that something is there.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from memtui.audit.prose import body_of

LONGEST = 2_000
"""Characters of a line that is looked at: longer ones are data."""
URL = re.compile(r"(?:https?|ssh|git|file|ftp|wss?)://[^\s<>\"'`\[\]{}|\\^]{1,2000}", re.IGNORECASE)
LINK_TARGET = re.compile(r"\]\(([^()\n]{0,2000})\)|\[\[[^\[\]\n]{0,400}\]\]")
SPAN = re.compile(r"`([^`\n]{1,200})`")
PLAIN_PATH = re.compile(
    r"(?:(?<=(?<!\*)\*\*)|(?<![\w/.:@~$%*{}<>\\=+#-]))(?:\./)?((?:[\w.@+-]+/)+[\w.@+-]*[\w])(?!\*\*[\w/]|\*(?!\*)|[\w/{<$(@\\%~])"
)
_PAST = re.compile(
    r"\b(?:was|were|formerly|former|previous(?:ly)?|old|once|used to|no longer|not any ?more|removed?|removes|deleted?|"
    r"deletes|dropped|renam\w+|moved|moving|gone|replac\w+|migrat\w+|legacy|deprecated|historical(?:ly)?|obsolete|"
    r"superseded|retired|archived|before|upstream|fork(?:ed)?|vendor(?:ed)?|"
    r"(?:other|another|that|sibling|separate|different|external|downstream|consulting) (?:repo\w*|project|codebase)|"
    r"stale|outdated|(?:does not|doesn['’]t|do not|don['’]t) exist|"
    r"früher\w*|ehemal\w+|alte[nrs]?|gelöscht\w*|entfernt\w*|umbenannt\w*|verschoben\w*|ersetzt\w*|"
    r"antes|antigu\w+|eliminad\w+|borrad\w+|renombrad\w+|movid\w+|anterior\w*|obsolet\w+|"
    r"ancien\w*|supprim\w+|renomm\w+|déplac\w+|autrefois|remplac\w+|"
    r"antig[oa]s?|removid\w+|apagad\w+|renomead\w+|"
    r"удал\w+|стар\w+|раньше|переименован\w+|перен[её]с\w+)\b"
    r"|[旧曾]|已?(?:刪除|删除|移除|改名|废弃|廢棄)|以前|原来|削除|廃止|이전|삭제",
    re.IGNORECASE,
)
"""What tells that a line is not about the repository as it is."""
_PLAN = re.compile(
    r"\b(?:instead|never|not|will|would|should|could|plan(?:s|ned)?|todo|add|adds|adding|creat\w*|new|propos\w+|idea|"
    r"(?:re)?generat\w+|temporar\w+|e\.g|example|such as|like|missing|another|(?:git-?)?ignored?|untracked|symlink|"
    r"outputs?|artifacts?|writes?|extract|register|next|future|if|copy|rename|personal|optional(?:ly)?)\b|n['’]t\b",
    re.IGNORECASE,
)
"""What tells that a line need not be about what there is; what there was once is a claim all the same."""
COMMIT = re.compile(
    r"\b(?:commits?|committed|sha|revision|rev|cherry[- ]pick\w*|revert\w*|bisect\w*|changeset|HEAD)\b", re.IGNORECASE
)
"""What a commit is called."""
_ARROW = re.compile(r"(?::[0-9-]+)?[`*_)\]]{0,4}[ ]?(?:->|→|=>|➜)")
"""What stands behind a name that another one took the place of."""
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_ITEM = re.compile(r"[ \t>]*(?:[-*+]|[0-9]{1,3}[.)])[ \t]")
_RULE = re.compile(r"[ \t]*\|?[ \t:|-]*-[ \t:|-]*\Z")
_ENDS = re.compile(r"[.!?;。！？](?:[\s*_)\"']|$)")


class Mood(NamedTuple):
    """Of when, and of what, something is said.

    Attributes:
        is_past: Whether it tells of what was, or of something else than the repository.
        is_plan: Whether it may tell of what is to be.
    """

    is_past: bool = False
    is_plan: bool = False

    def also(self, other: "Mood") -> "Mood":
        """This one and another one."""
        return Mood(self.is_past or other.is_past, self.is_plan or other.is_plan)


_NONE = Mood()


class Said(NamedTuple):
    """A line of a note.

    Attributes:
        start: Its first character in the note.
        text: What stands there.
        around: The mood of what it stands below: headings, the items above it, a table's first row.
        clauses: Its sentences: where each ends, and its mood, with what stands of it on the lines around.
    """

    start: int
    text: str
    around: Mood
    clauses: tuple[tuple[int, Mood], ...]

    def mood_of(self, start: int, end: int) -> Mood:
        """How a part of the line is meant, from its first character to the one behind its last."""
        mood = next((mood for border, mood in self.clauses if start < border), _NONE).also(self.around)
        is_replaced = _ARROW.match(self.text, end) is not None or self.text.count("~~", 0, start) % 2 == 1
        return mood.also(Mood(is_past=is_replaced))


def said_in(text: str) -> Iterator[Said]:
    """The lines below the front matter that may make a claim, and no fenced blocks: they are examples, or output."""
    lines = list(_lines(text))
    headings: list[tuple[int, Mood]] = []
    items: list[tuple[int, Mood]] = []
    lead = table = _NONE
    for number, (start, line) in enumerate(lines):
        if not line.strip():
            continue
        if heading := _HEADING.match(line):
            level = len(heading[1])
            headings = [each for each in headings if each[0] < level]
            headings.append((level, _mood(_bare(heading[2]))))
            items, lead, table = [], _NONE, _NONE
        indent = len(line) - len(line.lstrip(" \t"))
        is_item, is_row = _ITEM.match(line) is not None, line.lstrip().startswith("|")
        if is_row and number + 1 < len(lines) and _RULE.match(lines[number + 1][1]):
            table = _mood(_bare(line))
        elif not is_row:
            table = _NONE
        if is_item:
            items = [each for each in items if each[0] < indent]
        elif not indent:
            items = []
        if "/" in line or "`" in line or COMMIT.search(line) is not None:
            around = table.also(lead) if is_item or is_row else table
            for _, other in (*(headings[:-1] if heading else headings), *items):
                around = around.also(other)
            yield Said(start, line, around, tuple(_clauses(lines, number)))
        introduces = _mood(_bare(line)) if line.rstrip().endswith((":", "：", ":**")) else _NONE
        if is_item:
            items.append((indent, introduces))
        elif not indent and not is_row and not heading:
            lead = introduces


def _clauses(lines: list[tuple[int, str]], number: int) -> Iterator[tuple[int, Mood]]:
    """The sentences of a line: where each ends, and its mood."""
    bare = _bare(lines[number][1])
    if bare.lstrip().startswith("|"):
        yield len(bare), _mood(bare)
        return
    before = after = ""
    if number and not _ITEM.match(bare) and _continues(lines, number - 1, number):
        before = _ENDS.split(_bare(lines[number - 1][1]))[-1] + " "
    if number + 1 < len(lines) and _continues(lines, number, number + 1) and not _ITEM.match(lines[number + 1][1]):
        after = " " + _ENDS.split(_bare(lines[number + 1][1]))[0]
    begin = 0
    for found in _ENDS.finditer(bare):
        yield found.end(), _mood(before + bare[begin : found.end()])
        before, begin = "", found.end()
    yield len(bare), _mood(before + bare[begin:] + (after if bare[begin:].strip() else ""))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    at = len(text) - len(body_of(text))
    fence = ""
    for raw in text[at:].split("\n"):
        stripped = raw.lstrip(" \t>")
        if fence:
            if stripped.startswith(fence):
                fence = ""
        elif stripped.startswith(("```", "~~~")):
            fence = stripped[:3]
        elif len(raw) <= LONGEST:
            yield at, raw
        at += len(raw) + 1


def _continues(lines: list[tuple[int, str]], first: int, second: int) -> bool:
    """Whether two lines stand one below the other in running text."""
    (start, one), (following, other) = lines[first], lines[second]
    if start + len(one) + 1 != following or not one.strip() or not other.strip():
        return False
    return not any(line.lstrip().startswith(("|", "#")) for line in (one, other))


def _mood(bare: str) -> Mood:
    return Mood(_PAST.search(bare) is not None, _PLAN.search(bare) is not None)


def _bare(line: str) -> str:
    """What a line says around its paths, code and addresses: a directory called `old` tells of no past."""
    if "://" in line:
        line = URL.sub(blank, line)
    if "`" in line:
        line = SPAN.sub(blank, line)
    return PLAIN_PATH.sub(blank, line) if "/" in line else line


def blank(found: re.Match[str]) -> str:
    """As many blanks as were found."""
    return " " * len(found.group())
