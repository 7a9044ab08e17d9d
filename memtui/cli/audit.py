"""`memtui audit`: what is wrong in a memory folder, found without changing it; for a person, and for a pipeline."""

import argparse

from memtui.cli.verb import Options, Parser, Verb

_FORMATS = ("text", "json", "md", "sarif", "html")
_LEVELS = ("fail", "warn", "never")
_READ_OUT = (
    "The audit is told as text. Review with: memtui review accept PATH, memtui review flag PATH, memtui review done."
)


def _arguments(parser: Parser) -> None:
    parser.add_argument("folder", metavar="DIR", nargs="?", help="the memory folder")
    parser.add_argument("--format", metavar="FORMAT", choices=_FORMATS, help=", ".join(_FORMATS))
    parser.add_argument("-o", "--output", metavar="FILE", help="a new file outside the folder; --force replaces it")
    parser.add_argument("--since", metavar="WHEN", help="tell changes, too: since last, 41, 2026-11-20, 2h")
    parser.add_argument(
        "--fail-on", metavar="LEVEL", choices=_LEVELS, default="fail", help="exit with 1 from fail, warn or never on"
    )
    parser.add_argument(
        "--baseline", metavar="FILE", help="what stands in it does not count; --write-baseline makes it"
    )
    parser.add_argument("--repo", metavar="DIR", help="compare what notes claim with this repository")
    parser.add_argument(
        "--only", metavar="RULE", action="append", help="only these rules, patterns of rules, or families"
    )
    parser.add_argument("--rules", action="store_true", help="list the rules, with examples")
    parser.add_argument("--watch", action="store_true", help="look again when something changes")
    parser.add_argument("--write-baseline", metavar="FILE")
    parser.add_argument("--review", metavar="FILE")
    parser.add_argument("--reviewer", metavar="NAME")
    parser.add_argument("--journal", metavar="FILE")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--force", action="store_true")


def _run(options: Options, arguments: argparse.Namespace) -> int:
    if arguments.rules:
        from memtui.cli.audit_rules import listed  # for start-up cost: help needs none of it, and so for all below

        return listed(options, arguments)
    from memtui.cli.audit_job import job_of

    job = job_of(options, arguments)
    if job.is_for_screen:
        from memtui.ui.audit_app import audit_screen

        return audit_screen(
            job.folder,
            state=options.state,
            journal=arguments.journal,
            loaded=job.loaded,
            review=arguments.review,
            reviewer=arguments.reviewer or "",
            since=arguments.since or "last",
            repo=job.repo,
            only=job.only,
            baseline=job.baseline,
            watch=arguments.watch,
        )
    from memtui.cli.audit_run import once, watched

    if job.is_read_out and not options.quiet:
        from memtui.cli import output

        output.message(_READ_OUT)

    return watched(job) if arguments.watch else once(job)


VERB = Verb(
    "audit",
    "find what is wrong, read-only",
    (
        ("memtui audit ~/app/memories", "look and review, on a screen"),
        ("memtui audit --format sarif -o memory.sarif", "a report for a pipeline"),
    ),
    _arguments,
    _run,
    ("Nothing is changed. Exit: 0 nothing from LEVEL on, 1 findings, 3 no folder.",),
    keeps_rights=True,
)
