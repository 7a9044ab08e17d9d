"""Masking of secrets on a screen, until the person reveals them; lines and columns stay where they are."""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

from memtui.audit.model import AuditFinding
from memtui.core.diffs import TextDiff
from memtui.scan.rule_matches import NO_SECRET_RULES, SecretRules
from memtui.scan.spots import Span

STAR = "\ue000"
"""A masked character until a line is drawn: a private character that texts do not use."""
STARS = "********"
_STARS = re.compile(f"{STAR}+")


def find_masked_spans(
    text: str, findings: Iterable[AuditFinding] = (), rules: SecretRules = NO_SECRET_RULES, path: str = ""
) -> list[Span]:
    """The spans of secrets in a text, and of its findings, in order and without overlap.

    Args:
        rules: Of a person's own files.
        path: Of the text's file, relative to the folder; for those rules.
    """
    from memtui.audit import masking  # noqa: PLC0415 - first paint: loads what finds secrets

    found = [each.masked for each in findings if each.masked is not None]
    return masking.merge_spans([*masking.find_secret_spans(text, rules, path), *found])


def mask_spans(text: str, spans: Iterable[Span], star: str = "*") -> str:
    """The text with a star in place of each masked character; lines and columns stay where they are."""
    from memtui.audit.masking import MASK, mask_text  # noqa: PLC0415 - as above

    parts: list[str] = []
    at = 0
    for start, end in spans:
        secret = text[start:end]
        shown = start + len(mask_text(secret, (0, len(secret)))) - len(MASK) if secret else start
        parts += [text[at:shown], "".join(each if each in "\r\n" else star for each in text[shown:end])]
        at = max(end, at)
    return "".join([*parts, text[at:]])


def collapse_stars(text: str) -> str:
    """The text with `STARS` for each run of `STAR`, so that the length of a secret is not shown."""
    return _STARS.sub(STARS, text)


def mask_secrets(text: str) -> str:
    """The text with `STARS` for each secret."""
    return collapse_stars(mask_spans(text, find_masked_spans(text), STAR))


def mask_difference(
    difference: TextDiff, rules: SecretRules = NO_SECRET_RULES, path: str = ""
) -> tuple[TextDiff, bool]:
    """A difference with its secrets masked and its hunks unchanged, and whether there are secrets."""
    old, was = _mask_lines(difference.old, rules, path)
    new, now = _mask_lines(difference.new, rules, path)
    return TextDiff(old, new, difference.hunks), was or now


def _mask_lines(lines: Sequence[str], rules: SecretRules, path: str) -> tuple[Sequence[str], bool]:
    text = "".join(lines)
    spans = find_masked_spans(text, (), rules, path)
    if not spans:
        return lines, False
    hidden = mask_spans(text, spans, STAR)
    starts = list(accumulate(map(len, lines), initial=0))
    return [collapse_stars(hidden[start : start + len(line)]) for start, line in zip(starts, lines, strict=False)], True
