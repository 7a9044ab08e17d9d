"""Secrets in a note, known by shapes that their issuers have published.

And by nothing else: a rule that cries at every long word is a rule that nobody reads.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memtui.notes.spots import Spot

_PLACEHOLDER = re.compile(r"example|xxxx|\*\*\*|\.\.\.|your[_-]?|placeholder|redacted|<|\$\{", re.IGNORECASE)
_FEWEST_CHARACTERS = 6
"""A key has at least so many different characters; `sk-ant-aaaaaaaa` is a picture of one."""


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


def secrets(text: str) -> Iterator[Spot]:
    """The secrets in a text, by rule, not in order."""
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
