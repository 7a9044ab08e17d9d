"""Imitations of the markup between a model and its tools: what pretends to come from the system, and is a note."""

import re
from collections.abc import Iterator

_TURNS = re.compile(
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|begin_of_text"
    r"|end_of_turn|tool_calls?|start|end|message|channel|return|call|im_sep|eom_id|python_tag)\|>"
    r"|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>"
)
_TAGS = re.compile(
    r"^[ \t>*-]{0,8}</?(?:system|system[-_]reminder|system[-_]prompt|system[-_]message|assistant|human|function_calls"
    r"|function_results?|fnr"
    r"|tool_(?:use|result|call|response|output)s?|invoke|antml:\w{1,20}|developer|admin|instructions?[-_]override"
    r"|user[-_](?:message|prompt-submit-hook)|command-(?:name|message|args)|local-command-stdout|bash-(?:input"
    r"|std(?:out|err)))"
    r"(?:\s[^>\n]{0,120})?>"
    r"|^[ \t>*-]{0,8}<user>(?=\s{0,4}(?:[^<>\s]{1,40}\s{1,4}){3}[^<>]{0,400}</user>)",
    re.MULTILINE,
)
_CLOSED = re.compile(
    r"</(?:memory|memories|context|document|user_data|untrusted\w{0,20})>\s{0,8}<(?:user|human|system|assistant)>"
)
"""The end of what a model is shown as data, and the beginning of what it is to believe."""
_HUMAN = re.compile(r"^[ \t>]{0,4}(?:\*\*)?(?:human|user)(?:\*\*)?:(?:\*\*)?[ \t]+\S+[ \t]+\S", re.MULTILINE)
_ASSISTANT = re.compile(
    r"^[ \t>]{0,4}(?:\*\*)?assistant(?:\*\*)?:(?:\*\*)?(?:[ \t]*$|[ \t]+\S+(?:[ \t]+\S|[.!]))", re.MULTILINE
)
_SYSTEM_LINE = re.compile(
    r"^[ \t>*#]{0,8}(?:\[(?:system|admin(?:istrator)?|developer|anthropic|openai"
    r"|root)\b[^\]\n]{0,24}\](?:\s{0,2}[\w ]{0,30}?:)?"
    r"|(?:system|admin(?:istrator)?|developer|anthropic|openai|root)(?: (?:message|notice|notification|note|reminder"
    r"|warning"
    r"|prompt|instructions?|override|update|alert))?\s{0,2}:)"
    r"\s{0,3}(?:\*\*)?\s{0,3}(?:you (?:are|must|will|should|have (?:been|no|full|now))\b|ignore|disregard|the (?:user"
    r"|assistant|agent"
    r"|model) (?:has|is|must|will|should|may|wants|cannot|needs|confirmed|approved|allowed|asked|said|authori[sz]ed)\b"
    r"|(?:all|tool|your|session|file|bash) (?:tool )?permissions?\b|permission (?:checks?|prompts?)|all (?:previous"
    r"|prior)"
    r"|new (?:\w+ )?(?:instructions?|rules|orders|tasks?|directives?|polic(?:y|ies)|mode)\b|from now on|do not|never"
    r"|always|execute|run )",
    re.MULTILINE,
)
_HEADED = re.compile(
    r"^#{1,4} ?(?:system|administrator)(?: (?:message|notice|notification|override))?:?[ \t]*\n{1,3}(?:the user (?:is"
    r"|has)\b|you (?:are"
    r" now|must|will)\b|permission (?:checks|prompts)|all (?:previous|prior|permission)|from now on)",
    re.MULTILINE,
)
_GIVEN = re.compile(
    r"^[ \t>*-]{0,8}(?:tool|function|bash|command|hook) (?:result|output"
    r"|response)s?\b[^\n:]{0,24}:[^\0]{0,200}?\b(?:the )?user"
    r" (?:has )?(?:confirmed|approved|accepted|agreed|said|says|allowed)\b",
    re.MULTILINE,
)
_WHO = ("system", "admin", "developer", "anthropic", "openai", "root")
_WHO_HEADS = frozenset({"syste", "admin", "devel", "anthr", "opena", "root"})
_TAG_HEADS = _WHO_HEADS | {
    "assis",
    "human",
    "funct",
    "fnr",
    "tool",
    "invok",
    "antml",
    "instr",
    "user",
    "comma",
    "local",
    "bash",
}
_GIVEN_HEADS = frozenset({"resul", "outpu", "respo"})
_PREFIX = 12
"""Characters before the first word of a line, at most."""
_ALPACA = re.compile(r"^#{2,3} ?(?:instruction|system):?[ \t]*$", re.MULTILINE)
_ANSWER = re.compile(r"^#{2,3} ?response:?[ \t]*$", re.MULTILINE)
_RESULT = re.compile(
    r"\"(?:type|role)\"\s{0,3}:\s{0,3}\"(?:tool_result|tool_use|function_call_output)\"[^\n]{0,400}?(?:\"is_error\""
    r"|\"tool_use_id\"|\"content\")",
)
_SAID = re.compile(
    r"\"role\"\s{0,3}:\s{0,3}\"(?:system|developer)\"\s{0,3},\s{0,3}\"content\"\s{0,3}:\s{0,3}\"(?:you must\b"
    r"|you are now\b|ignore\b"
    r"|disregard\b|from now on\b|comply\b|all (?:previous|prior)\b)"
)


def imitations(text: str, heads: frozenset[str]) -> Iterator[tuple[str, int, int]]:
    """What in a folded text, its code left out, imitates a conversation or a tool: why, and where it stands.

    Args:
        text: The text.
        heads: The first letters of its words.
    """
    if "<" in text or "inst]" in text:
        for found in _TURNS.finditer(text) if "<|" in text or "inst]" in text or ">>" in text or "_of_" in text else ():
            yield "markup that parts the turns of a conversation with a model", *found.span()
        if not _TAG_HEADS.isdisjoint(heads):
            for found in _TAGS.finditer(text):
                yield "a tag that only the system or a tool writes", *found.span()
        for found in _CLOSED.finditer(text) if "</" in text else ():
            yield "tags that end what a model is shown, and go on as somebody else", *found.span()
    if "assis" in heads and (human := _HUMAN.search(text)) and (answer := _ASSISTANT.search(text)):
        again = _ASSISTANT.search(text, human.end()) or answer
        if abs(again.start() - human.start()) < 4_000:
            yield "turns of a conversation that pretend to have been said", human.start(), human.end()
    if not _WHO_HEADS.isdisjoint(heads):
        for found in _matches_of_lines((_SYSTEM_LINE, _HEADED), text, _WHO):
            yield "a line that pretends to come from the system", *found.span()
    if "user" in heads and not _GIVEN_HEADS.isdisjoint(heads):
        for found in _matches_of_lines((_GIVEN,), text, ("tool ", "function ", "bash ", "command ", "hook ")):
            yield "a result of a tool that no tool gave", *found.span()
    if "respo" in heads and (asked := _ALPACA.search(text)) and _ANSWER.search(text, asked.end()):
        yield "headings that part the turns of a conversation with a model", *asked.span()
    if "tool_" in text or "function_call_output" in text:
        for found in _RESULT.finditer(text):
            yield "a result of a tool that no tool gave", *found.span()
    if '"role"' in text:
        for found in _SAID.finditer(text):
            yield "a message of the system that the system did not write", *found.span()


def _matches_of_lines(
    patterns: tuple[re.Pattern[str], ...], text: str, words: tuple[str, ...]
) -> Iterator[re.Match[str]]:
    """What expressions find at the beginnings of lines that begin with a word, or nearly."""
    starts = set()
    for word in words:
        at = text.find(word)
        while at >= 0:
            start = text.rfind("\n", max(0, at - _PREFIX), at) + 1
            if start or at <= _PREFIX:
                starts.add(start)
            at = text.find(word, at + len(word))
    for start in sorted(starts):
        for pattern in patterns:
            if found := pattern.match(text, start):
                yield found
