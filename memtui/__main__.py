"""`python -m memtui`."""

import sys

from memtui.cli import main

if __name__ == "__main__":
    sys.exit(main())
