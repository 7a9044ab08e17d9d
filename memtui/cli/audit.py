"""`memtui audit`: the findings of a memory folder, without changing it, for a person and for a pipeline."""

import argparse
import os
from typing import Any

from memtui.audit.report import FORMATS
from memtui.cli import audit_screen, output
from memtui.cli.options import Options
from memtui.cli.parsing import Parser, Verb

_LEVELS = ("fail", "warn", "never")
_OF_REPORTS = (
    "format", "output", "only", "repo", "rules", "rule_file", "baseline", "write_baseline", "journal", "ask_model",
    "model_decides", "yes",
)  # fmt: skip
"""Options that something is read for, or refused, before the audit."""
_READ_OUT = (
    "The audit is printed as text. Review with: memtui review accept PATH, memtui review flag PATH, memtui review done."
)


def add_audit_options(parser: Parser) -> None:
    parser.add_value("folders", "DIR", "the memory folder, or several; --everywhere: all of them", nargs="*")
    parser.add_value("--format", "FORMAT", ", ".join(FORMATS), choices=FORMATS)
    parser.add_value("-o --output", "FILE", "a new file outside the folder; --force replaces it")
    parser.add_value("--since", "WHEN", "list changes, too: since last, 41, 2026-11-20, 2h")
    parser.add_value("--fail-on", "LEVEL", "exit 1 from this level: fail, warn, never", choices=_LEVELS, default="fail")
    parser.add_value("--repo", "DIR", "compare what notes claim with this repository")
    parser.add_value("--only", "RULE", "only these rules, patterns or families; and coverage", action="append")
    parser.add_flag("--rules", "list the rules, with examples; --rule-file adds your own")
    parser.add_flag("--watch", "audit again at each change; print new and resolved")
    parser.add_value("--rule-file", "FILE", action="append")
    parser.add_value("--baseline", "FILE")
    parser.add_value("--write-baseline", "FILE")
    parser.add_value("--review", "FILE")
    parser.add_value("--reviewer", "NAME")
    parser.add_value("--journal", "FILE")
    parser.add_value("--ask-model", "MODEL", nargs="?", const="")
    parser.add_flag("--model-decides")
    parser.add_flag("-y --yes")
    parser.add_flag("--everywhere")
    parser.add_value("--jobs", "N", type=_parse_jobs)
    parser.add_flag("--all")
    parser.add_flag("--force")


def _parse_jobs(given: str) -> int:
    if not (given.isascii() and given.isdecimal() and int(given[:4]) > 0):
        raise argparse.ArgumentTypeError(f"{given!r} is not a number of processes")
    return int(given[:4])


def run_audit_verb(options: Options, arguments: argparse.Namespace) -> int:
    if arguments.ask_model and os.path.isdir(os.path.expanduser(arguments.ask_model)):
        arguments.folders, arguments.ask_model = [arguments.ask_model, *arguments.folders], ""
    if arguments.everywhere or len(arguments.folders) > 1:
        from memtui.cli.audit_many import audit_many  # noqa: PLC0415 - start-up: only for many folders

        return audit_many(options, arguments)
    arguments.folder = next(iter(arguments.folders), None)
    chosen = _choose_for_screen(arguments)
    is_plain = not options.json and not any(getattr(arguments, name) not in (None, False) for name in _OF_REPORTS)
    if is_plain and "" not in chosen.values():
        code = audit_screen.run_plain_audit(options, arguments.folder, **chosen)
        if code is not None:
            return code
    from memtui.cli.audit_job import (  # noqa: PLC0415 - start-up: help needs none of the audit
        build_audit_job,
        list_rules,
        run_audit_once,
    )

    if arguments.rules:
        return list_rules(options, arguments)
    job = build_audit_job(options, arguments)
    if job.is_for_screen:
        return audit_screen.audit_on_screen(
            job.folder, job.loaded, options, **chosen, journal=arguments.journal, repo=job.repo, only=job.only,
            baseline=job.baseline, custom=job.custom,
        )  # fmt: skip
    if job.is_read_out and not options.quiet:
        output.print_message(_READ_OUT)
    if not arguments.watch:
        return run_audit_once(job)
    from memtui.cli.audit_watch import watch_audit  # noqa: PLC0415 - as above

    return watch_audit(job)


def _choose_for_screen(arguments: argparse.Namespace) -> dict[str, Any]:
    """What was chosen for the screen, as arguments of `audit_on_screen`."""
    names = ("review", "reviewer", "since", "watch")
    return {name: value for name in names if (value := getattr(arguments, name)) not in (None, False)}


AUDIT_VERB = Verb("audit", add_audit_options, run_audit_verb, keeps_rights=True)
