"""`python -m tests.bench [--write] [NAME ...]`: measure, and print one Markdown table.

Absolute times say little about another machine, so whatever can be compared is measured in turn with its
counterpart and printed as a ratio.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterable

from tests.bench import (
    agents,
    auditing,
    beside,
    chatting,
    commands,
    folders,
    hooks,
    knowledge,
    limits,
    live,
    machine,
    mcp_calls,
    notes,
    searching,
    servers,
    stalls,
    start,
    streaming,
    trust,
)
from tests.bench.memories import Memories
from tests.bench.page import write_section
from tests.bench.table import Row, markdown

MEASUREMENTS: dict[str, Callable[[Memories], Iterable[Row]]] = {
    "commands": commands.measure,
    "start": start.measure,
    "live": live.measure,
    "beside": beside.measure,
    "folders": folders.measure,
    "notes": notes.measure,
    "stalls": stalls.measure,
    "keys": stalls.measure_keys,
    "streaming": streaming.measure,
    "trust": trust.measure,
    "chat": chatting.measure,
    "agents": agents.measure,
    "mcp": mcp_calls.measure,
    "hooks": hooks.measure,
    "search": searching.measure,
    "server": servers.measure,
    "knowledge": knowledge.measure,
    "audit": auditing.measure,
    "limits": limits.measure,
}


def main() -> int:
    """Run what was asked for, or everything; returns how many targets were missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MEASUREMENTS) + "; all if none is given")
    parser.add_argument(
        "--write", action="store_true", help="write memtui/docs/benchmarks.md as well, section by section"
    )
    arguments = parser.parse_args()
    names = arguments.names or list(MEASUREMENTS)
    for name in names:
        if name not in MEASUREMENTS:
            parser.error(f"there is no measurement {name!r}")
    rows: list[Row] = []
    with Memories() as memories:
        print(machine.line(memories.scratch), end="\n\n")
        for name in names:
            began = time.monotonic()
            taken_on = machine.line(memories.scratch)
            measured = list(MEASUREMENTS[name](memories))
            rows += measured
            if arguments.write:
                write_section(name, measured, taken_on)
            print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    print(markdown(rows))
    return sum(row.missed for row in rows)


if __name__ == "__main__":
    main()
