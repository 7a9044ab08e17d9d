"""How fast an audit is: 10,000 notes of 2 KB, in a process of its own, against reading the same bytes.

The notes are words by chance, so they hold nothing to be found: what is measured is looking.
"""

import json
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median

from memtui.memory import open as open_memory
from memtui.scan.ruleset import join_lines, load_rules
from tests.bench.memories import Memories
from tests.bench.searching import NOTES, texts_of
from tests.bench.table import Row, compared, mebibytes, seconds, within

LIMIT, AGAIN = 2.5, 0.3
"""Seconds that an audit of them may take, and one of the same notes after it: a reviewer waits for it, and so does a
pipeline."""

RIPGREP = 6.0
"""How many times as long as `rg` over the same regexes it may take instead."""

_NOTHING = 0.001
_RUNS = 9
_RIPGREP_RUNS, _GROUP = 5, 60
_RULE_FILES = ("secrets", "injection", "hidden", "claims", "upkeep")
_WORDS = {"read": "reading the folder, and looking for changes", "journal": "checking the journal"}
_PROGRAM = """
import json
import os
import resource
import sys
import time
from memtui import memory
from memtui.audit.cache import AuditCache
from memtui.audit.runner import run_audit

folder, state = sys.argv[1:]
began = time.perf_counter()
octets = 0
for top, _, names in os.walk(folder):
    for name in names:
        with open(os.path.join(top, name), "rb") as file:
            octets += len(file.read())
read = time.perf_counter() - began
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began = time.perf_counter()
with memory.observe(folder, state=state, look=False) as observer:
    opened = time.perf_counter() - began
    cache = AuditCache()
    found = run_audit(observer, title="bench", cache=cache, forks=True)
whole = time.perf_counter() - began
kept = cache.encode()
began = time.perf_counter()
cache = AuditCache(kept)
with memory.observe(folder, state=state, look=False) as observer:
    run_audit(observer, title="bench", cache=cache, forks=True)
print(json.dumps({
    "again": time.perf_counter() - began, "kept": len(kept),
    "read": read, "octets": octets, "opened": opened, "all": whole, "files": found.files,
    "seconds": dict(found.seconds), "before": before, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
}))
"""


def speed(memories: Memories) -> Iterable[Row]:
    """The whole audit, each family, and the memory it takes."""
    folder, state = _folder(memories), memories.new_state()
    with open_memory(folder, state=state):
        pass  # now all of them are in the journal, with their texts
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(folder), str(state)], capture_output=True, check=True, timeout=600
    )
    measured = json.loads(done.stdout)
    yield from _rows(measured)
    if shutil.which("rg"):
        yield _beside_ripgrep(folder, float(measured["all"]))
    yield _command_again(folder, state)


def _beside_ripgrep(folder: Path, whole: float) -> Row:
    """All rules beside `rg` over their regexes, as far as it reads them as they are and they find nothing.

    It is called once for each group of them: one by one takes it six times as long.
    """
    regexes = list(dict.fromkeys(_iter_regexes()))
    shared = [regex for regex in regexes if _run_ripgrep(folder, [regex], "--quiet") == 1]
    groups = [shared[start : start + _GROUP] for start in range(0, len(shared), _GROUP)]
    took = []
    for _ in range(_RIPGREP_RUNS):
        began = time.perf_counter()
        for group in groups:
            _run_ripgrep(folder, group, "--count")
        took.append(time.perf_counter() - began)
    what = f"audit: {NOTES:,} notes of 2 KB, against {len(shared)} of the {len(regexes)} regexes of its rules"
    return compared(what, whole, median(took), RIPGREP, name="rg")


def _run_ripgrep(folder: Path, regexes: list[str], how: str) -> int:
    words = [word for regex in regexes for word in ("-e", regex)]
    command = ("rg", "--multiline", "--regex-size-limit=1G", "--dfa-size-limit=1G", how, *words, str(folder))
    done = subprocess.run(
        command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600
    )  # 0 for something found, 1 for nothing, 2 for a regex that it cannot read
    return done.returncode


def _iter_regexes() -> Iterator[str]:
    """The regexes that stand in the files of rules."""
    for file in _RULE_FILES:
        rules = load_rules(file)
        for text in rules.patterns.values():
            yield join_lines(text)
        for entry in rules.values():
            tables = (*entry.forms, *entry.get("phrases", ()))
            for text in (
                *(table["regex"] for table in tables if "regex" in table),
                *entry.get("patterns", {}).values(),
            ):
                yield join_lines(text)


def _command_again(folder: Path, state: Path) -> Row:
    """The same as a person runs it: a process of its own, which has to be started, and reads and checks everything."""
    took: list[tuple[float, float]] = []
    for _ in range(_RUNS + 1):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        words = ("audit", str(folder), "--state", str(state), "--no-config", "--fail-on", "never", "--format", "json")
        subprocess.run([sys.executable, "-m", "memtui", *words], stdout=subprocess.DEVNULL, check=True, timeout=600)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        took.append((time.perf_counter() - began, spent))
    whole, spent = (median(each) for each in zip(*took[1:], strict=True))
    return Row(f"audit: {NOTES:,} notes of 2 KB, again by the command", seconds(whole), f"processor {seconds(spent)}")


def _folder(memories: Memories) -> Path:
    folder = memories.empty("audited")
    for number, text in enumerate(texts_of(NOTES)):
        path = folder / f"area-{number // 1_000:02d}" / f"topic-{number // 100:03d}" / f"note-{number:05d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def _rows(measured: dict[str, object]) -> Iterator[Row]:
    read, whole, spent = float(str(measured["read"])), float(str(measured["all"])), measured["seconds"]
    assert isinstance(spent, dict)
    what = f"audit: {NOTES:,} notes of 2 KB"
    yield within(what, whole, LIMIT)
    yield compared(f"{what}, against reading the same bytes", whole, read, None, name="read")
    yield within(f"{what}, again", float(str(measured["again"])), AGAIN, also=f"; {measured['kept']:,} bytes kept")
    opened = float(str(measured["opened"]))
    yield Row("audit: copying the journal into memory", seconds(opened))
    for name, took in spent.items():
        if took < _NOTHING:
            continue  # those that compare with a repository, which nobody named
        rate = f"{NOTES / took:,.0f} notes/s"
        told = _WORDS.get(name, f"{name} rules")
        yield Row(f"audit: {told}", f"{seconds(took)}, {rate}", f"read {seconds(read)}", f"{took / read:.2f}")
    before, peak = (float(str(measured[name])) for name in ("before", "peak"))
    yield Row("audit: memory at most", mebibytes(peak), f"before it {mebibytes(before)}")
