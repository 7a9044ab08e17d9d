"""What a mirror did, one value a change."""

from memtui.core.events import Actor, format_actor_in_sentence
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line


@dataclass(frozen=True, slots=True)
class Report:
    """One change that was carried, or why it was not.

    Attributes:
        kind: `created`, `changed`, `deleted`, `renamed`, `merged`, `conflict` or `left`.
        to: The side that it was carried to, `folder` or `source`; of what was left, the side that lacks it.
        path: Relative to the folder.
        actor: Who did it on the other side.
        seq: The number of the event of the other side; 0 where there is none.
        new_path: Its name since, of what was renamed; of a conflict, the note that keeps the folder's text.
        reason: Why it was left.
    """

    kind: str
    to: str
    path: str
    actor: Actor | None = None
    seq: int = 0
    new_path: str = ""
    reason: str = ""

    @property
    def sentence(self) -> str:
        """As one line, safe to show: `To the folder: plan.md changed (Claude)`."""
        path, new_path = to_one_line(self.path), to_one_line(self.new_path)
        by = f" ({to_one_line(format_actor_in_sentence(self.actor))})" if self.actor is not None else ""
        match self.kind:
            case "renamed":
                return f"To the {self.to}: {path} renamed to {new_path}{by}"
            case "merged":
                return f"Merged: {path}{by}"
            case "conflict":
                return f"Conflict: {path}: both changed the same lines; the folder's text is in {new_path}{by}"
            case "left":
                return f"Left out of the {self.to}: {path}: {to_one_line(self.reason)}"
            case _:
                return f"To the {self.to}: {path} {self.kind}{by}"
