"""What a command line asks an audit to do: judged, and with all read that is read besides the folder."""

import argparse
import os
import stat
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.audit.baselines import NoBaseline, fingerprints
from memtui.audit.findings import Family, Severity
from memtui.audit.rules import RULES
from memtui.audit.settled import is_known, problems_of_rules
from memtui.cli import output, places
from memtui.cli.configured import configured
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options
from memtui.config.nearest import nearest
from memtui.places import short

if TYPE_CHECKING:
    from memtui.config import Loaded

_MOST_OF_A_BASELINE = 64_000_000


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done.

    Attributes:
        options: The options that all verbs take.
        arguments: Those of this one.
        folder: The memory folder, with links resolved.
        loaded: The settings.
        format: One of those there are.
        only: Rules that were asked for; `None` for all.
        repo: The repository that notes are compared with.
        baseline: Fingerprints that do not count; `None` if none was given, and one may well be empty.
        fail_on: From which severity on the exit code is 1; `None` for never.
    """

    options: Options
    arguments: argparse.Namespace
    folder: str
    loaded: "Loaded"
    format: str
    only: tuple[str, ...] | None
    repo: str | None
    baseline: frozenset[str] | None
    fail_on: Severity | None

    @property
    def title(self) -> str:
        """The folder as a person writes it."""
        return short(self.folder)

    @property
    def is_for_screen(self) -> bool:
        """Whether a person looks, who asked for no report."""
        can_draw = output.is_terminal(sys.stdout) and os.environ.get("TERM", "") not in ("", "dumb")
        can_ask = output.is_terminal(sys.stdin) and not self.loaded.config.ui.screen_reader
        return not self._asks_for_report and can_draw and can_ask

    @property
    def is_read_out(self) -> bool:
        """Whether a person would have had the screen, but for her screen reader."""
        has_reader = self.loaded.config.ui.screen_reader
        return not self._asks_for_report and has_reader and output.is_terminal(sys.stdout)

    @property
    def _asks_for_report(self) -> bool:
        given = self.arguments
        return bool(given.format or given.output or given.write_baseline or self.options.json)


def job_of(options: Options, arguments: argparse.Namespace) -> Job:
    """Judge the words, and read all that is read besides the folder."""
    if options.json and arguments.format not in (None, "json"):
        raise Failure(
            Exit.USAGE, f"memtui audit: --json and --format {arguments.format} do not go together. Leave out one."
        )
    for name in ("output", "baseline", "write_baseline", "repo", "journal", "review", "reviewer", "since"):
        if getattr(arguments, name) == "":
            option = "-o" if name == "output" else f"--{name.replace('_', '-')}"
            raise Failure(Exit.USAGE, f"memtui audit: what follows {option} is empty. Nothing was audited.")
    only = only_of(arguments)
    format = "json" if options.json else arguments.format or "text"
    if arguments.watch:
        _judge_watching(arguments, format)
    wants_both = options.json or arguments.format is not None
    if arguments.write_baseline == "-" and wants_both and arguments.output in (None, "-"):
        words = "the baseline and the report cannot both be printed. Name a file for one of them. Nothing was audited."
        raise Failure(Exit.USAGE, f"memtui audit: {words}")
    folder = places.folder(options, arguments.folder)
    loaded = configured(options, folder)
    for problem in () if options.quiet else (*loaded.problems, *problems_of_rules(loaded)):
        output.message(problem.sentence)
    return Job(
        options,
        arguments,
        folder,
        loaded,
        format,
        only,
        _repository(arguments.repo),
        _baseline(arguments.baseline, folder),
        None if arguments.fail_on == "never" else Severity(arguments.fail_on),
    )


def only_of(arguments: argparse.Namespace) -> tuple[str, ...] | None:
    """The rules, patterns of rules and families that were asked for; `None` for all.

    Raises:
        Failure: There is no such rule.
    """
    only = tuple(name.strip() for given in arguments.only or () for name in given.split(",") if name.strip()) or None
    if arguments.only and only is None:
        raise Failure(Exit.USAGE, "memtui audit: what follows --only is empty. Nothing was audited.")
    for name in only or ():
        if not is_known(name) and name not in tuple(Family):
            near = nearest(name, (*Family, *RULES))
            hint = f"Did you mean {near}?" if near else "All there are: memtui audit --rules."
            raise Failure(Exit.USAGE, f"memtui audit: there is no rule and no family of rules '{name}'. {hint}")
    return only


def _judge_watching(arguments: argparse.Namespace, format: str) -> None:
    """Refuse what would make no sense when it is told again and again."""
    if arguments.write_baseline is not None:
        words = "with a baseline that grows by itself nothing would ever count. Leave out one."
        raise Failure(Exit.USAGE, f"memtui audit: --watch and --write-baseline do not go together: {words}")
    if format not in ("text", "json") and arguments.output in (None, "-"):
        words = f"what is printed again and again is no {format} file. Name a file: -o FILE"
        raise Failure(Exit.USAGE, f"memtui audit: --watch and --format {format}: {words}")


def _repository(given: str | None) -> str | None:
    if given is None:
        return None
    path = os.path.realpath(os.path.expanduser(given))
    if not os.path.isdir(path):
        raise Failure(Exit.MISSING, f"There is no folder {short(path)} to compare with. Nothing was audited.")
    return path


def _baseline(given: str | None, folder: str) -> frozenset[str] | None:
    if given is None:
        return None
    path = os.path.realpath(os.path.expanduser(given))
    if path == folder or path.startswith(folder.rstrip("/") + "/"):
        words = "is inside the memory folder, where an agent could say of what it wrote that it was there before."
        raise Failure(Exit.REFUSED, f"Refused: the baseline {short(path)} {words} Nothing was audited. Move it out.")
    try:
        data = _bytes_of(path)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise Failure(Exit.MISSING, f"{short(path)} cannot be read: {reason}. Nothing was audited.") from error
    if data is None:
        raise Failure(Exit.USAGE, f"{short(path)} is no regular file, so it is no baseline. Nothing was audited.")
    try:
        return fingerprints(data, short(path))
    except NoBaseline as error:
        raise Failure(Exit.USAGE, str(error)) from error


def _bytes_of(path: str) -> bytes | None:
    """What a file holds; `None` if it is no regular one. A FIFO is not waited for."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(fd, "rb") as file:
        return file.read(_MOST_OF_A_BASELINE + 1) if stat.S_ISREG(os.fstat(fd).st_mode) else None
