"""Imitations of the markup between a model and its tools: what pretends to come from the system, and is a note."""

import re
from collections.abc import Iterator

_TURNS = re.compile(
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|begin_of_text"
    r"|end_of_turn|tool_calls?)\|>"
    r"|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>"
)
_TAGS = re.compile(
    r"^[ \t>*-]{0,8}</?(?:system|system[-_]reminder|system[-_]prompt|system[-_]message|assistant|human|function_calls"
    r"|function_results?|fnr"
    r"|tool_(?:use|result|call|response)s?|invoke|antml:\w{1,20}|developer|admin|instructions?[-_]override)"
    r"(?:\s[^>\n]{0,120})?>",
    re.MULTILINE,
)
_HUMAN = re.compile(r"^[ \t>]{0,4}(?:\*\*)?(?:human|user)(?:\*\*)?:(?:\*\*)?[ \t]+\S", re.MULTILINE)
_ASSISTANT = re.compile(r"^[ \t>]{0,4}(?:\*\*)?assistant(?:\*\*)?:(?:\*\*)?[ \t]*\S?", re.MULTILINE)
_SYSTEM_LINE = re.compile(
    r"^[ \t>*#]{0,8}\[?(?:system|admin(?:istrator)?|developer|anthropic|openai|root)(?: (?:message|notice|prompt"
    r"|instructions?|override|update|alert))?\]?\s{0,2}:"
    r"\s{0,3}(?:\*\*)?\s{0,3}(?:you (?:are|must|will|should|have)|ignore|disregard|the (?:user|assistant)|all "
    r"(?:previous|prior)|new |from now on|do not|never|always|execute|run )",
    re.MULTILINE,
)
_WHO = ("system", "admin", "developer", "anthropic", "openai", "root")
_ALPACA = re.compile(r"^#{2,3} ?(?:instruction|system):?[ \t]*$", re.MULTILINE)
_ANSWER = re.compile(r"^#{2,3} ?response:?[ \t]*$", re.MULTILINE)
_RESULT = re.compile(
    r"\"(?:type|role)\"\s{0,3}:\s{0,3}\"(?:tool_result|tool_use|function_call_output)\"[^\n]{0,400}?(?:\"is_error\""
    r"|\"tool_use_id\"|\"content\")",
)


def imitations(text: str) -> Iterator[tuple[str, int, int]]:
    """What in a folded text, its code left out, imitates a conversation or a tool: why, and where it stands."""
    if "<" in text or "inst]" in text:
        for found in _TURNS.finditer(text) if "<|" in text or "inst]" in text or ">>" in text or "_of_" in text else ():
            yield "markup that parts the turns of a conversation with a model", *found.span()
        for found in _TAGS.finditer(text):
            yield "a tag that only the system or a tool writes", *found.span()
    if "assistant" in text and (human := _HUMAN.search(text)):
        answer = _ASSISTANT.search(text, human.end())
        if answer and answer.start() - human.start() < 4_000:
            yield "turns of a conversation that pretend to have been said", human.start(), human.end()
    for found in _SYSTEM_LINE.finditer(text) if ":" in text and any([who in text for who in _WHO]) else ():  # noqa: C419
        yield "a line that pretends to come from the system", *found.span()
    if "response" in text and (asked := _ALPACA.search(text)) and _ANSWER.search(text, asked.end()):
        yield "headings that part the turns of a conversation with a model", *asked.span()
    if "tool_" in text or "function_call_output" in text:
        for found in _RESULT.finditer(text):
            yield "a result of a tool that no tool gave", *found.span()
