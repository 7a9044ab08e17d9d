"""The one door: every command, by whomever, is judged, applied and recorded here, and every change that was made
behind our back is found here. Screens and reports are made from what it records, so they cannot disagree.
"""

from memtui.engine.engine import Engine
from memtui.engine.observing import Observer, Recorded, Source
from memtui.engine.viewing import Seen

__all__ = ["Engine", "Observer", "Recorded", "Seen", "Source"]
