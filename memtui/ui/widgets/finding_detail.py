"""Pages of a finding, a rule, a run, and the audit as a whole."""

import time
from collections.abc import Iterable
from datetime import datetime

from rich.cells import cell_len

from memtui.audit.model import (
    Audit,
    AuditFinding,
    AuditRule,
    FindingOrigin,
    Opinion,
    PassedCheck,
    Severity,
    SuppressedFinding,
)
from memtui.audit.ranking import FindingGroup
from memtui.audit.report.wording import describe_suppression, format_actor, format_message, format_sign_off
from memtui.core import wording
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.review.inbox import ChangeRun
from memtui.ui.key_names import label_key
from memtui.ui.masking import mask_secrets
from memtui.ui.widgets.finding_page import (
    Excerpt,
    PageLine,
    Writer,
    format_fact,
    format_heading,
    join_parts,
    wrap_text,
)
from memtui.ui.widgets.findings import WORDS, format_empty_notice, format_location

ROLES = {Severity.FAIL: "fail", Severity.WARN: "warn", Severity.INFO: "info"}
_PLACES = 20
"""Findings of a group that are listed on its page; further ones are counted."""
_LOST = 200
"""Lost facts that are listed; further ones are counted."""


@dataclass(frozen=True, slots=True)
class FindingDetail:
    """A finding with its rule and its lines.

    Attributes:
        finding: The finding.
        rule: Its rule; `None` if this memtui does not know it.
        excerpt: The lines of the note around it.
        problem: Why there is no excerpt, as a sentence.
        excepted: Why the finding does not count.
        is_revealed: Whether secrets are shown.
        is_masked: Whether the page has secrets.
        prompt: The person's prompt; empty if it is unknown.
    """

    finding: AuditFinding
    rule: AuditRule | None
    excerpt: Excerpt | None = None
    problem: str = ""
    excepted: SuppressedFinding | None = None
    is_revealed: bool = False
    is_masked: bool = False
    prompt: str = ""


def build_finding_page(about: FindingDetail, reveal_key: str, *, with_rule: bool) -> Writer:
    """The page of a finding.

    Args:
        about: The finding.
        reveal_key: The key that reveals secrets.
        with_rule: Whether the reason of the rule is on the page.
    """
    finding, rule = about.finding, about.rule

    def write(width: int) -> list[PageLine]:
        lines = about.excerpt.format_lines(width) if about.excerpt else wrap_text(about.problem, width, "detail")
        if about.excerpt is None and finding.evidence:
            lines = [*wrap_text(finding.evidence, width, "code"), *lines]
        masked: list[PageLine] = []
        if about.is_masked and about.is_revealed:
            words = f"Values are revealed on this screen only. {reveal_key} hides them."
            masked = wrap_text(words, width, "warn")
        elif about.is_masked:
            masked = wrap_text(f"Values are masked. {reveal_key} reveals them.", width, "detail")
        severity = str(finding.severity) if about.excepted else WORDS[finding.severity]
        head: PageLine = ((f"{severity}  ", ROLES[finding.severity]), (to_one_line(finding.rule), "strong"))
        whole = (*head, (f"  {finding.family}", "detail"))
        head = whole if sum(cell_len(text) for text, _ in whole) <= width else head
        exception: list[PageLine] = []
        if about.excepted is not None:
            until = f", until {about.excepted.until}" if about.excepted.until else ""
            by = f"dismissed by {about.excepted.who}" if about.excepted.who else about.excepted.by
            exception = format_fact("except", f"{by}: {about.excepted.reason}{until}", width, "info")
        return join_parts(
            [head, *wrap_text(format_message(finding.words), width), *exception],
            lines,
            masked,
            _format_opinion(finding.opinion, width) if finding.opinion is not None else (),
            [*_format_origin(finding.origin, width), *format_fact("asked", about.prompt, width)],
            format_fact("do", finding.do or (rule.do if rule else ""), width),
            format_fact("why", rule.why if rule and with_rule else "", width),
            format_fact("id", finding.fingerprint, width, "detail"),
        )

    return write


def _format_opinion(opinion: Opinion, width: int) -> list[PageLine]:
    """A model's opinion, told as one: whatever it is, the finding stays what it is."""
    when = f", {format_timestamp(opinion.given_us)}" if opinion.given_us is not None else ""
    words = f"{opinion.verdict}, says {to_one_line(opinion.model)}{when}: {to_one_line(opinion.reason)}"
    return [
        *format_fact("model", words, width),
        *format_fact("", "This is an opinion and changes nothing here.", width, "detail"),
    ]


def build_group_page(group: FindingGroup, rule: AuditRule | None, keys: str, *, with_rule: bool) -> Writer:
    """The page of findings with one cause; `keys` is a sentence at the end."""
    worst = group.worst

    def write(width: int) -> list[PageLine]:
        head: PageLine = ((f"{WORDS[worst.severity]}  ", ROLES[worst.severity]), (to_one_line(worst.rule), "strong"))
        places: list[PageLine] = []
        for finding in group.findings[:_PLACES]:
            places += wrap_text(format_location(finding), width, "code")
            if not group.is_uniform:
                words = wrap_text(f"{finding.words}.", max(width - 2, 8), "detail")
                places += [(("  ", ""), *line) for line in words]
        if (more := len(group.findings) - _PLACES) > 0:
            places += wrap_text(f"and {more:,} more", width, "detail")
        return join_parts(
            [head, *wrap_text(f"{group.words}.", width)],
            [format_heading(wording.format_count(len(group.findings), "place"), width), *places],
            format_fact("do", worst.do, width),
            format_fact("why", rule.why if rule and with_rule else "", width),
            wrap_text(keys, width, "detail"),
        )

    return write


def _format_origin(origin: FindingOrigin, width: int) -> list[PageLine]:
    """The actor, the call and the session of a finding, as far as they are known."""
    when = format_timestamp(origin.at_us)
    if not origin.is_known and origin.seq is None:
        return format_fact("from", "unknown: it is not in the history.", width)
    if not origin.is_known:
        words = f"unknown: it was there when memtui first saw the folder, {when}, #{origin.seq}."
        return format_fact("from", words, width)
    who = ", ".join(to_one_line(each) for each in (format_actor(origin.actor), when, origin.command) if each)
    exact = "" if origin.is_exact else " This is the first known event with it, not necessarily its author."
    number = f", #{origin.seq}" if origin.seq is not None else ""
    return [
        *format_fact("from", f"{who}{number}.{exact}", width),
        *format_fact("call", to_one_line(origin.call_id or ""), width),
        *format_fact("in", f"session {to_one_line(origin.session)}" if origin.session else "", width),
    ]


def build_rule_page(rule: AuditRule | None, name: str) -> Writer:
    """The page of a rule by its id; `None` if this memtui does not know it."""

    def write(width: int) -> list[PageLine]:
        if rule is None:
            return wrap_text(f"{to_one_line(name)}: unknown rule in this version of memtui.", width)
        settings = ", ".join(rule.settings)
        switch = f'In the settings: [audit.rules] "{rule.id}" = "off", "info", "warn" or "fail".'
        bad = wrap_text(mask_secrets(rule.bad).rstrip(), width, "code")
        good = wrap_text(rule.good.rstrip(), width, "code")
        tuned = wrap_text(f"Settings: {settings}." if settings else "", width, "detail")
        return join_parts(
            [((rule.id, "strong"),), *wrap_text(rule.title, width)],
            wrap_text(rule.why, width),
            [format_heading("found", width), *bad] if rule.bad else (),
            [format_heading("passed", width), *good] if rule.good else (),
            [*wrap_text(switch, width, "detail"), *tuned],
        )

    return write


def build_passed_page(passed: PassedCheck) -> Writer:
    """The page of a check that passed."""

    def write(width: int) -> list[PageLine]:
        head = (("ok  ", "ok"), (to_one_line(passed.name), "strong"), (f"  {passed.family}", "detail"))
        return join_parts([head, *wrap_text(format_message(passed.words), width)])

    return write


def build_run_page(run: ChangeRun, keys: str) -> Writer:
    """The page of a run: actor, time, files, and lost facts; `keys` is a sentence at the end."""

    def write(width: int) -> list[PageLine]:
        when = " to ".join(dict.fromkeys((format_timestamp(run.at_us), format_timestamp(run.until_us))))
        paths = [line for path in run.paths for line in wrap_text(f"  {path}", width, "detail")]
        lost: list[PageLine] = []
        for each in run.lost[:_LOST]:
            lost += wrap_text(f"{each.path}:{each.line}  (#{each.seq})", width, "detail")
            rows = wrap_text(mask_secrets(each.text), max(width - 2, 8), "removed")
            lost += [(("  " if at else "- ", "removed"), *line) for at, line in enumerate(rows)]
        more = max(len(run.lost) - _LOST, 0) + run.unlisted
        if more:
            lost += wrap_text(f"and {more:,} more", width, "detail")
        words = "No other note has a line like these."
        if run.unsearched:
            words = f"Not fully compared with the notes: {run.unsearched}."
        elif not lost:
            words = "Every removed line is in another note."
        size = f"{wording.format_file_count(len(run.paths))}, +{run.added:,} -{run.removed:,} lines"
        return join_parts(
            [
                *format_fact("who", to_one_line(format_actor(run.actor)), width, "strong"),
                *format_fact("in", f"session {to_one_line(run.session)}" if run.session else "", width),
                *format_fact("when", f"{when}, #{run.first} to #{run.last}", width),
                *format_fact("what", size, width),
            ],
            [format_heading(f"facts lost {len(run.lost) + run.unlisted:,}", width), *wrap_text(words, width), *lost],
            [format_heading("files", width), *paths],
            wrap_text(keys, width, "detail"),
        )

    return write


def build_audit_page(audit: Audit, enforced: str) -> list[str]:
    """The lines of a window about an audit; `enforced` is a sentence on the limits of the kernel, or empty."""
    taken = sum(audit.seconds.values())
    slowest = sorted(audit.seconds.items(), key=lambda item: -item[1])
    chain = f"{audit.chain.hash[:16]} at #{audit.chain.seq}" if audit.chain.hash else "none"
    lines = [
        f"folder    {to_one_line(audit.title)}",
        f"taken     {format_timestamp(audit.taken_us, seconds=True)}, {taken:.1f} s",
        *(f"          {name} {seconds * 1_000:.0f} ms" for name, seconds in slowest),
        f"journal   {to_one_line(audit.chain.words)}",
        f"head      {chain}",
        f"tool      memtui {audit.version}, {audit.rules:,} rules, digest {audit.digest}",
        "",
        *(to_one_line(words) for words in audit.neutral),
    ]
    lines += format_sign_off(audit.sign_off) if audit.sign_off is not None else []
    lines += [enforced] if enforced and enforced not in audit.neutral else []
    excepted = [
        f"{each.finding.rule} in {each.finding.location.path}: {describe_suppression(each)}" for each in audit.excepted
    ]
    for title, entries in (
        ("Settings that differ from the defaults", [f"{name} = {value}" for name, value in audit.settings.items()]),
        ("Rules that did not run", [f"{each.rule}: {each.reason}" for each in audit.skipped]),
        ("Expired exemptions", audit.expired),
        ("Excepted", excepted),
    ):
        lines += ["", title, *(f"  {to_one_line(each)}" for each in entries)] if entries else []
    return lines


def build_empty_page(audit: Audit) -> Writer:
    """The page of an audit without findings."""
    return build_notice_page(
        format_empty_notice(audit),
        f"Passed checks are listed on the left. {label_key('audit.about')} lists rules that did not run.",
    )


def build_notice_page(*sentences: str) -> Writer:
    """A page of sentences, the first of which is strong."""

    def write(width: int) -> list[PageLine]:
        first, *rest = sentences
        return join_parts(wrap_text(first, width, "strong"), *(wrap_text(each, width) for each in rest))

    return write


def format_timestamp(at_us: int | None, *, seconds: bool = False) -> str:
    """A local time: of today without the date, or the date with minutes or seconds."""
    if at_us is None:
        return ""
    at = datetime.fromtimestamp(at_us / 1e6)
    if seconds:
        return at.strftime("%Y-%m-%d %H:%M:%S")
    return at.strftime("%H:%M:%S" if datetime.fromtimestamp(time.time()).date() == at.date() else "%Y-%m-%d %H:%M")


def join_names(words: Iterable[str], most: int = 3) -> str:
    """A few names in a sentence, and the number of further ones."""
    names = [to_one_line(each) for each in words]
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
