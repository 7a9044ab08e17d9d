"""The question whether a change may be made: the exact change, and a key for each answer.

It stands beside the memory, not over it: the person may look around before the answer. Enter is no answer, nor are
keys that were typed elsewhere, or in the moment in which the question appears.
"""

import time
from collections.abc import Callable
from dataclasses import replace
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

from memtui.agents.chat.events import ApprovalNeeded
from memtui.core import wording
from memtui.core.approvals import EVERYWHERE, Allow, Deny, Edit, Proposal, Verdict, format_scope
from memtui.core.diffs import compare_texts
from memtui.core.events import Change, EntryKind, format_actor_name
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import HIDDEN, to_one_line
from memtui.editing.external_editor import EditorUnavailable
from memtui.flows.approvals import describe_change
from memtui.scan.secret_policy import describe_new_secrets
from memtui.ui.chat_state import QuestionDecided, QuestionRemarked, QuestionStopRequested
from memtui.ui.clipboard import edit_text_externally
from memtui.ui.key_names import ENTER, format_key, label_key, list_labels
from memtui.ui.theme import truncate, truncate_middle, wrap_paths
from memtui.ui.widgets.composer import OrderedTextArea
from memtui.ui.widgets.diff.layout import DiffComparison
from memtui.ui.widgets.diff.view import DiffView, format_line_counts

_THROUGH = " (through the link "
_HUNKS = ("diff.next_hunk", "diff.previous_hunk")


class ProposalDiff(DiffView, inherit_bindings=False):
    """The proposed change. `n` answers no here, so that `]` and `[` go from hunk to hunk."""

    IS_PART_OF_SCREEN = True
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            replace(each, show=False)
            for each in DiffView.BINDINGS
            if isinstance(each, Binding) and each.id not in _HUNKS
        ),
        Binding(
            "right_square_bracket", "hunk(1)", "hunk", id="question.next_hunk", tooltip="To the next change",
            show=False,
        ),
        Binding(
            "left_square_bracket", "hunk(-1)", "previous hunk", id="question.previous_hunk",
            tooltip="To the previous change", show=False,
        ),
    ]  # fmt: skip


class ProposalEditor(OrderedTextArea):
    """The proposed text, to be edited before it is written."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "write", "write", id="question.write", tooltip="Write this text as your edit"),
        Binding("escape", "back", "back", id="question.back", tooltip="Back to the question; keeps the text"),
        Binding("ctrl+g", "outside", "$EDITOR", id="question.outside", tooltip="Edit in $VISUAL or $EDITOR"),
    ]  # fmt: skip

    @dataclass
    class Finished(Message):
        """The person ends editing; the text is to be written, or not yet."""

        is_written: bool

    class ExternalEditorRequested(Message):
        """The person wants the external editor."""

    def action_write(self) -> None:
        self.post_message(self.Finished(is_written=True))

    def action_back(self) -> None:
        self.post_message(self.Finished(is_written=False))

    def action_outside(self) -> None:
        self.post_message(self.ExternalEditorRequested())


class ReasonInput(Input):
    """A line for the reason of a no, sent to the model."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", id="question.no_reason", tooltip="Back to the question", priority=True)
    ]

    class Cancelled(Message):
        """The person leaves the line."""

    def action_back(self) -> None:
        self.post_message(self.Cancelled())


_NAMED = 5
"""Files that a shell command changes, as named above the texts."""
_LISTED = 5_000
"""Files of a proposal that are listed by name; their number is shown in any case."""


@dataclass(frozen=True, slots=True)
class ProposalPreview:
    """A proposal in words and as a comparison.

    Attributes:
        title: Who wants what, in a sentence.
        change: The same without the actor.
        remark: Warnings; may be empty.
        comparison: The exact change; `None` where there are no lines to compare.
        notice: Why there is no comparison.
        always: The scope of the answer `always`; `None` where only everything would do.
    """

    title: str
    change: str
    remark: str
    comparison: DiffComparison | None
    notice: str
    always: str | None


def preview_proposal(proposal: Proposal) -> ProposalPreview:
    """Compare the texts of a proposal. Large texts take time: call it in a thread."""
    files = proposal.files
    remarks = [to_one_line(proposal.again)] if proposal.again else []
    notice, comparison = "", None
    texts = _join_texts(proposal) if proposal.shell_text or proposal.permission else None
    if proposal.permission is not None and not files:
        notice = to_one_line(proposal.permission.detail) or "The agent says no more about it."
    elif texts is None and (proposal.command == "rename" or len(files) != 1):
        comparison = _compare_names(proposal)
        notice = "" if comparison else "It contains no files."
    else:
        before, after = texts or (proposal.text(files[0].before), proposal.text(files[0].after))
        if before is None or after is None:
            notice = "It is not text and cannot be shown."
        elif before == after:
            notice = "The text would not change."
        else:
            comparison = DiffComparison(compare_texts(before, after))
            hidden = len(HIDDEN.findall(after)) - len(HIDDEN.findall(before))
            if hidden > 0:
                remarks.append(f"{wording.format_count(hidden, 'hidden character')} would be written.")
            if found := describe_new_secrets(before, after):
                remarks.append(f"The new text {found}.")
    if any(change.before is not None and change.before.kind is EntryKind.LINK for change in proposal.changes):
        remarks.append("Only the link is changed, not its target.")
    if proposal.shell_text:
        paths = [to_one_line(change.path) for change in files[:_NAMED]]
        more = f" and {len(files) - _NAMED:,} more" if len(files) > _NAMED else ""
        remarks.append(f"It actually changes {', '.join(paths)}{more}.")
    change = describe_change(proposal)
    title = f"{to_one_line(format_actor_name(proposal.actor))} wants to {change}"
    return ProposalPreview(title, change, " ".join(remarks), comparison, notice, proposal.consent_scope)


def _join_texts(proposal: Proposal) -> tuple[str, str] | None:
    """The texts of all files before and after, each below its name; `None` if one cannot be shown."""
    if len(proposal.files) < 2:
        return None
    before, after = list[str](), list[str]()
    for change in proposal.files:
        for version, side in ((change.before, before), (change.after, after)):
            text = proposal.text(version)
            if text is None:
                return None
            if version is not None:
                side.append(f"{to_one_line(change.path)}:\n{text.removesuffix(chr(10))}\n\n")
    return "".join(before), "".join(after)


def _compare_names(proposal: Proposal) -> DiffComparison | None:
    """The list of file names before, compared with the one after."""
    files = sorted(proposal.files, key=lambda change: change.path)
    if not files:
        return None
    removed = [_format_row(proposal, change) for change in files if change.after is None]
    added = [_format_row(proposal, change) for change in files if change.after is not None]
    return DiffComparison(compare_texts(_format_list(removed), _format_list(added)))


def _format_row(proposal: Proposal, change: Change) -> str:
    version = change.after or change.before
    text = proposal.text(version)
    name = to_one_line(change.path)
    if text is not None:
        lines = text.count("\n") + (not text.endswith("\n") and bool(text))
        return f"{name}   {wording.format_count(lines, 'line')}"
    return f"{name}   {wording.format_size(version.size)}" if version and version.size is not None else name


def _format_list(rows: list[str]) -> str:
    more = len(rows) - _LISTED
    return "".join(f"{row}\n" for row in [*rows[:_LISTED], *([f"and {more:,} more"] if more > 0 else ())])


GRACE_SECONDS = 0.5
"""The time for which no key answers a question that took the focus by itself."""
_TOO_EARLY = "Not answered: the question has just appeared. Press the key again."
_ANSWERS = tuple(
    f"question.{name}" for name in ("yes", "no", "reason", "edit", "editor", "always", "everywhere", "stop")
)
"""The ids of the keys that answer."""


class ApprovalView(Vertical):
    """One question at a time.

    Args:
        id: Its id in the DOM.
        clock: Seconds, for the grace period.
        edit: Opens a text in the external editor.
        asker: The name of the agent that gets the reason; by default that of the class.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('yes')", "yes", id="question.yes", tooltip="Yes, write this"),
        Binding("n", "answer('no')", "no", id="question.no", tooltip="No; nothing is written"),
        Binding("r", "reason", "no, because", id="question.reason", tooltip="No, with a reason for the model"),
        Binding("e", "edit", "edit", id="question.edit", tooltip="Edit the text before it is written"),
        Binding("E", "outside", "$EDITOR", id="question.editor", tooltip="Edit it in $VISUAL or $EDITOR", show=False),
        Binding("a", "answer('below')", "always", id="question.always", tooltip="Yes, and always in this directory"),
        Binding(
            "A", "answer('everywhere')", "always everywhere", id="question.everywhere",
            tooltip="Yes, and always everywhere", show=False,
        ),
        Binding("escape", "stop", "stop", id="question.stop", tooltip="Stop the turn; nothing is written"),
    ]  # fmt: skip

    DEFAULT_CSS = """
    ApprovalView {
        display: none; height: 1fr; border: round $warning; background: $background; padding: 0;
        border-title-color: $text-warning; border-title-style: bold; border-subtitle-color: $foreground;
        #question-change { height: auto; max-height: 50%; padding: 0 1; background: $panel; display: none; }
        #question-remark { height: auto; max-height: 50%; padding: 0 1; color: $text-warning; display: none; }
        ProposalDiff { height: 1fr; border: none $foreground 35%; }
        ProposalEditor { height: 1fr; border: none; padding: 0 1; display: none; background: $background; }
        ProposalEditor:focus { border: none; }
        ReasonInput { display: none; height: 1; border: none; margin: 0 1; background: $panel; }
        ReasonInput > .input--placeholder { color: $foreground-muted; }
        #question-keys { height: auto; max-height: 3; padding: 0 1; background: $panel; }
        &.-editing ProposalDiff { display: none; }
        &.-editing ProposalEditor { display: block; }
        &.-reasoning ReasonInput { display: block; }
        &:focus-within { border: heavy $warning; }
    }
    """

    ASKER: ClassVar[str] = "Claude"
    """The name of the agent that gets the reason."""
    AWAY: ClassVar[str] = "stop"
    """The word for Esc."""
    LASTING: ClassVar[str] = "in this session"
    """How long the answers `always` hold."""

    diff = getters.query_one(ProposalDiff)
    text = getters.query_one(ProposalEditor)
    reason = getters.query_one(ReasonInput)

    def __init__(
        self,
        *,
        id: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        edit: Callable[..., str] = edit_text_externally,
        asker: str = "",
    ) -> None:
        super().__init__(id=id)
        self._asker = asker or self.ASKER
        self._clock = clock
        self._edit = edit
        self._armed_at = 0.0
        self._loaded = self._as_loaded = ""
        self.question: ApprovalNeeded | None = None
        self.preview: ProposalPreview | None = None
        """`None` while it is computed."""

    def compose(self) -> ComposeResult:
        yield Static(id="question-change", markup=False)
        yield Static(id="question-remark", markup=False)
        yield ProposalDiff(id="question-diff")
        yield ProposalEditor(
            id="question-text", tab_behavior="indent", highlight_cursor_line=False, show_line_numbers=True
        )
        placeholder = f"Why not? {ENTER} sends it to the model, {label_key('question.no_reason')} goes back"
        yield ReasonInput(placeholder=placeholder, compact=True)
        yield Static(id="question-keys", markup=False)

    def on_mount(self) -> None:
        self.text.cursor_blink = self.reason.cursor_blink = False

    # Attributes down

    def ask(self, asked: ApprovalNeeded) -> None:
        """Ask a question; its preview is computed in a thread."""
        self.question, self.preview = asked, None
        self._close_inputs()
        self.display = True
        self.border_title = Content(truncate(f"{self._asker} asks", max(self.size.width - 4, 12)))
        self.border_subtitle = ""
        self.diff.show_notice("Comparing")
        self._show_words("change", "")
        self._show_words("remark", "")
        proposal = asked.proposal
        change = proposal.editable_change
        start = proposal.draft if proposal.draft is not None else (proposal.text(change.after) if change else None)
        self._load(start or "")
        self._show_keys()
        self._prepare_preview(asked)

    def clear(self) -> None:
        """Hide the question."""
        self.question = self.preview = None
        self._close_inputs()
        self.display = False

    def take_focus(self, *, by_itself: bool = False) -> None:
        """Focus the question; if it takes the focus by itself, no key answers for the grace period."""
        if by_itself:
            self._armed_at = self._clock() + GRACE_SECONDS
        is_editing, is_reasoning = self.has_class("-editing"), self.has_class("-reasoning")
        (self.text if is_editing else self.reason if is_reasoning else self.diff).focus()

    @property
    def is_writing(self) -> bool:
        """Whether a text, or a reason, is being written, so that letters are text."""
        return self.has_class("-editing") or self.has_class("-reasoning")

    @property
    def is_armed(self) -> bool:
        """Whether a key answers: there is a question, its preview is shown, and the grace period is over."""
        return self.question is not None and self.preview is not None and self._clock() >= self._armed_at

    @work(thread=True, exclusive=True, group="question", exit_on_error=False)
    def _prepare_preview(self, asked: ApprovalNeeded) -> None:
        shown = preview_proposal(asked.proposal)
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._show_preview, asked, shown)

    def _show_preview(self, asked: ApprovalNeeded, shown: ProposalPreview) -> None:
        if asked is not self.question or not self.is_mounted:
            return
        self.preview = shown
        self._armed_at = max(self._armed_at, self._clock() + (GRACE_SECONDS / 2 if self.has_focus_within else 0))
        if shown.comparison is not None:
            self.diff.show(shown.comparison, ("now", "proposed"))
        else:
            self.diff.show_notice(shown.notice)
        self._update_title()
        self._show_keys()
        self.refresh_bindings()

    def on_resize(self) -> None:
        self._update_title()
        self._show_keys()

    @on(DiffView.HunkChanged)
    def _update_title(self) -> None:
        if self.preview is None:
            return
        width = max(self.size.width - 6, 10)
        title = truncate_middle(self.preview.title, width)
        self.border_title = Content(title)
        self._show_words("change", "" if title == self.preview.title else self._format_change(self.preview.change))
        self._show_words("remark", self.preview.remark)
        number, total = self.diff.position
        comparison = self.preview.comparison
        if comparison is None:
            self.border_subtitle = ""
            return
        keys = f"{label_key('question.previous_hunk')} {label_key('question.next_hunk')}"
        hunks = f"{keys} hunk {number:,}/{total:,}  " if total > 1 else ""
        self.border_subtitle = Content(hunks) + format_line_counts(comparison)

    def _format_change(self, change: str) -> str:
        """The whole change where the title is cut; a link that it goes through stands in rows of its own."""
        width = max(self.size.width - 4, 10)
        real, link, named = change.partition(_THROUGH)
        return "\n".join(row for part in (real, link.lstrip() + named) if part for row in wrap_paths(part, width))

    def _show_words(self, name: str, words: str) -> None:
        static = self.query_one(f"#question-{name}", Static)
        static.display = bool(words)
        static.update(Content(words))

    def _show_keys(self) -> None:
        """Show the answers, each with its key, and the path of `always`."""
        try:
            keys = self.query_one("#question-keys", Static)
        except NoMatches:
            return  # not composed yet
        if self.has_class("-editing"):
            pairs = [
                (label_key("question.write", short=True), "write as your edit"),
                (label_key("question.outside", short=True), "$EDITOR"),
                (label_key("question.back"), "back, keep text"),
            ]
        elif self.has_class("-reasoning"):
            pairs = [(ENTER, f"no, send the reason to {self._asker}"), (label_key("question.no_reason"), "back")]
        else:
            is_editable = self.question is not None and self.question.proposal.editable_change is not None
            always = self.preview.always if self.preview is not None else None
            answers = {
                "yes": "yes",
                "no": "no",
                "reason": "no, because",
                "edit": "edit first" if is_editable else "",
                "stop": self.AWAY,
                "always": f"always in {format_scope(always)}" if always is not None else "",
                "everywhere": _name_lasting_answer(self.question),
            }
            pairs = [(label_key(f"question.{name}"), words) for name, words in answers.items() if words]
        width = max(self.size.width - 4, 20)
        pieces = [
            Content.assemble((key, "bold $text-accent"), f" {truncate_middle(words, width - 4)}")
            for key, words in pairs
        ]
        is_lasting = [words.startswith("always") for _, words in pairs]
        at = is_lasting.index(True) if any(is_lasting) else len(pieces)
        rows = _wrap_pieces(pieces, width)
        if len(rows) > 1:
            rows = _wrap_pieces(pieces[:at], width) + _wrap_pieces(pieces[at:], width)
        until = Content.styled(f"  {self.LASTING}", "italic")
        if at < len(pieces) and rows[-1].cell_length + until.cell_length <= width:
            rows[-1] += until
        keys.update(Content("\n").join(rows))

    # Answers

    def on_key(self, event: Key) -> None:
        """Hold back an answer that this question cannot take, so that it is no key of another pane, either.

        An answer that was pressed before the question was armed is not for it, however late it is handled.
        """
        if self.question is None or self.is_writing:
            return
        label, proposal = format_key(event.key), self.question.proposal
        pressed_at = self._clock() - max(0.0, time.monotonic() - event.time)
        if pressed_at < self._armed_at and any(label in list_labels(name) for name in _ANSWERS):
            self._remark(_TOO_EARLY)
        elif proposal.consent_scope is None and label in list_labels("question.always"):
            self._remark("Not answered: the files have no common directory to allow.")
        elif not _can_last(self.question) and label in list_labels("question.everywhere"):
            self._remark("Not answered: this agent cannot be told not to ask again.")
        elif proposal.editable_change is None and label in (
            *list_labels("question.edit"),
            *list_labels("question.editor"),
        ):
            self._remark("Not answered: there is no text to edit.")
        else:
            return
        event.stop()
        event.prevent_default()

    def _can_answer(self) -> bool:
        """Whether a key answers; remark it if not."""
        if not self.is_armed and self.question is not None:
            self._remark(_TOO_EARLY)
        return self.is_armed

    def _remark(self, words: str, *, is_warning: bool = False) -> None:
        self.post_message(QuestionRemarked(words, is_warning))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """No answers while a text is being written."""
        if action in ("answer", "reason", "edit", "outside", "stop"):
            if self.question is None or self.is_writing:
                return False
            if action in ("edit", "outside"):
                return self.question.proposal.editable_change is not None
            if (action, *parameters) == ("answer", "everywhere"):
                return _can_last(self.question)
            if (action, *parameters) == ("answer", "below"):
                return self.question.proposal.consent_scope is not None
        return True

    def action_answer(self, answer: str) -> None:
        """Answer `yes`, `no`, `below` (always in the directory) or `everywhere`."""
        if self._can_answer() and self.preview is not None:
            always = {"yes": None, "below": self.preview.always, "everywhere": EVERYWHERE}
            if answer == "no":
                self._decide(Deny())
            elif answer == "yes" or always[answer] is not None:
                self._decide(Allow(always=always[answer]))

    def action_stop(self) -> None:
        if self._can_answer():
            self.post_message(QuestionStopRequested())

    def action_reason(self) -> None:
        """Open the line for a reason."""
        if self._can_answer():
            self.add_class("-reasoning")
            self._show_keys()
            self.reason.focus()
            self._remark(
                f"Nothing is written; {self._asker} gets your reason. {label_key('question.no_reason')} goes back."
            )

    @on(Input.Submitted)
    def _deny(self, event: Input.Submitted) -> None:
        event.stop()
        self.reason.value = ""
        self._decide(Deny(event.value.strip()))

    def action_edit(self) -> None:
        if not self._can_answer():
            return
        self.add_class("-editing")
        self._show_keys()
        self.text.focus()
        hidden = len(HIDDEN.findall(self._loaded))
        if self._loaded != self._as_loaded:
            words = "Editing here makes all its line ends the same."
            self._remark(f"{words} {label_key('question.editor')} opens $EDITOR, which keeps them.", is_warning=True)
        elif hidden:
            self._remark(
                f"{hidden:,} hidden characters in this text; they stay unless you delete them.",
                is_warning=True,
            )
        else:
            self._remark_keys()

    def _remark_keys(self) -> None:
        write, back = label_key("question.write"), label_key("question.back")
        self._remark(f"{write} writes your text. {back} goes back to the question.")

    def action_outside(self) -> None:
        if self._can_answer():
            self.add_class("-editing")
            self._show_keys()
            self._edit_outside()

    @on(ProposalEditor.ExternalEditorRequested)
    def _edit_outside(self) -> None:
        change = self.question.proposal.editable_change if self.question else None
        if change is None:
            return
        try:
            text = self._edit(self.app, self.text.text, name=change.path.rpartition("/")[2])
        except EditorUnavailable as error:
            self._remark(str(error), is_warning=True)
        else:
            self._load(text)
            self._remark_keys()
        self.text.focus()

    @on(ProposalEditor.Finished)
    def _end_edit(self, message: ProposalEditor.Finished) -> None:
        if message.is_written and self.question is not None:
            self._decide(Edit(self._loaded if self.text.text == self._as_loaded else self.text.text))
        else:
            self._return_to_question()

    @on(ReasonInput.Cancelled)
    def _return_to_question(self) -> None:
        self.remove_class("-editing", "-reasoning")
        self._show_keys()
        self.diff.focus()
        self._remark("Nothing is written before you answer.")

    def _load(self, text: str) -> None:
        """Load a text into the editor, which changes some line ends: an unchanged text stays exact."""
        self.text.load_text(text)
        self._loaded, self._as_loaded = text, self.text.text

    def _decide(self, verdict: Verdict) -> None:
        if self.question is not None:
            self.post_message(QuestionDecided(self.question, verdict))

    def _close_inputs(self) -> None:
        self.remove_class("-editing", "-reasoning")
        self.reason.value = ""


def _can_last(asked: ApprovalNeeded | None) -> bool:
    """Whether the answer may be to ask no more."""
    permission = asked.proposal.permission if asked is not None else None
    return permission is None or permission.is_lasting


def _name_lasting_answer(asked: ApprovalNeeded | None) -> str:
    if not _can_last(asked):
        return ""
    return "always everywhere" if asked is None or asked.proposal.permission is None else "always, as the agent offers"


def _wrap_pieces(pieces: list[Content], width: int) -> list[Content]:
    """Pieces side by side, in as many rows as they need; no piece is broken."""
    rows = pieces[:1]
    for piece in pieces[1:]:
        if rows[-1].cell_length + 2 + piece.cell_length > width:
            rows.append(piece)
        else:
            rows[-1] = Content("  ").join([rows[-1], piece])
    return rows
