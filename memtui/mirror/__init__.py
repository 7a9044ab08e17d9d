"""A folder kept equal to another place of memories, in both directions.

The records of both sides say what happened; `ancestors` keeps which version of a path was last on both. From these three,
`sync` carries each change to the side that lacks it, as the editor merges two people's changes, and never over something
that it has not seen.
"""

from memtui.mirror.ancestors import AncestorStore
from memtui.mirror.reports import Report
from memtui.mirror.sync import Mirror, WipeFound

__all__ = ["AncestorStore", "Mirror", "Report", "WipeFound"]
