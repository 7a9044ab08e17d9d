"""`memtui audit --ask-model`: a model's opinion on findings, asked by a process of its own after a person's yes.

The audit can make no connection. So a process is forked before it gives that up: it gets passages of notes from the
audit, can connect, and can write nothing but its cache. See `memtui.agents.opinions`.
"""

import argparse
import contextlib
import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Self

from memtui.agents.chat.client import find_profile_directory
from memtui.agents.chat.events import ChatOptions
from memtui.agents.opinions import OpinionAnswers, OpinionCache, ask_opinions
from memtui.audit.model import Audit, Opinion
from memtui.audit.opinions import MOST_CANDIDATES, add_opinions, describe_candidates, find_candidates, format_opinions
from memtui.cli import output
from memtui.cli.output import ExitCode, show_progress_line
from memtui.cli.parsing import Options
from memtui.cli.restore import confirm
from memtui.config.settings import Provider
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.fs.landlock import restrict_writes
from memtui.fs.state import get_cache_home, make_private_directory

_FILE = "opinions.json"
_DISAGREED = "You did not agree. Nothing was sent."
_ENDED = "The process that asks ended before it was done."


class OpinionHelper:
    """The process that asks. It begins before this one has other threads or gives up its rights.

    Args:
        folder: The memory folder, in which it can write nothing.
        model: `None` for the newest.
        alone: Whether each passage is judged by itself.
        keeps: Whether opinions are kept for the next time.
    """

    def __init__(self, folder: str, *, model: str | None, provider: Provider, alone: bool, keeps: bool) -> None:
        self._chat = ChatOptions(model=model, provider=provider)
        self._alone = alone
        self._cache = _make_cache_file(folder) if keeps else None
        writable = [find_profile_directory(), *([os.fspath(self._cache.parent)] if self._cache is not None else [])]
        forking = get_context("fork")
        self._pipe, theirs = forking.Pipe()
        apart = [place for place in writable if _is_apart(place, folder)]
        words = (theirs, self._pipe, self._chat, alone, self._cache, apart)
        self._process = forking.Process(target=_serve, args=words, daemon=True)
        self._process.start()
        theirs.close()
        self._confinement = _describe_confinement(self._receive().get("landlock", 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pipe.close()
        self._process.terminate()
        self._process.join()

    def ask(self, audit: Audit, given: argparse.Namespace, options: Options) -> tuple[Audit, ExitCode]:
        """The audit with opinions, and the exit code where they were to decide and some are missing."""
        found = find_candidates(audit)
        candidates = found[:MOST_CANDIDATES]
        passages = list(describe_candidates(audit, candidates))
        answers = OpinionAnswers()
        if passages and not self._agree(passages, given, options):
            answers.fault = _DISAGREED
        elif passages:
            with show_progress_line(quiet=options.quiet) as progress:
                answers = self._ask(passages, progress)
        opinions = {
            number: Opinion(verdict, reason, answers.model) for number, (verdict, reason) in answers.opinions.items()
        }
        left_out = len(found) - len(candidates)
        words = format_opinions(to_one_line(answers.model), opinions, left_out=left_out, fault=answers.fault)
        if answers.fault and not options.quiet:
            output.print_message(words)
        audit = add_opinions(audit, candidates, opinions, decides=given.model_decides)
        is_undecided = given.model_decides and bool(answers.fault)
        audit = replace(audit, opinions=words, neutral=(*audit.neutral, self._confinement))
        return audit, ExitCode.API if is_undecided else ExitCode.OK

    def _agree(self, passages: Sequence[Mapping[str, str]], given: argparse.Namespace, options: Options) -> bool:
        """Say what would be sent, and ask whether it may be."""
        model = self._chat.model
        known = OpinionCache(self._cache).find(passages, model, alone=self._alone) if model else {}
        sent = [passage for number, passage in enumerate(passages) if number not in known]
        if not sent:
            return True
        size = sum(len(value) for passage in sent for value in passage.values())
        most = "" if model else "at most "
        where = f"{to_one_line(model or 'the newest model')} of {self._chat.provider}"
        if not (given.yes and options.quiet):
            output.print_message(
                f"To be sent to {where}: {most}{format_count(len(sent), 'passage')} of notes, {size:,} characters, "
                "with secrets masked and without names of files."
            )
        return given.yes or confirm("Send this?", "Nothing was sent")

    def _ask(
        self, passages: Sequence[Mapping[str, str]], progress: Callable[[str, int, int], None] | None
    ) -> OpinionAnswers:
        with contextlib.suppress(OSError):  # an end is noticed below
            self._pipe.send_bytes(json.dumps(passages).encode())
        while "done" in (told := self._receive()):
            if progress is not None:
                progress("opinions", told["done"], told["of"])
        opinions = {number: (verdict, reason) for number, verdict, reason in told.get("opinions", ())}
        return OpinionAnswers(told.get("model", ""), opinions, told.get("fault", _ENDED))

    def _receive(self) -> dict[str, Any]:
        """What the process says next; empty if it has ended."""
        try:
            told: dict[str, Any] = json.loads(self._pipe.recv_bytes())
        except (EOFError, OSError):
            return {}
        return told


def _describe_confinement(landlock: int) -> str:
    rights = "the kernel lets it write nothing but memtui's cache and the credentials of the SDK"
    enforced = f"{rights} (Landlock {landlock})" if landlock else "the kernel does not confine it"
    return f"Another process asks the model, and can connect: {enforced}."


def _make_cache_file(folder: str) -> Path | None:
    """The file of the cache, in a directory that is there; `None` where it can be made only in reach of an agent."""
    directory = get_cache_home()
    if not _is_apart(os.fspath(directory), folder):
        return None
    try:
        make_private_directory(directory)
    except OSError:
        return None
    return directory / _FILE


def _is_apart(place: str, folder: str) -> bool:
    """Whether neither of two directories is in the other."""
    place = os.path.realpath(place)
    return os.path.commonpath((place, folder)) not in (place, folder)


# The process that asks.


def _serve(
    pipe: Any, other_end: Any, options: ChatOptions, alone: bool, cache_file: Path | None, writable: list[str]
) -> None:
    """Ask about what comes once, and end; or end with the parent."""
    other_end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent judges what comes of it
    version = restrict_writes(but=writable, network=True).version

    def send(words: Mapping[str, object]) -> None:
        pipe.send_bytes(json.dumps(words).encode())

    with contextlib.suppress(EOFError, BrokenPipeError):  # the parent has ended
        send({"landlock": version})
        passages = json.loads(pipe.recv_bytes())
        cache = OpinionCache(cache_file)
        answers = ask_opinions(
            passages, options, cache, alone=alone, progress=lambda done, of: send({"done": done, "of": of})
        )
        with contextlib.suppress(OSError):  # what is not kept is asked again
            cache.write()
        opinions = [[number, *opinion] for number, opinion in sorted(answers.opinions.items())]
        send({"model": answers.model, "opinions": opinions, "fault": answers.fault})
