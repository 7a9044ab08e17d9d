"""`memtui audit --ask-model`: a model's opinion on findings, asked by a process of its own after a person's yes."""

import argparse
from dataclasses import replace

from memtui.agents.opinion_askers import OpinionProcess
from memtui.agents.opinions import OpinionAnswers
from memtui.audit.model import Audit
from memtui.audit.opinions import DISAGREED, OpinionRequest, add_answers, describe_request, list_sent, prepare_request
from memtui.cli import output
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, show_progress_line
from memtui.cli.restore import confirm


def add_model_opinions(
    asker: OpinionProcess, audit: Audit, given: argparse.Namespace, options: Options
) -> tuple[Audit, ExitCode]:
    """The audit with opinions, and the exit code where they were to decide and some are missing."""
    request = prepare_request(audit, asker)
    if request.unsent and not _agree(request, asker, given, options):
        answers = OpinionAnswers(fault=DISAGREED)
    elif request.passages:
        with show_progress_line(quiet=options.quiet) as progress:
            report = progress or (lambda *_: None)
            answers = asker.ask(request.passages, lambda done, of: report("opinions", done, of))
    else:
        answers = OpinionAnswers()
    audit = add_answers(audit, request, answers, decides=given.model_decides)
    if answers.fault and not options.quiet:
        output.print_message(audit.opinions)
    is_undecided = given.model_decides and bool(answers.fault)
    audit = replace(audit, neutral=(*audit.neutral, asker.confinement))
    return audit, ExitCode.API if is_undecided else ExitCode.OK


def _agree(request: OpinionRequest, asker: OpinionProcess, given: argparse.Namespace, options: Options) -> bool:
    """Say what would be sent, and ask whether it may be."""
    if not (given.yes and options.quiet):
        output.print_message(describe_request(request, asker))
    return given.yes or confirm("Send this?", "Nothing was sent", list_sent(request))
