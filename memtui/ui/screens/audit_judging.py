"""What a reviewer says of changes: accepted, flagged, noted, taken back; and the end of a review."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
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
from memtui.ui.screens.audit_showing import AuditShowing
from memtui.ui.screens.menu import Choice, MenuScreen

_WORDS = {Verdict.ACCEPT: "Accepted", Verdict.FLAG: "Flagged", Verdict.NOTE: "Noted on"}
NO_CHANGE = "Only changes are reviewed. 3 goes to them."


class AuditJudging(AuditShowing):
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
        if row is None or not files_of(row):
            self.message.say(NO_CHANGE)
        else:
            self._judge(files_of(row), verdict, None, of_run=isinstance(row, RunRow))

    def _judge_hunk(self, verdict: Verdict) -> None:
        file, hunk = self.file, self.hunk
        if file is None:
            self.message.say(NO_CHANGE)
        elif hunk is None:
            self.message.say("There is no hunk here. Space and F speak of the whole file.")
        else:
            self._judge((file,), verdict, hunk, of_run=False)

    @work(group="judge")
    async def _judge(
        self, files: Sequence[ChangedFile], verdict: Verdict, hunk: ChangedHunk | None, *, of_run: bool
    ) -> None:
        what = f"{one_line(files[0].path)}" if not of_run else wording.files(len(files))
        words: str | None = ""
        if hunk is not None:
            number, _ = self.diff.position
            what = f"hunk {number} of {what}"
        if verdict is not Verdict.ACCEPT:
            question = "Note on" if verdict is Verdict.NOTE else "Flag"
            hint = "Enter writes it into the review file. Esc leaves it."
            if verdict is Verdict.FLAG:
                hint = "Why, if you like. Enter flags it, Esc leaves it."
            words = await self.app.push_screen_wait(PromptScreen(f"{question} {what}:", hint))
            if words is None or (verdict is Verdict.NOTE and not words):
                return
        async with self._changing:
            for file in files:
                try:
                    judged = partial(self._inspection.judge, file, verdict, hunk=hunk, words=words or "")
                    marks = await asyncio.to_thread(judged)
                except Closed:
                    return
                except (MemtuiError, OSError) as error:
                    self.message.say(str(error), warning=True)
                    return
                for mark in marks:
                    self._take_mark(file, hunk if mark.hunk else None, mark)
        self._tell_marked(verdict, what)
        if verdict is not Verdict.NOTE:
            self._go_on(hunk)

    def _take_mark(self, file: ChangedFile, hunk: ChangedHunk | None, mark: Mark) -> None:
        """What was written down is known here too, without looking at everything again."""
        inbox, shown = self._inbox, self._change
        if inbox is None:
            return
        marks = (*inbox.marks, mark)
        if hunk is None:
            files = tuple(
                replace(each, marks=(*each.marks, mark)) if each.path == file.path else each for each in inbox.files
            )
            self._inbox = replace(inbox, files=files, marks=marks)
        else:
            self._inbox = replace(inbox, marks=marks)
            if shown is not None and shown.file.path == file.path:
                shown.comparison = replace(
                    shown.comparison,
                    hunks=tuple(
                        replace(each, marks=(*each.marks, mark)) if each.fingerprint == hunk.fingerprint else each
                        for each in shown.comparison.hunks
                    ),
                )
        self.show_lists()
        self.show_detail(keep_place=True)

    def _tell_marked(self, verdict: Verdict, what: str) -> None:
        files = self._inbox.files if self._inbox else ()
        done = len(files) - len(change_listing.unreviewed(files))
        words = f"{_WORDS[verdict]} {what}. {done:,} of {len(files):,} changed files reviewed."
        self.message.say(
            words, hint=f"{said_keys.said('audit.done', 'D')} ends the review" if done == len(files) else ""
        )

    def _go_on(self, hunk: ChangedHunk | None) -> None:
        """To what comes next: the next hunk, or the next row."""
        if hunk is None:
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
                    await asyncio.to_thread(partial(self._inspection.judge, file, Verdict.REVERTED, hunk=taken))
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

    def look_again(self, *, keep_words: bool = False) -> None:
        """Look at everything once more."""
        raise NotImplementedError  # the screen knows how

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
        self.changes.go_to(target.path)
