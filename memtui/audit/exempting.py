"""What is excepted from an audit: by somebody's word, with a reason and until a day, or because it was there before."""

import re
from collections.abc import Collection
from datetime import date
from fnmatch import fnmatchcase
from functools import cache

from memtui.audit.audit import Excepted
from memtui.audit.findings import Finding, Hit
from memtui.audit.own import EXPIRED
from memtui.core.audit_settings import Exemption

_BASELINE = "it stands in the baseline"


def excepted(
    finding: Finding, exemptions: Collection[Exemption], baseline: Collection[str], today: date
) -> Excepted | None:
    """Why a finding does not count; `None` if it counts.

    Args:
        finding: Which.
        exemptions: What somebody excepted; those that hold no more are passed over.
        baseline: Fingerprints of what was there before.
        today: The day of the audit (UTC).
    """
    for each in exemptions:
        if holds(each, today) and _means(each, finding):
            return Excepted(finding, each.reason, each.until.isoformat() if each.until else "")
    if finding.fingerprint in baseline and finding.rule != EXPIRED:
        return Excepted(finding, _BASELINE, by="baseline")
    return None


def holds(exemption: Exemption, today: date) -> bool:
    """Whether an exemption still holds; on its last day it does."""
    return exemption.until is None or today <= exemption.until


def expired(exemptions: Collection[Exemption], today: date) -> list[tuple[Hit, str]]:
    """Exemptions that hold no more, each as a hit and as a sentence."""
    found = []
    for each in exemptions:
        if holds(each, today):
            continue
        assert each.until is not None
        what = each.fingerprint or each.path
        words = f"the exemption of {each.rule} for {what} ended on {each.until.isoformat()}"
        hit = Hit(
            rule=EXPIRED,
            path="",
            words=words,
            evidence=each.reason,
            facts={"exempt": each.rule, "path": each.path, "until": each.until.isoformat()},
            identity=f"{each.rule} {each.path} {each.fingerprint} {each.until.isoformat()}",
        )
        found.append((hit, f"{words[:1].upper()}{words[1:]}: {each.reason}"))
    return found


def _means(exemption: Exemption, finding: Finding) -> bool:
    return (
        fnmatchcase(finding.rule, exemption.rule)
        and exemption.fingerprint in ("", finding.fingerprint)
        and path_fits(finding.place.path, exemption.path)
    )


def path_fits(path: str, pattern: str) -> bool:
    """Whether a path fits a pattern: `*` and `?` within a name, `**` over any number of directories.

    Args:
        path: Relative to the folder.
        pattern: Relative to the folder as well; one without a separator is a name in any directory, as in `.gitignore`.
    """
    return _compiled(pattern.strip("/")).fullmatch(path) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    if "/" not in pattern and pattern != "**":
        pattern = f"**/{pattern}"
    parts: list[str] = []
    for piece in re.findall(r"\*\*/|/\*\*$|\*\*|\*|\?|[^*?]+?(?=\*|\?|/\*\*$|$)", re.sub(r"\*{3,}", "**", pattern)):
        match piece:
            case "**/":
                parts.append("(?:.*/)?")
            case "/**":
                parts.append("(?:/.*)?")
            case "**":
                parts.append(".*")
            case "*":
                parts.append("[^/]*")
            case "?":
                parts.append("[^/]")
            case _:
                parts.append(re.escape(piece))
    return re.compile("".join(parts), re.DOTALL)
