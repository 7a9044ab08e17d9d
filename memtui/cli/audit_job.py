"""The job of `memtui audit`: what its words ask for, the audit, its report, and the list of rules."""

import argparse
import contextlib
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtui import memory as memory_module
from memtui.audit.cache import AuditCache, keep_cache, read_cache
from memtui.audit.model import Audit, AuditRule, CustomRules, Family, Severity
from memtui.audit.registry import find_rule_problems, is_known_rule, suggest_rule
from memtui.audit.registry import list_rules as list_all_rules
from memtui.audit.report import render_report
from memtui.audit.report.wording import format_verdict
from memtui.audit.rule_files import RuleFileMissing, RuleFileRefused, RuleFileUnusable, load_custom_rules
from memtui.audit.runner import run_audit
from memtui.audit.selection import find_setting, matches_rule
from memtui.audit.suppressions import InvalidBaseline, build_baseline, parse_baseline
from memtui.audit.trend import MOST_BYTES, add_trend, build_history
from memtui.cli import context, output
from memtui.cli.audit_screen import has_screen
from memtui.cli.context import load_config
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure, NotFound, UsageError, format_os_error, show_progress_line
from memtui.core.errors import StateUnusable
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import format_path
from memtui.core.suggestion import format_suggestion
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.engine import Observer
from memtui.fs import state as fs_state
from memtui.fs.exports import ExportWriter, WriteFailed
from memtui.fs.landlock import restrict_writes
from memtui.fs.no_atime import read_regular_file
from memtui.fs.write_helper import FileWriter, LocalWriter, WriteHelper
from memtui.review.inbox import Inbox
from memtui.review.marks import Review, ReviewFileUnusable, resolve_review_path

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from importlib.metadata import EntryPoint

    from memtui.agents.opinion_askers import OpinionProcess
    from memtui.config import LoadedConfig


# The job: validated arguments, with everything read that is read besides the folder.

_MOST_OF_A_BASELINE = 64_000_000


@dataclass(frozen=True, slots=True)
class AuditJob:
    """One audit. `only` are rule selections, `None` for all; `baseline` are fingerprints that do not count; `fail_on`
    is the severity from which the exit code is 1, `None` for never.
    """

    options: Options
    arguments: argparse.Namespace
    folder: str
    loaded: "LoadedConfig"
    format: str
    only: tuple[str, ...] | None
    repo: str | None
    baseline: frozenset[str] | None
    fail_on: Severity | None
    custom: CustomRules

    @property
    def title(self) -> str:
        """The folder as a person writes it."""
        return format_path(self.folder)

    @property
    def is_for_screen(self) -> bool:
        """Whether a person looks, who asked for no report."""
        return not self._asks_for_report and has_screen() and not self.loaded.config.ui.screen_reader

    @property
    def is_read_out(self) -> bool:
        """Whether a person would have had the screen, but for her screen reader."""
        has_reader = self.loaded.config.ui.screen_reader
        return not self._asks_for_report and has_reader and output.is_terminal(sys.stdout)

    @property
    def wants_changes(self) -> bool:
        """Whether the report tells the changes, too."""
        given = self.arguments
        return any(each is not None for each in (given.since, given.review, given.reviewer))

    @property
    def _asks_for_report(self) -> bool:
        given = self.arguments
        is_asking = given.ask_model is not None
        return bool(given.format or given.output or given.write_baseline or self.options.json or is_asking)


class SharedInputs(NamedTuple):
    """What is read once for the audits of many folders.

    Attributes:
        get_config: The settings by the folder.
        packages: The installed packages that bring rules.
    """

    get_config: Callable[[str], "LoadedConfig"]
    packages: "Sequence[EntryPoint]"


def build_audit_job(options: Options, arguments: argparse.Namespace, shared: SharedInputs | None = None) -> AuditJob:
    """Judge the words, and read all that is read besides the folder, unless it is `shared`."""
    if options.json and arguments.format not in (None, "json"):
        raise UsageError(f"memtui audit: --json and --format {arguments.format} do not go together. Leave out one.")
    for name in ("output", "baseline", "write_baseline", "repo", "journal", "review", "reviewer", "since", "rule_file"):
        if getattr(arguments, name) in ("", [""]):
            option = "-o" if name == "output" else f"--{name.replace('_', '-')}"
            raise UsageError(f"memtui audit: the value of {option} is empty. Nothing was audited.")
    format = "json" if options.json else arguments.format or "text"
    if arguments.watch:
        _validate_watch(arguments, format)
    _validate_asking(arguments)
    wants_both = options.json or arguments.format is not None
    if arguments.write_baseline == "-" and wants_both and arguments.output in (None, "-"):
        words = "the baseline and the report cannot both be printed. Name a file for one of them. Nothing was audited."
        raise UsageError(f"memtui audit: {words}")
    folder = context.resolve_folder(options, arguments.folder)
    loaded = load_config(options, folder) if shared is None else shared.get_config(folder)
    custom = load_rules(options, arguments, loaded, folder, None if shared is None else shared.packages)
    only = parse_rule_selection(arguments, custom)
    return AuditJob(
        options,
        arguments,
        folder,
        loaded,
        format,
        only,
        _resolve_repository(arguments.repo),
        _load_baseline(arguments.baseline, folder),
        None if arguments.fail_on == "never" else Severity(arguments.fail_on),
        custom,
    )


def load_rules(
    options: Options,
    arguments: argparse.Namespace,
    loaded: "LoadedConfig",
    folder: str | None,
    packages: "Sequence[EntryPoint] | None" = None,
) -> CustomRules:
    """The person's own rules; says what is wrong with them, and with the settings."""
    try:
        custom = load_custom_rules(arguments.rule_file or (), loaded.config.audit.rule_files, folder, packages)
    except RuleFileRefused as error:
        raise Failure(ExitCode.REFUSED, f"Refused: {error} Nothing was audited.") from error
    except RuleFileMissing as error:
        raise NotFound(f"{error} Nothing was audited.") from error
    except RuleFileUnusable as error:
        raise UsageError(f"{error} Nothing was audited.") from error
    found = [problem.sentence for problem in (*loaded.problems, *find_rule_problems(loaded, custom))]
    for sentence in () if options.quiet else (*found, *custom.problems, *custom.remarks):
        output.print_message(sentence)
    return custom


def parse_rule_selection(arguments: argparse.Namespace, custom: CustomRules) -> tuple[str, ...] | None:
    """The selected rules, patterns and families; `None` for all. Raises `Failure` for a rule that does not exist."""
    only = tuple(name.strip() for given in arguments.only or () for name in given.split(",") if name.strip()) or None
    if arguments.only and only is None:
        raise UsageError("memtui audit: the value of --only is empty. Nothing was audited.")
    for name in only or ():
        if not is_known_rule(name, custom) and name not in tuple(Family):
            hint = suggest_rule(name, *Family, custom=custom)
            raise UsageError(f"memtui audit: no rule or rule family called '{name}'. {hint}")
    return only


def _validate_watch(arguments: argparse.Namespace, format: str) -> None:
    """Raise `Failure` for options that contradict `--watch`."""
    if arguments.write_baseline is not None:
        words = "each new finding would go into the baseline and not count. Leave out one."
        raise UsageError(f"memtui audit: --watch and --write-baseline do not go together: {words}")
    if format not in ("text", "json", "jsonl") and arguments.output in (None, "-"):
        words = f"repeated reports are not a valid {format} file. Name a file: -o FILE"
        raise UsageError(f"memtui audit: --watch and --format {format}: {words}")


def _validate_asking(arguments: argparse.Namespace) -> None:
    """Raise `Failure` where a model cannot be asked as it is said."""
    model = arguments.ask_model
    if model is None and (arguments.model_decides or arguments.yes):
        option = "--model-decides" if arguments.model_decides else "--yes"
        raise UsageError(f"memtui audit: {option} goes with --ask-model, which sends passages of notes to a model.")
    if model is None:
        return
    if arguments.watch:
        words = "you agree to what is sent once, not at each change. Leave out one."
        raise UsageError(f"memtui audit: --watch and --ask-model do not go together: {words}")
    if not model.isprintable():
        raise UsageError(f"memtui audit: {model!r} is not a model id. Nothing was audited or sent.")
    if not arguments.yes and not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stderr)):
        words = "no terminal to confirm in that passages of notes are sent to a model."
        raise UsageError(f"memtui audit: {words} Nothing was audited or sent. Use --yes")


def _resolve_repository(given: str | None) -> str | None:
    if given is None:
        return None
    path = os.path.realpath(os.path.expanduser(given))
    if not os.path.isdir(path):
        raise NotFound(f"No directory {format_path(path)} to compare with. Nothing was audited.")
    return path


def _load_baseline(given: str | None, folder: str) -> frozenset[str] | None:
    if given is None:
        return None
    path = os.path.realpath(os.path.expanduser(given))
    if path == folder or path.startswith(folder.rstrip("/") + "/"):
        words = "is inside the memory folder, where an agent could change it."
        raise Failure(
            ExitCode.REFUSED, f"Refused: the baseline {format_path(path)} {words} Nothing was audited. Move it out."
        )
    try:
        data = read_regular_file(path, _MOST_OF_A_BASELINE)
    except OSError as error:
        raise NotFound(f"{format_path(path)} cannot be read: {format_os_error(error)}. Nothing was audited.") from error
    if data is None:
        raise UsageError(f"{format_path(path)} is not a regular file. Nothing was audited.")
    try:
        return parse_baseline(data, format_path(path))
    except InvalidBaseline as error:
        raise UsageError(str(error)) from error


def run_audit_once(job: AuditJob) -> int:
    """Audit, write the report, and return the exit code."""
    history = _find_history(job)
    with _open_asker(job) as asker, open_session(job) as session:
        found = audit_folder(job, session)
        if history is not None:
            found = add_trend(found, _read_history(history))
        shown, failure = found, ExitCode.OK
        if asker is not None:
            from memtui.cli.audit_opinions import add_model_opinions  # noqa: PLC0415 - only where a model is asked

            shown, failure = add_model_opinions(asker, found, job.arguments, job.options)
        code = write_result(job, session, shown, force=job.arguments.force, failure=failure)
        is_kept = found.events and not job.options.read_only
        if history is not None and is_kept and (kept := build_history(found)) is not None:
            with contextlib.suppress(WriteFailed):  # where nothing can be kept, the next audit is not compared
                session.writer.keep(history, kept)
        return code


def _open_asker(job: AuditJob) -> "AbstractContextManager[OpinionProcess | None]":
    """The process that asks a model; none where that was not asked for."""
    if job.arguments.ask_model is None:
        return contextlib.nullcontext()
    from memtui.agents.opinion_askers import OpinionProcess  # noqa: PLC0415 - start-up: only where a model is asked

    chat = job.loaded.config.chat
    return OpinionProcess(
        job.folder,
        model=job.arguments.ask_model or chat.model or None,
        provider=chat.provider,
        alone=job.arguments.model_decides,
        keeps=not job.options.read_only,
    )


def _find_history(job: AuditJob) -> Path | None:
    """Where audits of the folder are kept, beside its journal; `None` for one that is compared with none."""
    if job.arguments.journal is not None or job.only is not None:
        return None
    return fs_state.get_state_directory(job.folder, job.options.state) / fs_state.AUDITS


def _read_history(path: Path) -> bytes | None:
    try:
        data = read_regular_file(os.fspath(path), MOST_BYTES)
    except OSError:
        return None
    return data if data is not None and len(data) <= MOST_BYTES else None


@dataclass(frozen=True, slots=True)
class AuditSession:
    """An audit without the right to write: `writer` writes for it, `confinement` says what was given up.

    Attributes:
        cache: What the last audit found nothing in; `None` for one that trusts nothing but what it reads.
    """

    writer: FileWriter
    confinement: tuple[str, ...]
    first: Observer
    cache: AuditCache | None = None
    cache_path: Path | None = None


@contextmanager
def open_session(job: AuditJob) -> Iterator[AuditSession]:
    """Copy the journal, start the process that writes, and give up the right to write before the folder is read."""
    state = fs_state.get_state_directory(job.folder, job.options.state)
    outgoing = ExportWriter(job.folder, state, nothing="No report was written.")
    kept = [] if job.options.read_only else [state / fs_state.AUDITS, state / fs_state.CLEAN_NOTES]
    path = kept[-1] if kept and job.arguments.journal is None else None
    # One that keeps watching has its cache in memory, and leaves no trace where nothing changes.
    with WriteHelper(outgoing, kept=kept) as scribe, open_observer(job) as first:
        confined = restrict_writes()
        yield AuditSession(scribe, (confined.sentence,), first, read_cache(path), path)


SessionOpener = Callable[[AuditJob], "AbstractContextManager[AuditSession]"]


@contextmanager
def open_sessions(options: Options, folders: Sequence[str]) -> Iterator[SessionOpener]:
    """As `open_session`, once for the audits of many folders, which come one after the other."""
    kept: dict[str, list[Path]] = {}
    for folder in () if options.read_only else folders:
        with contextlib.suppress(StateUnusable):  # its audit tells
            state = fs_state.get_state_directory(folder, options.state)
            if state.is_dir():  # of a folder without a record nothing is kept
                kept[folder] = [state / fs_state.AUDITS, state / fs_state.CLEAN_NOTES]
    outgoing = ExportWriter(None, None, others=folders, nothing="No report was written.")
    every = [path for paths in kept.values() for path in paths]
    with WriteHelper(outgoing, kept=every) if every else LocalWriter(outgoing) as writer:
        confinement = (restrict_writes().sentence,)

        @contextmanager
        def open_one(job: AuditJob) -> Iterator[AuditSession]:
            path = kept[job.folder][-1] if job.folder in kept and job.arguments.journal is None else None
            with open_observer(job) as first:
                yield AuditSession(writer, confinement, first, read_cache(path), path)

        yield open_one


def open_observer(job: AuditJob) -> Observer:
    """The folder and its journal, to be read only."""
    given = job.arguments
    memory = job.loaded.config.memory
    return memory_module.observe(
        job.folder, state=job.options.state, journal=given.journal, settings=memory, look=False
    )


def audit_folder(
    job: AuditJob, session: AuditSession, observer: Observer | None = None, *, forks: bool = True
) -> Audit:
    """Audit the folder, as the job asks for it; `forks` says whether a second process may help."""
    observer = session.first if observer is None else observer
    given = job.arguments
    review = _load_review(job)
    changes = _load_inbox(job, observer, review) if job.wants_changes else None
    keeps = session.cache_path is not None and job.only is None and not given.watch and observer.recorded.last > 0
    cache = session.cache
    if cache is not None and cache.is_empty and not keeps and not given.watch:
        cache = None  # it would serve nobody, and digests of all notes be made for it
    with show_progress_line(quiet=job.options.quiet) as progress:
        found = run_audit(
            observer,
            title=job.title,
            place=job.folder,
            settings=job.loaded.config.audit,
            memory=job.loaded.config.memory,
            repo=job.repo,
            only=job.only,
            inbox=changes,
            review=review,
            reviewer=given.reviewer,
            baseline=job.baseline,
            growth=job.format in ("html", "json"),
            neutral=session.confinement,
            progress=progress,
            custom=job.custom,
            passages=given.ask_model is not None,
            cache=cache,
            forks=forks,
            once=not given.watch,
        )
    if keeps and found.events and cache is not None and session.cache_path is not None:
        keep_cache(cache, session.cache_path, session.writer)
    return found


def _load_review(job: AuditJob) -> Review:
    """What reviewers said. Without a usable file nothing is dismissed; it stops only an audit that tells changes."""
    try:
        return Review.read(resolve_review_path(job.arguments.review, job.folder, job.options.state))
    except ReviewFileUnusable as error:
        if job.wants_changes:
            raise
        return Review(problem=str(error))


def _load_inbox(job: AuditJob, observer: Observer, review: Review) -> Inbox:
    """The changes since the given moment."""
    from memtui.review.inbox_builder import build_inbox  # noqa: PLC0415 - start-up: only for changes

    given = job.arguments
    observer.reconcile()
    try:
        since = given.since or "last"
        return build_inbox(observer, review, since=since, reviewer=given.reviewer, rules=job.custom.matcher)
    except ValueError as error:
        hint = f" {format_suggestion(given.since or '', ['last'], shown='{}, the last review')}".rstrip()
        raise UsageError(f"memtui audit: --since: {error}{hint} Nothing was audited.") from error


def write_result(
    job: AuditJob, session: AuditSession, found: Audit, *, force: bool, failure: ExitCode = ExitCode.OK
) -> int:
    """Write the report and the baseline; returns the exit code, which is that of a failure before any other."""
    code = failure or (ExitCode.FINDINGS if found.has_findings_at(job.fail_on) else ExitCode.OK)
    given = job.arguments
    if given.write_baseline is not None:
        code = failure
        _write_baseline(job, session, found, force=force)
        if given.format is None and given.output is None and not job.options.json:
            return code
    if given.output is None or given.output == "-":
        _print_report(found, job, code)
        return code
    text = render_report(
        found, job.format, folder=job.folder, exit_code=code, fail_on=job.fail_on, everything=given.all
    )
    session.writer.write(given.output, text.encode("utf-8", "backslashreplace"), force=force)
    if not job.options.quiet:
        output.print_message(f"{format_verdict(found)} The report is in {format_path(os.path.abspath(given.output))}.")
    return code


def _print_report(found: Audit, job: AuditJob, code: int) -> None:
    shown = render_for_output(found, job, code)
    if job.format == "text" and output.is_terminal(sys.stdout):
        output.print_line(shown.removesuffix("\n"))
    else:
        output.write_bytes(shown.encode("utf-8", "backslashreplace"))


def render_for_output(found: Audit, job: AuditJob, code: int) -> str:
    """The report as it is printed: text as wide and as colourful as the terminal is."""
    everything = job.arguments.all
    if job.format != "text":
        return render_report(
            found, job.format, folder=job.folder, exit_code=code, fail_on=job.fail_on, everything=everything
        )
    from memtui.audit.report import text as report_text  # noqa: PLC0415 - start-up: only for a text report

    width = shutil.get_terminal_size().columns if output.is_terminal(sys.stdout) else report_text.WIDTH
    return report_text.render_text(found, color=output.is_colored(), width=width, everything=everything)


def _write_baseline(job: AuditJob, session: AuditSession, found: Audit, *, force: bool) -> None:
    excepted = [each.finding for each in found.excepted if each.by == "baseline"]
    findings = [*found.findings, *excepted]
    if job.arguments.write_baseline == "-":
        output.write_bytes(build_baseline(findings).encode())
        return
    session.writer.write(job.arguments.write_baseline, build_baseline(findings).encode(), force=force)
    if not job.options.quiet:
        where = format_path(os.path.abspath(os.path.expanduser(job.arguments.write_baseline)))
        output.print_message(
            f"{format_count(len(findings), 'finding')} in {where}: with --baseline none of them counts."
        )


# `memtui audit --rules`: every rule with its reason and examples.

_WIDTH = 96
_INDENT = " " * 6


def list_rules(options: Options, arguments: argparse.Namespace) -> int:
    """Print the rules, all or those that are named, as they are set here."""
    for option, is_given in (
        (f"--format {arguments.format}", arguments.format not in (None, "text", "json")),
        ("-o", arguments.output is not None),
        ("--watch", arguments.watch),
        ("--write-baseline", arguments.write_baseline is not None),
    ):
        if is_given:
            why = "the rules are listed as text or, with --json, as JSON, and nothing is audited. Leave out one."
            raise UsageError(f"memtui audit: --rules and {option} do not go together: {why}")
    given = context.find_folder(options, arguments.folder)
    loaded = load_config(options, given)
    words = loaded.config.audit.rules
    custom = load_rules(options, arguments, loaded, given or None)
    only = parse_rule_selection(arguments, custom)
    shown = [
        rule
        for rule in list_all_rules(custom).values()
        if only is None or any(matches_rule(name, rule) for name in only)
    ]
    if options.json or arguments.format == "json":
        output.print_json({"rules": [_serialize_rule(rule, find_setting(rule.id, words)) for rule in shown]})
        return ExitCode.OK
    width = min(shutil.get_terminal_size().columns, _WIDTH) if output.is_terminal(sys.stdout) else _WIDTH
    family, last_advice = "", ("", "")
    for rule in shown:
        if rule.family != family:
            output.print_line(f"{'' if not family else chr(10)}{rule.family}")
            family = rule.family
        _print_rule(rule, find_setting(rule.id, words), last_advice, max(width, 40))
        last_advice = (rule.why, rule.do)
    return ExitCode.OK


def _print_rule(rule: AuditRule, word: str, last_advice: tuple[str, str], width: int) -> None:
    """Print a rule, without the reason and the advice if they were just said of the rule before."""
    severity, is_on = _get_rule_state(rule, word)
    state = "" if is_on else "  (off)" if word == "off" else "  (off by default)"
    needs = f"  (needs {rule.needs})" if rule.needs else ""
    tuned = f"  (tuned by {', '.join(rule.settings)})" if rule.settings else ""
    head = f"  {severity:<4}  {rule.id}: {to_one_line(rule.title)}{state}{needs}{tuned}"
    for line in textwrap.wrap(head, width, subsequent_indent=_INDENT + "    "):
        output.print_line(line)
    for words in (rule.why, rule.do) if (rule.why, rule.do) != last_advice else ():
        for line in textwrap.wrap(
            to_one_line(words), width, initial_indent=_INDENT + "  ", subsequent_indent=_INDENT + "  "
        ):
            output.print_line(line)
    for name, example in (("finds", rule.bad), ("passes", rule.good)):
        if example:
            output.print_line(
                f"  {_INDENT}{name:<6}  {_truncate_example(to_one_line(example.strip()), width - len(_INDENT) - 10)}"
            )


def _truncate_example(example: str, most: int) -> str:
    return example if len(example) <= most else example[: most - 3] + "..."


def _get_rule_state(rule: AuditRule, word: str) -> tuple[str, bool]:
    """How much a rule's findings matter as it is set, and whether it is on."""
    if word in ("", "on", "off"):
        return rule.severity.value, word == "on" or (not word and rule.is_on)
    return word, True


def _serialize_rule(rule: AuditRule, word: str) -> dict[str, object]:
    severity, is_on = _get_rule_state(rule, word)
    return {
        "id": rule.id,
        "family": rule.family.value,
        "severity": severity,
        "on": is_on,
        "default_severity": rule.severity.value,
        "default_on": rule.is_on,
        "title": rule.title,
        "why": rule.why,
        "do": rule.do,
        "finds": rule.bad,
        "passes": rule.good,
        "settings": list(rule.settings),
        "needs": rule.needs or None,
        "tags": list(rule.tags),
    }
