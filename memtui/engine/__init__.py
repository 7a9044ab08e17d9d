"""The one door: every command, by whomever, is judged, applied and recorded here, and every change that was made
behind our back is found here. Screens and reports are made from what it records, so they cannot disagree.
"""

from memtui.engine.engine import Engine
from memtui.engine.viewing import Seen

Observer = Engine  # REPLACED BY HELPER "neutral": engine/observing.py, the half that cannot write

__all__ = ["Engine", "Observer", "Seen"]
