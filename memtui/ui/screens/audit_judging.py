"""What a reviewer says of changes: accepted, flagged, noted, taken back; and the end of a review."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from textual import work

from memtui.audit.inbox import ChangedFile, ChangedHunk, Mark, Verdict
from memtui.core.errors import Closed, MemtuiError
from memtui.core.visible import one_line
from memtui.ui import said_keys, wording
from memtui.ui.audit import change_listing
from memtui.ui.audit.change_listing import FileRow, RunRow, files_of
from memtui.ui.audit.pages import names
from memtui.ui.screens.ask import AskScreen, PromptScreen
from memtui.ui.screens.audit_looking import AuditLooking
from memtui.ui.screens.menu import Choice, MenuScreen
from memtui.ui.text import fit_middle

_WORDS = {Verdict.ACCEPT: "Accepted", Verdict.FLAG: "Flagged", Verdict.NOTE: "Noted on"}
NO_CHANGE = "Only changes are reviewed. 3 goes to them."
_SHORTEST = 8
"""Cells that a file's name has in a question at least."""


@dataclass(frozen=True, slots=True)
class _Saying:
    """What is being said, over exactly what was shown when the key was pressed.

    Attributes:
        files: Of which files.
        verdict: What.
        what: How they are called in a sentence.
        hunk: Only of this hunk.
        words: What was written to it.
    """

    files: Sequence[ChangedFile]
    verdict: Verdict
    what: str
    hunk: ChangedHunk | None = None
    words: str = ""


class AuditJudging(AuditLooking):
    """Writes down what the reviewer says, one thing after the other."""

    def action_accept(self) -> None:
        """The file under the cursor is in order; of a run, all of its files."""
        self._judge_row(Verdict.ACCEPT)

    def action_flag(self) -> None:
        """The file under the cursor is not in order."""
        self._judge_row(Verdict.FLAG)

    def action_note(self) -> None:
        """Write something beside the file under the cursor."""
        self._judge_row(Verdict.NOTE)

    def action_accept_hunk(self) -> None:
        """The hunk that the person is at is in order."""
        self._judge_hunk(Verdict.ACCEPT)

    def action_flag_hunk(self) -> None:
        """The hunk that the person is at is not in order."""
        self._judge_hunk(Verdict.FLAG)

    def action_note_hunk(self) -> None:
        """Write something beside the hunk that the person is at."""
        self._judge_hunk(Verdict.NOTE)

    def _judge_row(self, verdict: Verdict) -> None:
        row = self.changes.here if self._on_changes else None
        files = files_of(row) if row is not None else ()
        if not files:
            self.message.say(NO_CHANGE)
            return
        what = wording.files(len(files)) if isinstance(row, RunRow) else one_line(files[0].path)
        said = _Saying(files, verdict, what)
        if verdict is Verdict.ACCEPT:
            self._go_on(said)  # at once: the next key may be on its way, and means the next file
            self._write_down(said)
        else:
            self._ask_why(said)

    def _judge_hunk(self, verdict: Verdict) -> None:
        file, hunk = self.file, self.hunk
        if file is None:
            self.message.say(NO_CHANGE)
            return
        if hunk is None:
            self.message.say("There is no hunk here. Space and F speak of the whole file.")
            return
        number, _ = self.diff.position
        said = _Saying((file,), verdict, f"hunk {number} of {one_line(file.path)}", hunk)
        if verdict is Verdict.ACCEPT:
            self._go_on(said)
            self._write_down(said)
        else:
            self._ask_why(said)

    @work(exclusive=True, group="ask")
    async def _ask_why(self, said: "_Saying") -> None:
        if said.verdict is Verdict.NOTE:
            question, hint = "Note on", "Enter writes it into the review file. Esc leaves it."
        else:
            question, hint = "Flag", "Why, if you like. Enter flags it, Esc leaves it."
        name = fit_middle(said.what, max(self.size.width // 2 - len(question), _SHORTEST))
        words = await self.app.push_screen_wait(PromptScreen(f"{question} {name}:", hint))
        if words is None or (said.verdict is Verdict.NOTE and not words):
            return
        if said.verdict is Verdict.FLAG:
            self._go_on(said)
        self._write_down(replace(said, words=words))

    @work(group="judge")
    async def _write_down(self, said: "_Saying") -> None:
        async with self._changing:
            judge = partial(self._inspection.judge, said.files, said.verdict, hunk=said.hunk, words=said.words)
            try:
                marks = await asyncio.to_thread(judge)
            except Closed:
                return
            except (MemtuiError, OSError) as error:
                self.message.say(str(error), warning=True)
                if len(said.files) == 1:
                    self.changes.go_to(said.files[0].path)
                return
            self._take_marks(marks, said.hunk)
        self._tell_marked(said.verdict, said.what)

    def _take_marks(self, marks: Sequence[Mark], hunk: ChangedHunk | None) -> None:
        """What was written down is known here too, without looking at everything again."""
        inbox, shown = self._inbox, self._change
        if inbox is None:
            return
        of_files: dict[str, tuple[Mark, ...]] = {}
        for mark in marks:
            if not mark.hunk:
                of_files[mark.path] = (*of_files.get(mark.path, ()), mark)
            elif shown is not None and hunk is not None and shown.file.path == mark.path:
                hunks = (
                    replace(each, marks=(*each.marks, mark)) if each.fingerprint == hunk.fingerprint else each
                    for each in shown.comparison.hunks
                )
                shown.comparison = replace(shown.comparison, hunks=tuple(hunks))
        files = tuple(
            replace(each, marks=(*each.marks, *of_files[each.path])) if each.path in of_files else each
            for each in inbox.files
        )
        self._inbox = replace(inbox, files=files, marks=(*inbox.marks, *marks))
        self.show_changes()
        if self._on_changes:
            self.show_detail(keep_place=True)

    def _tell_marked(self, verdict: Verdict, what: str) -> None:
        total = len(self._inbox.files) if self._inbox else 0
        words = f"{_WORDS[verdict]} {what}. {total - self._left:,} of {total:,} changed files reviewed."
        self.message.say(words, hint="" if self._left else f"{said_keys.said('audit.done', 'D')} ends the review")

    def _go_on(self, said: "_Saying") -> None:
        """To what comes next: the next hunk, or the next row."""
        if said.hunk is None:
            self.changes.action_down()
            return
        number, total = self.diff.position
        if number < total:
            self.diff.action_hunk(1)

    # Taking back

    @work(exclusive=True, group="revert")
    async def action_revert(self) -> None:
        """Take back the hunk, or all that happened to the file; asked first, and undoable."""
        file, hunk = self.file, self.hunk
        if not self._inspection.reverts or self._observer is None:
            self.message.say(self.why_read_only, warning=True)
            return
        if file is None:
            self.message.say(NO_CHANGE if not self._on_changes else "Choose one file: Enter shows those of the run.")
            return
        choices = []
        number, total = self.diff.position
        if hunk is not None and total > 1:
            choices.append(Choice("h", f"this hunk, {number} of {total}", "hunk"))
        what = {"+": "it goes", "-": "it comes back", ">": "it has its old name again"}.get(file.sign, "as it was then")
        choices.append(Choice("f", f"the whole file: {what}", "file"))
        choices.append(Choice("n", "nothing: leave it as it is", ""))
        chosen = await self.app.push_screen_wait(MenuScreen(f"Take back in {file.path}", choices))
        if not chosen:
            return
        taken = hunk if chosen == "hunk" else None
        async with self._changing:
            try:
                restored = await asyncio.to_thread(self._inspection.revert, self._engine, file, taken)
                if restored.event is not None and not restored.problem:
                    await asyncio.to_thread(partial(self._inspection.judge, [file], Verdict.REVERTED, hunk=taken))
            except Closed:
                return
            except (MemtuiError, OSError) as error:
                self.message.say(str(error), warning=True)
                return
        if restored.event is None or restored.problem:
            words = restored.problem or f"{one_line(file.path)} is as it was already. Nothing was changed."
            self.message.say(words, warning=True)
            self.look_again(keep_words=True)  # what is shown is not how it is
            return
        self._done = restored.event.seq
        part = f"Took back hunk {number} in" if taken is not None else "Took back all changes of"
        self.message.say(f"{part} {one_line(file.path)}. {said_keys.undo()} undoes that.", held=5.0)
        self.look_again(keep_words=True)

    # The end

    @work(exclusive=True, group="done")
    async def action_done(self) -> None:
        """End the review, once it is clear what nobody has looked at."""
        inbox = self._inbox
        if inbox is None:
            self.message.say("What changed is not known yet.")
            return
        left = change_listing.unreviewed(inbox.files)
        words = "All changes are reviewed." if inbox.files else "Nothing changed since the last one."
        if left:
            verb = "is" if len(left) == 1 else "are"
            paths = names([each.path for each in left])
            words = f"{len(left):,} of {len(inbox.files):,} changed files {verb} not reviewed: {paths}."
        calm = "The next review starts from here. Enter, Esc or n: the review goes on."
        if not await self.app.push_screen_wait(AskScreen(f"End the review? {words}", calm)):
            return
        async with self._changing:
            try:
                mark = await asyncio.to_thread(self._inspection.finish, inbox)
            except Closed:
                return
            except (MemtuiError, OSError) as error:
                self.message.say(str(error), warning=True)
                return
        at = time.strftime("%H:%M:%S", time.localtime(mark.at_us / 1e6))
        place = one_line(self._inspection.review_place)
        self.message.say(f"The review ended at {at}, at event #{mark.seq}. It is written in {place}.", held=5.0)
        self.look_again(keep_words=True)

    def action_next_change(self) -> None:
        """To the next file of which nobody has said anything."""
        inbox = self._inbox
        left = change_listing.unreviewed(inbox.files) if inbox else []
        here = self.changes.here
        paths = [each.path for each in left]
        at = here.file.path if isinstance(here, FileRow) else ""
        if not left:
            self.message.say("All changes are reviewed." if inbox and inbox.files else "Nothing to review.")
            return
        start = paths.index(at) + 1 if at in paths else 0
        target = left[start % len(left)]
        if target.run is not None and inbox is not None:
            self._opened.update(run.first for run in inbox.runs if run.number == target.run)
            self.show_lists()
        self.go_to_list(on_changes=True)
        self.focus_list()
        if not self.changes.go_to(target.path):
            self.message.say(f"{one_line(target.path)} is not reviewed, and is not listed with these words.")
