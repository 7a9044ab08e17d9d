"""The session of a folder of Gemini CLI asks about its proposals when it opens, and when one comes."""

import queue
from pathlib import Path

import pytest

from memtui.ui.messages import RemoteApprovalRequested
from memtui.ui.session import FolderSession

LIMIT = 60.0


def _wait_for_question(posts: "queue.Queue[object]") -> str:
    while True:
        message = posts.get(timeout=LIMIT)
        if isinstance(message, RemoteApprovalRequested):
            return message.question.proposal.path


@pytest.mark.parametrize("read_only", [False, True])
def test_proposals_are_asked_about_but_not_by_who_may_only_read(
    read_only: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("GEMINI_CLI_HOME", raising=False)
    folder = tmp_path / ".gemini/tmp/app/memory"
    inbox = folder / ".inbox/private"
    inbox.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Project Memory\n")
    new = "--- /dev/null\n+++ {0}/{1}\n@@ -0,0 +1,1 @@\n+x\n"
    (inbox / "extraction.patch").write_text(new.format(folder, "a.md"))
    posts: queue.Queue[object] = queue.Queue()
    session = FolderSession(str(folder), posts.put, state=str(tmp_path / "state"), read_only=read_only)
    session.start()
    try:
        if not read_only:
            assert _wait_for_question(posts) == "/memories/a.md"
            (inbox / "second.patch").write_text(new.format(folder, "b.md"))
            session.rescan()
            assert _wait_for_question(posts) == "/memories/b.md"
    finally:
        session.stop()
    assert not any(isinstance(each, RemoteApprovalRequested) for each in tuple(posts.queue))
