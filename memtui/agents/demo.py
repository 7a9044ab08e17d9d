"""A scripted agent that works through the real engine, so that memtui can be seen without a key or a network.

Only the decisions are scripted: every command is judged, applied and recorded like any other, refusals included.
It must always be labelled as scripted.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memtui.core.events import Agent, Answer
from memtui.engine import Engine

AGENT = Agent("Claude", model="scripted", session="demo")
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Step:
    """One tool call of the story.

    Attributes:
        wait: Seconds that a real agent would think before it.
        command: The input of the tool.
        refused: Whether the story counts on a refusal.
    """

    wait: float
    command: dict[str, object]
    refused: bool = False


_BEFORE: Sequence[tuple[str, float, str]] = (
    (
        "user_preferences.md",
        3,
        "# User preferences\n\n- Name: Mara, works on the billing team\n- Prefers concise answers\n"
        "- Timezone: Europe/Berlin\n- Reviews pull requests before 10:00\n\n## Tools\n\n| tool | choice |\n"
        "|---|---|\n| formatter | `ruff format` |\n| tests | `pytest -q` |\n| shell | fish |\n",
    ),
    (
        "projects/billing/README.md",
        9,
        "# Billing service\n\nInvoices and dunning, one Postgres database, deployed on Tuesdays.\n\n"
        "## Where things are\n\n- `billing/invoice.py`: numbering, see [[invoice numbers]]\n"
        "- `billing/dunning.py`: reminders after 14, 28 and 42 days\n\n## Open\n\n- [ ] move reminders to the queue\n"
        "- [x] read replica for reports\n",
    ),
    (
        "projects/billing/invoice_numbers.md",
        9,
        "---\ntype: fact\nsource: talk with Mara\n---\n\n# Invoice numbers\n\nNumbers have **no gaps**. They come from "
        "a table with a lock, never from a sequence.\n\n```sql\nSELECT next FROM invoice_number\n  WHERE year = 2026\n"
        "  FOR UPDATE;\n```\n\n> A gap means an audit finding.\n",
    ),
    (
        "projects/billing/status.json",
        1,
        '{\n  "phase": "queue migration",\n  "blocked_by": null,\n  "open": ["dunning", "retries"]\n}\n',
    ),
    (
        "learnings/postgres_migrations.md",
        21,
        "# Postgres migrations\n\n1. Add the column, nullable\n2. Run the backfill in batches of 5,000 rows\n"
        "3. Set `NOT NULL` when nothing is left\n\n## Never\n\n- lock `invoices` before 18:00\n",
    ),
    (
        "notes/2026-11-19-session.md",
        2,
        "# Session, 19 November\n\n- Looked into slow reports: missing index on `invoice.customer_id`\n"
        "- Mara will talk to operations\n",
    ),
    ("notes/scratch.txt", 2, "ask about retries\nqueue name?\n"),
)

_STORY: Sequence[Step] = (
    Step(2.0, {"command": "view", "path": "/memories"}),
    Step(2.5, {"command": "view", "path": "/memories/user_preferences.md"}),
    Step(2.5, {"command": "view", "path": "/memories/projects/billing/README.md"}),
    Step(
        4.0,
        {
            "command": "create",
            "path": "/memories/notes/2026-11-21-session.md",
            "file_text": "# Session, 21 November\n\nGoal: move the reminders to the queue.\n\n- [ ] name of the queue\n"
            "- [ ] retries\n",
        },
    ),
    Step(
        4.0,
        {
            "command": "str_replace",
            "path": "/memories/user_preferences.md",
            "old_str": "- Prefers concise answers",
            "new_str": "- Prefers **very concise** answers, code first",
        },
    ),
    Step(
        3.5,
        {
            "command": "str_replace",
            "path": "/memories/user_preferences.md",
            "old_str": "Europe/Berlin",
            "new_str": "Europe/Lisbon",
        },
    ),
    Step(
        3.5,
        {
            "command": "create",
            "path": "/memories/../shared/team.md",
            "file_text": "Mara moved to Lisbon.\n",
        },
        refused=True,
    ),
    Step(
        3.5,
        {
            "command": "insert",
            "path": "/memories/learnings/postgres_migrations.md",
            "insert_line": 9,
            "insert_text": "- drop a column in the release that stops using it\n",
        },
    ),
    Step(
        4.0,
        {
            "command": "str_replace",
            "path": "/memories/notes/2026-11-21-session.md",
            "old_str": "- [ ]",
            "new_str": "- [x]",
        },
        refused=True,
    ),
    Step(
        3.0,
        {
            "command": "str_replace",
            "path": "/memories/notes/2026-11-21-session.md",
            "old_str": "- [ ] name of the queue",
            "new_str": "- [x] name of the queue: `billing.reminders`",
        },
    ),
    Step(3.0, {"command": "view", "path": "/memories/notes/scratch.txt"}),
    Step(
        3.5,
        {
            "command": "insert",
            "path": "/memories/projects/billing/README.md",
            "insert_line": 12,
            "insert_text": "- [ ] retries: 3 times, then the dead-letter queue\n",
        },
    ),
    Step(3.0, {"command": "delete", "path": "/memories/notes/scratch.txt"}),
    Step(
        3.5,
        {
            "command": "rename",
            "old_path": "/memories/notes/2026-11-19-session.md",
            "new_path": "/memories/archive/2026-11-19-session.md",
        },
    ),
    Step(
        3.5,
        {
            "command": "create",
            "path": "/memories/projects/billing/queue.md",
            "file_text": "# Reminder queue\n\n| setting | value |\n|---|---|\n| name | `billing.reminders` |\n"
            "| retries | 3 |\n| dead letters | `billing.reminders.dead` |\n\n```python\nqueue.publish(reminder, "
            "delay=timedelta(days=14))\n```\n",
        },
    ),
    Step(
        3.5,
        {
            "command": "str_replace",
            "path": "/memories/projects/billing/status.json",
            "old_str": '"open": ["dunning", "retries"]',
            "new_str": '"open": ["dunning"]',
        },
    ),
    Step(2.5, {"command": "view", "path": "/memories/projects/billing/queue.md"}),
)


def prepare(folder: Path) -> None:
    """Write the memories of earlier sessions into an empty folder, as old as they claim to be.

    Raises:
        FileExistsError: One of them is there already.
    """
    now = time.time()
    for name, days, text in _BEFORE:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
        os.utime(path, (now - days * _DAY, now - days * _DAY))


def play(
    memory: Engine,
    *,
    speed: float = 1.0,
    stop: threading.Event | None = None,
    told: Callable[[Step, Answer], None] = lambda _step, _answer: None,
) -> int:
    """Work through the story.

    Args:
        memory: An open memory over a folder that `prepare` has filled.
        speed: How many times as fast as a person would want to watch it; 0 for no waiting at all.
        stop: Ends the story early.
        told: Is given each step with its answer.

    Returns:
        How many commands were executed.
    """
    stop = stop or threading.Event()
    count = 0
    for number, step in enumerate(_STORY, start=1):
        if stop.wait(step.wait / speed if speed else 0):
            break
        answer = memory.execute(step.command, actor=AGENT, call_id=f"scripted_{number:02d}")
        told(step, answer)
        count += 1
    return count
