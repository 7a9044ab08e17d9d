"""The question whether a change may be made: the exact change, and a key for each answer.

It stands beside the memory, not over it: the person may look around before she answers. Nothing here is answered by
Enter, by what was being typed elsewhere, or in the moment in which the question appears under her hands.
"""

import time
from collections.abc import Callable
from typing import ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.css.query import NoMatches
from textual.events import Key
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from memtui.agents.chat.events import Asked
from memtui.core.asking import Allow, Deny, Edit, Verdict
from memtui.core.visible import HIDDEN
from memtui.ui.chat.proposed import Proposed, place, proposed
from memtui.ui.chat.question_parts import ProposalDiff, ProposedText, ReasonLine
from memtui.ui.diff.view import DiffView
from memtui.ui.external import NoEditor, edited
from memtui.ui.text import fit, fit_middle

GRACE_SECONDS = 0.5
"""For how long after a question came under the person's hands by itself no key of hers answers it."""
_LABELS = ("now", "proposed")


class QuestionView(Vertical):
    """One question at a time.

    Args:
        id: The widget's id in the DOM.
        clock: Seconds, for the moment in which no key answers.
        edit: Has a text edited in the person's own editor.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('yes')", "yes", id="question.yes", tooltip="Yes, write this"),
        Binding("n", "answer('no')", "no", id="question.no", tooltip="No; nothing is written"),
        Binding("r", "reason", "no, because", id="question.reason", tooltip="No, with a reason for the model"),
        Binding("e", "edit", "edit", id="question.edit", tooltip="Edit the text before it is written"),
        Binding("E", "outside", "$EDITOR", id="question.editor", tooltip="Edit it in $VISUAL or $EDITOR", show=False),
        Binding("a", "answer('below')", "always", id="question.always", tooltip="Yes, and do not ask here again"),
        Binding(
            "A", "answer('everywhere')", "always everywhere", id="question.everywhere",
            tooltip="Yes, and ask about nothing any more", show=False,
        ),
        Binding("escape", "stop", "stop", id="question.stop", tooltip="Stop the turn; nothing is written"),
    ]  # fmt: skip

    DEFAULT_CSS = """
    QuestionView {
        display: none; height: 1fr; border: round $warning; background: $background; padding: 0;
        border-title-color: $text-warning; border-title-style: bold; border-subtitle-color: $foreground;
        #question-remark { height: auto; max-height: 50%; padding: 0 1; color: $text-warning; display: none; }
        ProposalDiff { height: 1fr; border: none $foreground 35%; }
        ProposedText { height: 1fr; border: none; padding: 0 1; display: none; background: $background; }
        ProposedText:focus { border: none; }
        ReasonLine { display: none; height: 1; border: none; margin: 0 1; background: $panel; }
        ReasonLine > .input--placeholder { color: $foreground 80%; }
        #question-keys { height: auto; max-height: 3; padding: 0 1; background: $panel; }
        &.-editing ProposalDiff { display: none; }
        &.-editing ProposedText { display: block; }
        &.-reasoning ReasonLine { display: block; }
        &:focus-within { border: heavy $warning; }
    }
    """

    ASKER: ClassVar[str] = "Claude"
    """Who is told why not."""
    AWAY: ClassVar[str] = "stop"
    """What Esc does."""

    diff = getters.query_one(ProposalDiff)
    text = getters.query_one(ProposedText)
    reason = getters.query_one(ReasonLine)

    class Decided(Message):
        """The person has answered."""

        def __init__(self, asked: Asked, verdict: Verdict) -> None:
            """Tell how."""
            super().__init__()
            self.asked = asked
            self.verdict = verdict

    class StopWanted(Message):
        """She wants the turn to end."""

    class Remarked(Message):
        """Something is to be said on the message line."""

        def __init__(self, words: str, *, is_warning: bool = False) -> None:
            """Tell what."""
            super().__init__()
            self.words = words
            self.is_warning = is_warning

    def __init__(
        self, *, id: str | None = None, clock: Callable[[], float] = time.monotonic, edit: Callable[..., str] = edited
    ) -> None:
        super().__init__(id=id)
        self._clock = clock
        self._edit = edit
        self._armed_at = 0.0
        self._is_stale = False
        self._loaded = self._as_loaded = ""
        self.asked: Asked | None = None
        """What is asked; `None` for nothing."""
        self.shown: Proposed | None = None
        """What is shown of it; `None` while that is being worked out."""

    def compose(self) -> ComposeResult:
        """The remark, the change, a line for a reason, the keys."""
        yield Static(id="question-remark", markup=False)
        yield ProposalDiff(id="question-diff")
        yield ProposedText(
            id="question-text",
            tab_behavior="indent",
            soft_wrap=True,
            highlight_cursor_line=False,
            show_line_numbers=True,
        )
        yield ReasonLine(placeholder="Why not? Enter sends it to the model, Esc goes back", compact=True)
        yield Static(id="question-keys", markup=False)

    def on_mount(self) -> None:
        """A calm cursor."""
        self.text.cursor_blink = self.reason.cursor_blink = False

    # Attributes down

    def ask(self, asked: Asked) -> None:
        """Ask; what is shown is worked out in a thread."""
        self.asked, self.shown = asked, None
        self._leave_boxes()
        self.display = True
        self.border_title = Content(fit(f"{self.ASKER} asks", max(self.size.width - 4, 12)))
        self.border_subtitle = ""
        self.diff.show_notice("Comparing")
        self._say_remark("")
        proposal = asked.proposal
        change = proposal.edited
        start = proposal.draft if proposal.draft is not None else (proposal.text(change.after) if change else None)
        self._load(start or "")
        self._show_keys()
        self._work_out(asked)

    def clear(self) -> None:
        """Nothing is asked any more."""
        self.asked = self.shown = None
        self._leave_boxes()
        self.display = False

    def take_focus(self, *, by_itself: bool = False) -> None:
        """Give it the keys.

        Args:
            by_itself: Whether the person did not ask for that: keys that she is about to press are not answers.
        """
        if by_itself:
            self._armed_at = self._clock() + GRACE_SECONDS
        (
            self.text if self.has_class("-editing") else self.reason if self.has_class("-reasoning") else self.diff
        ).focus()

    @property
    def is_writing(self) -> bool:
        """Whether letters are letters: a text, or a reason, is being written."""
        return self.has_class("-editing") or self.has_class("-reasoning")

    @property
    def is_armed(self) -> bool:
        """Whether a key answers: there is a question, it is on screen, and it did not come a moment ago."""
        return self.asked is not None and self.shown is not None and self._clock() >= self._armed_at

    @work(thread=True, exclusive=True, group="question", exit_on_error=False)
    def _work_out(self, asked: Asked) -> None:
        shown = proposed(asked.proposal)
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._show, asked, shown)

    def _show(self, asked: Asked, shown: Proposed) -> None:
        if asked is not self.asked or not self.is_mounted:
            return
        self.shown = shown
        self._armed_at = max(self._armed_at, self._clock() + (GRACE_SECONDS / 2 if self.has_focus_within else 0))
        if shown.comparison is not None:
            self.diff.show(shown.comparison, _LABELS)
        else:
            self.diff.show_notice(shown.notice)
        self._entitle()
        self._show_keys()

    def on_resize(self) -> None:
        """The title and the keys as they fit."""
        self._entitle()
        self._show_keys()

    @on(DiffView.Moved)
    def _show_hunk(self) -> None:
        self._entitle()

    def _entitle(self) -> None:
        if self.shown is None:
            return
        width = max(self.size.width - 6, 10)
        title = fit_middle(self.shown.title, width)
        self.border_title = Content(title)
        whole = "" if title == self.shown.title else f"{self.shown.title}."
        self._say_remark("\n".join(filter(None, (self.shown.remark, whole))))
        number, total = self.diff.position
        comparison = self.shown.comparison
        if comparison is None:
            self.border_subtitle = ""
            return
        added, removed = comparison.difference.counts
        hunks = f"[ ] hunk {number:,}/{total:,}  " if total > 1 else ""
        self.border_subtitle = Content.assemble(
            hunks, (f"+{added:,}", "$text-success"), " ", (f"-{removed:,}", "$text-error")
        )

    def _say_remark(self, words: str) -> None:
        remark = self.query_one("#question-remark", Static)
        remark.display = bool(words)
        remark.update(Content(words))

    def _show_keys(self) -> None:
        """The answers: each with its key, and with where an `always` would hold."""
        try:
            keys = self.query_one("#question-keys", Static)
        except NoMatches:
            return  # not composed yet
        accent = "bold $text-accent"
        if self.has_class("-editing"):
            pairs = [("^S", "write this text, as yours"), ("^G", "$EDITOR"), ("Esc", "back, text kept")]
        elif self.has_class("-reasoning"):
            pairs = [("Enter", f"no, and {self.ASKER} is told why"), ("Esc", "back")]
        else:
            pairs = [("y", "yes"), ("n", "no"), ("r", "no, because")]
            if self.asked is not None and self.asked.proposal.edited is not None:
                pairs.append(("e", "edit first"))
            pairs.append(("Esc", self.AWAY))
            if self.shown is not None and self.shown.always:
                pairs.append(("a", f"always in {place(self.shown.always)}"))
            pairs.append(("A", "everywhere"))
        width = max(self.size.width - 4, 20)
        pieces = [Content.assemble((key, accent), f" {fit_middle(words, width - 4)}") for key, words in pairs]
        keys.update(_wrapped(pieces, width))

    # Answers

    def on_key(self, event: Key) -> None:
        """A key that was pressed before the question was there is no answer to it, however late it is taken in."""
        age = max(0.0, time.monotonic() - event.time)
        self._is_stale = self._clock() - age < self._armed_at

    def _takes_answer(self) -> bool:
        """Whether a key answers; where one does not yet, that is said."""
        stale, self._is_stale = self._is_stale, False
        if self.is_armed and not stale:
            return True
        if self.asked is not None:
            self.post_message(self.Remarked("No answer yet: the question has only just come. Press the key again."))
        return False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Letters are letters while a text is being written."""
        del parameters
        if action in ("answer", "reason", "edit", "outside", "stop"):
            if self.asked is None or self.is_writing:
                return False
            if action in ("edit", "outside"):
                return self.asked.proposal.edited is not None
        return True

    def action_answer(self, answer: str) -> None:
        """Tell the one who asked."""
        if not self._takes_answer():
            return
        assert self.shown is not None
        verdicts: dict[str, Verdict] = {
            "yes": Allow(),
            "no": Deny(),
            "below": Allow(always=self.shown.always),
            "everywhere": Allow(always=""),
        }
        self._decide(verdicts[answer])

    def action_stop(self) -> None:
        """End the turn."""
        if self._takes_answer():
            self.post_message(self.StopWanted())

    def action_reason(self) -> None:
        """Open the line for a reason."""
        if self._takes_answer():
            self.add_class("-reasoning")
            self._show_keys()
            self.reason.focus()
            self.post_message(self.Remarked(f"Nothing is written, and {self.ASKER} is told why. Esc goes back."))

    @on(Input.Submitted)
    def _deny(self, event: Input.Submitted) -> None:
        event.stop()
        reason = event.value.strip()
        self.reason.value = ""
        self._decide(Deny(reason))

    @on(ReasonLine.Left)
    def _no_reason(self) -> None:
        self._go_back()

    def action_edit(self) -> None:
        """Change the text before it is written."""
        if not self._takes_answer():
            return
        self.add_class("-editing")
        self._show_keys()
        self.text.focus()
        hidden = len(HIDDEN.findall(self._loaded))
        if self._loaded != self._as_loaded:
            words = "If you change it here, all its lines will end alike. E opens your editor, which keeps them."
            self.post_message(self.Remarked(words, is_warning=True))
            return
        if hidden:
            words = f"{hidden:,} characters of this text cannot be seen; they stay unless you delete them."
            self.post_message(self.Remarked(words, is_warning=True))
            return
        self.post_message(self.Remarked("Ctrl+S writes what you make of it. Esc goes back to the question."))

    def action_outside(self) -> None:
        """Change the text in the person's own editor."""
        if self._takes_answer():
            self.add_class("-editing")
            self._show_keys()
            self._edit_outside()

    @on(ProposedText.OutsideWanted)
    def _edit_outside(self) -> None:
        change = self.asked.proposal.edited if self.asked else None
        if change is None:
            return
        try:
            text = self._edit(self.app, self.text.text, name=change.path.rpartition("/")[2])
        except NoEditor as error:
            self.post_message(self.Remarked(str(error), is_warning=True))
        else:
            self._load(text)
            self.post_message(self.Remarked("Ctrl+S writes what you made of it. Esc goes back to the question."))
        self.text.focus()

    @on(ProposedText.Done)
    def _end_edit(self, message: ProposedText.Done) -> None:
        if message.is_written and self.asked is not None:
            self._decide(Edit(self._loaded if self.text.text == self._as_loaded else self.text.text))
            return
        self._go_back()

    def _go_back(self) -> None:
        """Back to the question, from what was being written."""
        self.remove_class("-editing", "-reasoning")
        self._show_keys()
        self.diff.focus()
        self.post_message(self.Remarked("Nothing is written before you answer."))

    def _load(self, text: str) -> None:
        """Put a text into the box, which takes some characters for line ends: what is not changed there stays exact."""
        self.text.load_text(text)
        self._loaded, self._as_loaded = text, self.text.text

    def _decide(self, verdict: Verdict) -> None:
        asked = self.asked
        if asked is not None:
            self.post_message(self.Decided(asked, verdict))

    def _leave_boxes(self) -> None:
        self.remove_class("-editing", "-reasoning")
        self.reason.value = ""


def _wrapped(pieces: list[Content], width: int) -> Content:
    """Pieces side by side, in as many rows as they need; none is cut in its middle."""
    rows: list[list[Content]] = [[]]
    taken = 0
    for piece in pieces:
        if rows[-1] and taken + 2 + piece.cell_length > width:
            rows.append([])
            taken = 0
        taken += piece.cell_length + (2 if rows[-1] else 0)
        rows[-1].append(piece)
    return Content("\n").join([Content("  ").join(row) for row in rows])
