"""What a person asked for last, as far as a session file was read: whatever is done next was done because of it."""

import re
from collections.abc import Mapping
from typing import Any

from memtui.agents.transcripts.calls import prompt_in, record_of, speaker_of
from memtui.core.told import MAX_PROMPT

_LONGEST = 8_000_000
"""Bytes of the longest line that is read for the prompt that may be in it; pasted pictures are in it as well."""
_SPEAKERS = 1_000
"""Subagents of one session whose last prompts are remembered."""
_MAY_ASK = re.compile(rb'"type":\s?"(?:user|queued_command)"')


class Prompts:
    """The last prompt of each conversation in a session file: the person's own, and those of subagents."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}

    def take(self, data: bytes) -> None:
        """Take in a line; few are prompts, and the others are passed after a look at their bytes."""
        if len(data) > _LONGEST or _MAY_ASK.search(data) is None or b'"tool_result"' in data:
            return
        record = record_of(data)
        if record is not None and (prompt := prompt_in(record)):
            if len(self._last) >= _SPEAKERS:
                self._last.clear()
            self._last[speaker_of(record)] = prompt[:MAX_PROMPT]

    def before(self, record: Mapping[str, Any]) -> str:
        """What was asked for last in the conversation that a line is of; empty if nothing was."""
        return self._last.get(speaker_of(record), "")
