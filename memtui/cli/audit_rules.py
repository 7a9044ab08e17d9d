"""`memtui audit --rules`: every rule there is, why it is there, and what it finds."""

import argparse
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

from memtui.audit.choosing import names, word_for
from memtui.audit.rules import RULES
from memtui.cli import output, places
from memtui.cli.audit_job import only_of
from memtui.cli.configured import configured
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options
from memtui.core.visible import one_line

if TYPE_CHECKING:
    from memtui.audit.rule import Rule

_WIDTH = 96
_INDENT = " " * 6


def listed(options: Options, arguments: argparse.Namespace) -> int:
    """Print the rules, all or those that are named, as they are set here."""
    for option, is_given in (
        (f"--format {arguments.format}", arguments.format not in (None, "text", "json")),
        ("-o", arguments.output is not None),
        ("--watch", arguments.watch),
        ("--write-baseline", arguments.write_baseline is not None),
    ):
        if is_given:
            why = "the rules are listed as text or, with --json, as JSON, and nothing is audited. Leave out one."
            raise Failure(Exit.USAGE, f"memtui audit: --rules and {option} do not go together: {why}")
    only = only_of(arguments)
    given = places.named(options, arguments.folder)
    words = configured(options, given).config.audit.rules
    shown = [rule for rule in RULES.values() if only is None or any(names(name, rule) for name in only)]
    if options.json or arguments.format == "json":
        output.document({"schema": output.SCHEMA, "rules": [_record(rule, word_for(rule.id, words)) for rule in shown]})
        return Exit.OK
    width = min(shutil.get_terminal_size().columns, _WIDTH) if output.is_terminal(sys.stdout) else _WIDTH
    family, said = "", ("", "")
    for rule in shown:
        if rule.family != family:
            output.line(f"{'' if not family else chr(10)}{rule.family}")
            family = rule.family
        _print(rule, word_for(rule.id, words), said, max(width, 40))
        said = (rule.why, rule.do)
    return Exit.OK


def _print(rule: "Rule", word: str, said: tuple[str, str], width: int) -> None:
    """Print a rule, without the reason and the advice if they were just said of the rule before."""
    severity, is_on = _as_set(rule, word)
    state = "" if is_on else "  (off)" if word == "off" else "  (off by default)"
    needs = f"  (needs {rule.needs})" if rule.needs else ""
    tuned = f"  (tuned by {', '.join(rule.settings)})" if rule.settings else ""
    head = f"  {severity:<4}  {rule.id}: {one_line(rule.title)}{state}{needs}{tuned}"
    for line in textwrap.wrap(head, width, subsequent_indent=_INDENT + "    "):
        output.line(line)
    for words in (rule.why, rule.do) if (rule.why, rule.do) != said else ():
        for line in textwrap.wrap(
            one_line(words), width, initial_indent=_INDENT + "  ", subsequent_indent=_INDENT + "  "
        ):
            output.line(line)
    for name, example in (("finds", rule.bad), ("passes", rule.good)):
        if example:
            output.line(f"  {_INDENT}{name:<6}  {_cut(one_line(example.strip()), width - len(_INDENT) - 10)}")


def _cut(example: str, most: int) -> str:
    return example if len(example) <= most else example[: most - 3] + "..."


def _as_set(rule: "Rule", word: str) -> tuple[str, bool]:
    """How much a rule's findings matter as it is set, and whether it is on."""
    if word in ("", "on", "off"):
        return rule.severity.value, word == "on" or (not word and rule.is_on)
    return word, True


def _record(rule: "Rule", word: str) -> dict[str, object]:
    severity, is_on = _as_set(rule, word)
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
    }
