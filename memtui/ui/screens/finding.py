"""The key of the browser that finds any memory, present or past."""

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from memtui.ui.messages import Read
from memtui.ui.note.view import NoteView
from memtui.ui.screens.taking import PastKeys
from memtui.ui.session import Session

if TYPE_CHECKING:  # loaded when somebody looks for something, behind the first paint
    from memtui.search.finder import Finder


_SCOPE = "find.scope"


class Finding(PastKeys):
    """A screen over a memory, in which names and texts are found."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", "find", id="browse.find", tooltip="Find in names, in texts and in the past"),
    ]

    def __init__(self, session: Session, *, title: str) -> None:
        super().__init__(session, title=title)
        self._finder: Finder | None = None
        self._looked_for = ""
        self._match_wanted: tuple[str, int, str] | None = None

    def action_find(self) -> None:
        """One box over names, texts and the past."""
        engine = self._session.engine
        if engine is None:
            return
        from memtui.search.finder import Finder  # deferred: not needed for the first paint
        from memtui.search.found import Scope
        from memtui.ui.screens.find import FindScreen

        if self._finder is None or self._finder.engine is not engine:
            self._finder = Finder(engine)

        last = self.words_left.get(_SCOPE, "")
        scope = Scope(last) if last in list(Scope) else Scope.ALL

        def remember(text: str, scope: Scope) -> None:
            self._looked_for, self.words_left[_SCOPE] = text, scope.value

        self.app.push_screen(
            FindScreen(
                self._finder, title=self._title, text=self._looked_for, scope=scope,
                open_at=self.open_at, edit_at=self._edit_found, remember=remember,
            )
        )  # fmt: skip

    def open_at(self, path: str, line: int | None, text: str) -> None:
        """Go to a note.

        Args:
            path: Relative to the folder.
            line: The line to bring into view, from 1; `None` for wherever it is.
            text: What was found there, so that `n` and `N` go on; empty for nothing.
        """
        self._match_wanted = None if line is None else (path, line, text)
        self.go_to(path)

    def go_to(self, path: str) -> None:
        """Put the cursor on a note, show it, and follow nothing else."""
        raise NotImplementedError

    def show_wanted(self, message: Read, note: NoteView) -> None:
        """A note was shown: if it is the one that was wanted, bring the line into view."""
        if self._match_wanted is None or self._match_wanted[0] != message.path:
            return
        (_, line, text), self._match_wanted = self._match_wanted, None
        if message.seen.data is not None:
            note.search(text)
            note.show_match_from(line)

    def _edit_found(self, path: str, line: int | None, text: str) -> None:
        del text
        self.edit_elsewhere_at(path, line)

    def edit_elsewhere_at(self, path: str, line: int | None) -> None:
        """Open a note in the person's own editor."""
        raise NotImplementedError
