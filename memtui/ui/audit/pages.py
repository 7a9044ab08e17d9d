"""What is known of a finding, of a rule, of a run and of the audit as a whole, as pages to read."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.cells import cell_len

from memtui.audit.audit import Audit, Excepted, Passed
from memtui.audit.findings import Finding, Origin, Severity
from memtui.audit.inbox import Run
from memtui.audit.rule import Rule
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.audit.around import Around
from memtui.ui.audit.listing import WORDS, nothing_found
from memtui.ui.audit.masks import without_secrets
from memtui.ui.audit.page import Line, Writer, broken, fact, heading, joined

ROLES = {Severity.FAIL: "fail", Severity.WARN: "warn", Severity.INFO: "info"}
_LOST = 200
"""Facts lost that are listed; more are counted."""


@dataclass(frozen=True, slots=True)
class About:
    """All that is shown of a finding.

    Attributes:
        finding: Which.
        rule: What is to be known of its rule; `None` for one that this memtui does not know.
        around: The lines of the note around it; `None` where there is nothing to show of it.
        problem: Why not, as a sentence.
        excepted: Why it does not count; `None` where it does.
        reveals: Whether a person asked to see what is masked.
        is_masked: Whether anything is masked on the page.
        asked: What a person had asked for when it was brought in; empty if nothing tells.
    """

    finding: Finding
    rule: Rule | None
    around: Around | None = None
    problem: str = ""
    excepted: Excepted | None = None
    reveals: bool = False
    is_masked: bool = False
    asked: str = ""


def of_finding(about: About, reveal_key: str, *, with_rule: bool) -> Writer:
    """The page of a finding.

    Args:
        about: What is shown.
        reveal_key: The key that reveals.
        with_rule: Whether it is said why the rule is there; not where that has a page of its own.
    """
    finding, rule = about.finding, about.rule
    reader_is_told = "revealed on this screen only" if about.reveals else "masked"

    def write(width: int) -> list[Line]:
        shown = about.around.written(width) if about.around else broken(about.problem, width, "detail")
        if about.around is None and finding.evidence:
            shown = [*broken(finding.evidence, width, "code"), *shown]
        hidden: list[Line] = []
        if about.is_masked:
            words = f"Values are {reader_is_told}. {reveal_key} {'hides' if about.reveals else 'reveals'} them."
            hidden = broken(words, width, "warn" if about.reveals else "detail")
        severity = str(finding.severity) if about.excepted else WORDS[finding.severity]
        head: Line = ((f"{severity}  ", ROLES[finding.severity]), (one_line(finding.rule), "strong"))
        family = f"  {finding.family}"
        what = [
            (*head, (family, "detail")) if sum(cell_len(text) for text, _ in (*head, (family, ""))) <= width else head,
            *broken(f"{finding.words}.", width),
        ]
        held: list[Line] = []
        if about.excepted is not None:
            until = f", until {about.excepted.until}" if about.excepted.until else ""
            held = fact("held", f"{about.excepted.by}: {about.excepted.reason}{until}", width, "info")
        return joined(
            shown,
            hidden,
            [*what, *held],
            [*_origin(finding.origin, width), *fact("asked", about.asked, width)],
            fact("do", finding.do or (rule.do if rule else ""), width),
            fact("why", rule.why if rule and with_rule else "", width),
            fact("id", finding.fingerprint, width, "detail"),
        )

    return write


def _origin(origin: Origin, width: int) -> list[Line]:
    """Who brought it in: each on a line of its own, as far as it is known."""
    if not origin.is_known:
        if origin.seq is None:
            return fact("from", "unknown: no journal says who brought it in.", width)
        found = f"there when memtui first looked, {moment(origin.at_us)}, #{origin.seq}."
        return fact("from", f"unknown: it was {found}", width)
    when = moment(origin.at_us) if origin.at_us is not None else ""
    who = ", ".join(one_line(each) for each in (origin.actor, when, origin.command) if each)
    exact = "" if origin.is_exact else " It was there by then; who brought it in is not known exactly."
    number = f", #{origin.seq}" if origin.seq is not None else ""
    return [
        *fact("from", f"{who}{number}.{exact}", width),
        *fact("call", one_line(origin.call_id or ""), width),
        *fact("in", f"session {one_line(origin.session)}" if origin.session else "", width),
    ]


def of_rule(rule: Rule | None, name: str) -> Writer:
    """The page of a rule.

    Args:
        rule: Which; `None` for one that this memtui does not know.
        name: Its id.
    """

    def write(width: int) -> list[Line]:
        if rule is None:
            return broken(f"{one_line(name)}: this memtui has no such rule.", width)
        tuned = ", ".join(rule.settings)
        switch = f'In the settings: [audit.rules] "{rule.id}" = "off", "info", "warn" or "fail".'
        return joined(
            [((rule.id, "strong"),), *broken(rule.title, width)],
            broken(rule.why, width),
            [heading("found", width), *broken(without_secrets(rule.bad).rstrip(), width, "code")] if rule.bad else [],
            [heading("passed", width), *broken(rule.good.rstrip(), width, "code")] if rule.good else [],
            [*broken(switch, width, "detail"), *broken(f"Tuned by: {tuned}." if tuned else "", width, "detail")],
        )

    return write


def of_passed(passed: Passed) -> Writer:
    """The page of something that is in order."""

    def write(width: int) -> list[Line]:
        head = (("ok  ", "ok"), (one_line(passed.name), "strong"), (f"  {passed.family}", "detail"))
        return joined([head, *broken(f"{passed.words}.", width)])

    return write


def of_run(run: Run, keys: str) -> Writer:
    """The page of a run: who did it, when, what, and what it dropped that stands nowhere any more.

    Args:
        run: Which.
        keys: What can be done, in a sentence.
    """

    def write(width: int) -> list[Line]:
        when = " to ".join(dict.fromkeys((moment(run.at_us), moment(run.until_us))))
        span = f"{when}, #{run.first} to #{run.last}"
        paths = [line for path in run.paths for line in broken(f"  {path}", width, "detail")]
        lost: list[Line] = []
        for each in run.lost[:_LOST]:
            lost += broken(f"{each.path}:{each.line}  (#{each.seq})", width, "detail")
            rows = broken(without_secrets(each.text), max(width - 2, 8), "removed")
            lost += [(("  " if at else "- ", "removed"), *line) for at, line in enumerate(rows)]
        more = max(len(run.lost) - _LOST, 0) + run.unlisted
        if more:
            lost += broken(f"and {more:,} more", width, "detail")
        words = (
            "No line near to these stands anywhere else now."
            if lost
            else "Every line that it dropped stands elsewhere."
        )
        if run.unsearched:
            words = f"Not all of it was held against the notes: {run.unsearched}."
        return joined(
            [
                *fact("who", one_line(run.actor), width, "strong"),
                *fact("in", f"session {one_line(run.session)}" if run.session else "", width),
                *fact("when", span, width),
                *fact("what", f"{wording.files(len(run.paths))}, +{run.added:,} -{run.removed:,} lines", width),
            ],
            [heading(f"facts lost {len(run.lost) + run.unlisted:,}", width), *broken(words, width), *lost],
            [heading("files", width), *paths],
            broken(keys, width, "detail"),
        )

    return write


def of_audit(audit: Audit, enforced: str) -> list[str]:
    """Everything about the audit that is not a finding, as lines for a window.

    Args:
        audit: Which.
        enforced: What the kernel enforces, as a sentence; empty where nothing can be changed through memtui only.
    """
    taken = sum(audit.seconds.values())
    slowest = sorted(audit.seconds.items(), key=lambda item: -item[1])
    chain = f"{audit.chain.hash[:16]} at #{audit.chain.seq}" if audit.chain.hash else "there is none"
    lines = [
        f"folder    {one_line(audit.title)}",
        f"looked at {moment(audit.taken_us, seconds=True)}, {taken:.1f} s",
        *(f"          {name} {seconds * 1_000:.0f} ms" for name, seconds in slowest),
        f"journal   {one_line(audit.chain.words)}",
        f"head      {chain}",
        f"tool      memtui {audit.version}, {audit.rules:,} rules, digest {audit.digest}",
        "",
        *(one_line(words) for words in audit.neutral),
    ]
    lines += [enforced] if enforced and enforced not in audit.neutral else []
    for title, held in (
        ("Settings that are not as by default", [f"{name} = {value}" for name, value in audit.settings.items()]),
        ("Rules that did not run", [f"{each.rule}: {each.reason}" for each in audit.skipped]),
        ("Exemptions that hold no more", list(audit.expired)),
        ("Excepted", [f"{each.finding.rule} in {each.finding.place.path}: {each.reason}" for each in audit.excepted]),
    ):
        lines += ["", title, *(f"  {one_line(each)}" for each in held)] if held else []
    return lines


def of_nothing(audit: Audit) -> Writer:
    """The page where there is no finding."""
    return notice(nothing_found(audit), "What is in order is listed at the left. i tells which rules did not run.")


def notice(*sentences: str) -> Writer:
    """A page of sentences, the first of which counts."""

    def write(width: int) -> list[Line]:
        first, *rest = sentences
        return joined(broken(first, width, "strong"), *(broken(each, width) for each in rest))

    return write


def moment(at_us: int | None, *, seconds: bool = False) -> str:
    """When, by the clock on the wall here; with the date where it was another day."""
    if at_us is None:
        return ""
    at = datetime.fromtimestamp(at_us / 1e6)
    today = datetime.fromtimestamp(time.time()).date() == at.date()
    return at.strftime("%H:%M:%S" if today and not seconds else "%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")


def names(words: Iterable[str], most: int = 3) -> str:
    """A few names in a sentence, and how many more there are."""
    held: Sequence[str] = [one_line(each) for each in words]
    more = f" and {len(held) - most:,} more" if len(held) > most else ""
    return ", ".join(held[:most]) + more
