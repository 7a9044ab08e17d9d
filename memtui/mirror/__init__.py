"""A folder kept equal to another place of memories, in both directions.

The records of both sides say what happened; `ancestors` keeps which version of a path both had last. From these three,
`sync` carries each change to the side that lacks it, as the editor merges the changes of two people, and never over
something that it has not seen.
"""

from memtui.mirror.deletions import WipeFound
from memtui.mirror.reports import Report
from memtui.mirror.session import MirrorBusy, MirrorOptions, follow, open_mirror, run_once
from memtui.mirror.sync import Mirror

__all__ = ["Mirror", "MirrorBusy", "MirrorOptions", "Report", "WipeFound", "follow", "open_mirror", "run_once"]
