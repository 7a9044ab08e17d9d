"""The one door: every command, by whomever, is validated, applied and recorded here, and every change that was made
behind our back is found here. Screens and reports are made from what it records, so they cannot disagree.
"""

from memtui.engine.engine import Engine
from memtui.engine.executor import PathContent
from memtui.engine.observer import JournalSource, Observer, RecordedState

__all__ = ["Engine", "JournalSource", "Observer", "PathContent", "RecordedState"]
