"""The proposals in Gemini CLI's inbox, asked about like changes of an agent that waits.

What is allowed is written, and the patch goes when all of its files are decided, as after `/memory inbox`.
"""

import math
import threading
from collections.abc import Callable, Iterable
from functools import partial

from memtui.agents.gate import ApprovalGate
from memtui.agents.remote_approval import ApprovalQuestion
from memtui.core.approvals import Allow, ApprovalPolicy, Deny, Edit, Proposal, Verdict
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.events import Agent, Event, Person
from memtui.core.paths import MemoryPath
from memtui.core.unicode import to_one_line
from memtui.engine import Engine
from memtui.places.gemini_inbox import INBOX, ProposedPatch, build_pointer, read_proposals

GEMINI, _DIALECT = Agent("Gemini CLI"), "gemini"
_INDEX = "MEMORY.md"


class InboxQuestions:
    """Asks about the proposals of one folder, each once. Blocking: `ask` is called from a worker.

    Args:
        engine: The open memory.
        asked: Takes a question, from any thread.
        failed: Takes what went wrong, as a sentence, from any thread.
    """

    def __init__(
        self, engine: Engine, asked: Callable[[ApprovalQuestion], object], failed: Callable[[str], object]
    ) -> None:
        self._engine = engine
        self._asked = asked
        self._failed = failed
        self._gate = ApprovalGate(engine, policy=ApprovalPolicy.ASK)
        self._lock = threading.Lock()
        self._left: dict[str, int] = {}
        """How many files of each patch are not decided yet."""
        self._problems: dict[str, str] = {}
        self._added: dict[str, list[str]] = {}
        """The new notes of each patch that were allowed."""

    def concerns(self, events: Iterable[Event]) -> bool:
        """Whether events changed the inbox."""
        return any(change.path.startswith(f"{INBOX}/") for event in events for change in event.changes)

    @property
    def is_needed(self) -> bool:
        """Whether the folder is one in which Gemini CLI proposes."""
        return self._engine.dialect.name == _DIALECT and bool(self._engine.store.path)

    def ask(self) -> None:
        """Ask about the patches that are new."""
        try:
            self._ask_about_new()
        except MemoryClosed:
            raise
        except (MemtuiError, OSError) as error:
            self._failed(to_one_line(f"The proposals of Gemini CLI cannot be read: {error}"))

    def _ask_about_new(self) -> None:
        for patch in read_proposals(self._engine.store.path or "") if self.is_needed else ():
            if patch.path in self._left:
                continue
            if patch.problem:
                self._report_problem(patch)
                continue
            self._left[patch.path], self._added[patch.path] = len(patch.files), []
            self._ask_about_files(patch)

    def _report_problem(self, patch: ProposedPatch) -> None:
        """Report once that a patch cannot be applied. The next time it may be written whole, or fit."""
        if self._problems.get(patch.path) != patch.problem:
            self._problems[patch.path] = patch.problem
            words = f"A proposal of Gemini CLI in {patch.path} cannot be applied: {patch.problem}."
            self._failed(to_one_line(words))

    def _ask_about_files(self, patch: ProposedPatch) -> None:
        for each in patch.files:
            command = {"command": "create", "path": str(MemoryPath.from_relative(each.path)), "file_text": each.text}
            proposal = self._engine.propose(command, actor=GEMINI)
            if proposal is not None:
                self._ask_about(patch, proposal, each.path if each.is_new else "")
            else:
                self._settle(patch, "")  # it is so already, or the engine refuses it

    def _ask_about(self, patch: ProposedPatch, proposal: Proposal, new: str) -> None:
        self._asked(ApprovalQuestion(proposal, math.inf, partial(self._answer, patch, proposal, new)))

    def _answer(self, patch: ProposedPatch, proposal: Proposal, new: str, verdict: Verdict) -> bool:
        """Carry out an answer in a thread of its own: the one that asks may be that of a screen."""
        if not isinstance(verdict, Allow | Deny | Edit):
            return False
        work = partial(self._carry_out, patch, proposal, new, verdict)
        threading.Thread(target=work, name="memtui-inbox", daemon=True).start()
        return True

    def _carry_out(self, patch: ProposedPatch, proposal: Proposal, new: str, verdict: Verdict) -> None:
        try:
            done = self._gate.finish(proposal, self._gate.accept_verdict(proposal, verdict))
            if isinstance(done, Proposal):  # the note has changed meanwhile
                self._ask_about(patch, done, new)
            else:
                self._settle(patch, "" if isinstance(verdict, Deny) or done.is_error else new)
        except MemoryClosed:
            return
        except (MemtuiError, OSError) as error:
            self._failed(to_one_line(f"The proposal was not carried out: {error}"))

    def _settle(self, patch: ProposedPatch, new: str) -> None:
        """One file of a patch is decided; with the last one the patch goes."""
        with self._lock:
            self._left[patch.path] -= 1
            self._added[patch.path] += [new] if new else []
            if self._left[patch.path]:
                return
        for path in self._added[patch.path]:
            self._add_pointer(path)
        self._engine.execute({"command": "delete", "path": str(MemoryPath.from_relative(patch.path))}, actor=Person())

    def _add_pointer(self, path: str) -> None:
        """Name a new note in the index, as Gemini CLI does: it finds no others."""
        data = self._engine.inspect_path(_INDEX).data
        text = build_pointer(
            self._engine.store.path or "", path, None if data is None else data.decode("utf-8", "replace")
        )
        if text is not None:
            command = {"command": "create", "path": str(MemoryPath.from_relative(_INDEX)), "file_text": text}
            self._engine.execute(command, actor=GEMINI)
