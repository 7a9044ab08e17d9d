"""What is masked on this screen until somebody asks to see it: secrets, wherever a text of the memory is shown."""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

from memtui.audit import masking
from memtui.audit.findings import Finding
from memtui.audit.masking import MASK, Span
from memtui.core.diffs import Difference

STAR = "\ue000"
"""Stands for a masked character until a line is drawn: a character that no text uses for anything of its own."""
STARS = "********"
_STARS = re.compile(f"{STAR}+")


def spans_in(text: str, findings: Iterable[Finding] = ()) -> list[Span]:
    """Which characters of a text are masked, in order and without overlap.

    Args:
        text: All of it.
        findings: What was found in this text; what is found in it now is masked all the same.
    """
    found = [each.masked for each in findings if each.masked is not None]
    return masking.merged([*masking.secret_spans(text), *found])


def masked(text: str, spans: Iterable[Span], star: str = "*") -> str:
    """The text with a star in place of each masked character; lines and columns stay where they are."""
    parts: list[str] = []
    at = 0
    for start, end in spans:
        secret = text[start:end]
        kept = start + len(masking.masked(secret, (0, len(secret)))) - len(MASK) if secret else start
        parts += [text[at:kept], "".join(each if each in "\r\n" else star for each in text[kept:end])]
        at = max(end, at)
    return "".join([*parts, text[at:]])


def collapsed(text: str) -> str:
    """The text with a few stars for each run of `STAR`: how long a secret is, is nobody's business either."""
    return _STARS.sub(STARS, text)


def without_secrets(text: str) -> str:
    """A text with a few stars for each secret in it."""
    return collapsed(masked(text, spans_in(text), STAR))


def masked_difference(difference: Difference) -> tuple[Difference, bool]:
    """A difference with what is masked in both of its texts; where they differ stays as it is.

    Returns:
        The difference, and whether anything is masked in it.
    """
    old, was = _masked_lines(difference.old)
    new, now = _masked_lines(difference.new)
    return Difference(old, new, difference.hunks), was or now


def _masked_lines(lines: Sequence[str]) -> tuple[Sequence[str], bool]:
    text = "".join(lines)
    spans = spans_in(text)
    if not spans:
        return lines, False
    hidden = masked(text, spans, STAR)
    starts = list(accumulate(map(len, lines), initial=0))
    return [collapsed(hidden[start : start + len(line)]) for start, line in zip(starts, lines, strict=False)], True
