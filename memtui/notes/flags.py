"""What a reviewer should look at in a note: secrets, hidden text, and what cannot be read.

Secrets are known by shapes that their issuers have published, and by nothing else: a rule that cries at every long
word is a rule that nobody reads. Nothing is changed here; a spot says where to look.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memtui.core.visible import HIDDEN, escape
from memtui.notes.front_matter import front_matter_of
from memtui.notes.kinds import format_of
from memtui.notes.plain import without_code

FLAGS: Mapping[str, str] = {
    "secret": "a key, a token or a password that its issuer would know",
    "hidden": "characters or comments that are not shown when the note is read",
    "broken": "no text, or JSON or front matter that cannot be read",
}
"""The flags that there are, and what each means."""

_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
_PLACEHOLDER = re.compile(r"example|xxxx|\*\*\*|\.\.\.|your[_-]?|placeholder|redacted|<|\$\{", re.IGNORECASE)
_RENDERED = frozenset({"md", "txt"})
"""Formats in which whoever reads a note elsewhere does not see its comments."""
_FEWEST_CHARACTERS = 6
"""A key has at least so many different characters; `sk-ant-aaaaaaaa` is a picture of one."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a note that is to be looked at.

    Attributes:
        flag: One of `FLAGS`.
        rule: What exactly it is, such as `anthropic-key`.
        start: The first character of it in the text.
        end: The one behind the last.
        words: What it is, for a person; never the secret itself.
    """

    flag: str
    rule: str
    start: int
    end: int
    words: str


@dataclass(frozen=True, slots=True)
class _Shape:
    """How a secret looks: letters that are always in it, so that most notes are passed at once, and the whole."""

    rule: str
    words: str
    hint: str
    pattern: re.Pattern[str]


def _shape(rule: str, words: str, hint: str, pattern: str) -> _Shape:
    return _Shape(rule, words, hint, re.compile(r"(?<![A-Za-z0-9_])" + pattern))


_SHAPES = (
    _shape("anthropic-key", "a key of Anthropic", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    _shape("openai-key", "a key of OpenAI", "sk-", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}"),
    _shape("openai-key", "a key of OpenAI", "T3BlbkFJ", r"sk-[A-Za-z0-9_-]{16,}T3BlbkFJ[A-Za-z0-9_-]{16,}"),
    _shape("github-token", "a token of GitHub", "gh", r"gh[pousr]_[A-Za-z0-9]{36,}"),
    _shape("github-token", "a token of GitHub", "github_pat_", r"github_pat_[A-Za-z0-9_]{36,}"),
    _shape("gitlab-token", "a token of GitLab", "gl", r"gl(?:pat|dt|rt|ptt|ft|soat|cbt)-[A-Za-z0-9_-]{20,}"),
    _shape("aws-key", "a key of AWS", "A", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])"),
    _shape("slack-token", "a token of Slack", "xox", r"xox[abceoprs]-(?:[0-9]-)?[A-Za-z0-9-]{10,}"),
    _shape("slack-token", "a token of Slack", "xapp-", r"xapp-[0-9]-[A-Za-z0-9-]{20,}"),
    _shape("slack-hook", "a webhook of Slack", "hooks.slack.com", r"hooks\.slack\.com/services/T\w+/B\w+/\w{16,}"),
    _shape("google-key", "a key of Google", "AIza", r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _shape("google-token", "a token of Google", "ya29.", r"ya29\.[A-Za-z0-9_-]{30,}"),
    _shape("google-secret", "a client secret of Google", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    _shape("stripe-key", "a key of Stripe", "k_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _shape("stripe-hook", "a webhook secret of Stripe", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}"),
    _shape("npm-token", "a token of npm", "npm_", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _shape("pypi-token", "a token of PyPI", "pypi-", r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    _shape("huggingface-token", "a token of Hugging Face", "hf_", r"hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])"),
    _shape("sendgrid-key", "a key of SendGrid", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    _shape("digitalocean-token", "a token of DigitalOcean", "_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _shape("telegram-token", "a token of a Telegram bot", ":AA", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}(?![\w-])"),
    _shape("age-key", "a secret key of age", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _shape("signed-token", "a signed web token", "eyJ", r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{16,}"),
    _shape(
        "password-in-address", "a password in an address", "://",
        r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@<>\"'`]{1,64}:(?P<value>[^\s:/@<>\"'`]{3,128})@[^\s/@<>\"'`]+",
    ),
    _Shape(
        "private-key", "a private key", "PRIVATE KEY",
        re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?=\s|\\n)"),
    ),
)  # fmt: skip


def flags_of(text: str | bytes, path: str) -> frozenset[str]:
    """The flags of a note.

    Args:
        text: What it says; bytes that are not UTF-8 are `broken`.
        path: Where it is, relative to the folder; by its extension it is known as JSON.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError:
            return frozenset({"broken"})
    found = set()
    if next(_secrets(text), None):
        found.add("secret")
    if next(_hidden(text, path), None):
        found.add("hidden")
    if next(_broken(text, path), None):
        found.add("broken")
    return frozenset(found)


def spots_of(text: str, path: str) -> list[Spot]:
    """All places of a note that are to be looked at, in order."""
    spots = (*_secrets(text), *_hidden(text, path), *_broken(text, path))
    return sorted(spots, key=lambda spot: (spot.start, spot.end))


def _secrets(text: str) -> Iterator[Spot]:
    for shape in _SHAPES:
        if shape.hint not in text:
            continue
        for found in shape.pattern.finditer(text):
            value = found.groupdict().get("value") or found.group()
            if shape.rule == "private-key" or _is_real(value):
                yield Spot("secret", shape.rule, found.start(), found.end(), shape.words)


def _is_real(value: str) -> bool:
    """Whether it is no picture of a secret, as documentation has them."""
    fewest = min(_FEWEST_CHARACTERS, max(2, len(value) // 2))
    return len(set(value)) > fewest - 1 and not _PLACEHOLDER.search(value)


def _hidden(text: str, path: str) -> Iterator[Spot]:
    for found in HIDDEN.finditer(text):
        if not _is_usual(text, found):
            yield Spot("hidden", "character", *found.span(), f"a hidden character, {escape(found.group())}")
    if "<!--" in text and format_of(path) in _RENDERED:
        for found in _COMMENT.finditer(without_code(text)):
            yield Spot("hidden", "comment", found.start(), found.end(), "a comment that is not shown")


def _is_usual(text: str, found: re.Match[str]) -> bool:
    """Whether it belongs to how the file is kept: a line end of Windows, or the mark at the beginning."""
    if found.group() == "\r":
        return text[found.end() : found.end() + 1] == "\n"
    return found.group() == "\ufeff" and found.start() == 0


def _broken(text: str, path: str) -> Iterator[Spot]:
    match format_of(path):
        case "json":
            yield from _broken_json(text, 0)
        case "jsonl":
            start = 0
            for line in text.split("\n"):
                if line.strip():
                    yield from _broken_json(line, start)
                start += len(line) + 1
        case "md" | "txt":
            matter = front_matter_of(text)
            if matter.problem:
                yield Spot("broken", "front-matter", 0, matter.end, matter.problem)


def _broken_json(text: str, start: int) -> Iterator[Spot]:
    if not text.strip():
        yield Spot("broken", "json", start, start, "no JSON: it is empty")
        return
    try:
        json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        yield Spot("broken", "json", start + error.pos, start + error.pos, f"no JSON: {error.msg}, line {error.lineno}")
    except (RecursionError, ValueError):
        yield Spot("broken", "json", start, start, "JSON that is nested too deeply, or has too long a number")
