"""Secrets: credentials and personal data in notes.

The rules are in `memtui/scan/rules/secrets.toml`. README says how many they find of what others have collected.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from memtui.audit.context import AuditContext, Note
from memtui.audit.masking import mask_lines
from memtui.audit.model import AuditRule, Hit, read_rules
from memtui.scan.secrets import find_secrets
from memtui.scan.spots import Spot
from memtui.scan.work_budget import WorkBudgetSpent

_LONG = re.compile(r"(?=[A-Za-z_.-]{0,255}[0-9])[A-Za-z0-9_.+=-]{16}")
"""What has to stand in a name that holds a secret."""

_ARTICLE = re.compile(r"\A(?:an?|the) ")

RULES: tuple[AuditRule, ...] = read_rules("secrets")


def check_note(note: Note, subject: AuditContext) -> Iterator[Hit]:
    """The secrets in one note.

    Raises:
        WorkBudgetSpent: These are not all.
    """
    del subject
    for rule in note.rules.find_for_path(note.path):
        yield Hit.for_file(note.path, rule.id, rule.description)
    for spot in note.secrets:
        yield Hit.from_spot(replace(spot, words=_format_words(spot.words, "in text")), note.path)
    if note.secrets.is_cut:
        raise WorkBudgetSpent


def check_folder(subject: AuditContext) -> Iterator[Hit]:
    """The secrets in names of files and directories: a listing shows them to everybody, and so does a report.

    The place is told whole. It is what a person opens the file by, and what a baseline, an exemption and SARIF know it
    by: a masked one would lead nowhere, and two files might have the same. The words and the evidence do not repeat it.
    """
    return subject.find_in_all("secret names", _check_names)


def _check_names(subject: AuditContext) -> Iterator[Hit]:
    for path in (*subject.notes, *subject.others):
        name, rules = path.rpartition("/")[2], subject.custom.matcher
        spots = list(find_secrets(name)) if _LONG.search(name) else []
        own = [spot.masked or (spot.start, spot.end) for spot in spots if subject.has_enabled_rule(spot.rule)]
        more = [spot for spot in rules.find(name, path).spots if not any(_overlaps(spot, span) for span in own)]
        for spot in (*spots, *more):
            words = _format_words(spot.words, "in the file name")
            yield Hit(spot.rule, path, words, evidence=mask_lines([name], rules, path)[0], identity=spot.rule)


def _format_words(description: str, where: str) -> str:
    """`AWS access key in text`, of `an AWS access key`."""
    words = _ARTICLE.sub("", description)
    return words if " in " in words and where == "in text" else f"{words} {where}"


def _overlaps(spot: Spot, span: tuple[int, int]) -> bool:
    start, end = spot.masked or (spot.start, spot.end)
    return start < span[1] and span[0] < end
