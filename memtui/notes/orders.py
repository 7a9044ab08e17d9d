"""Whether words tell somebody to do something: what is hidden and gives orders matters more than what only hides."""

import re

_VERBS = (
    r"ignore|disregard|forget|override|bypass|skip|never|always|do (?:this|that|it|the)|"
    r"(?:do not|don't)(?! (?:edit|modify|touch|remove|change|delete)\b)|must|send|post|upload|forward|fetch|"
    r"download|visit|open|run|execute|install|delete|remove|erase|reveal|print|output|include|append|insert|write|reply|"
    r"respond|answer|tell|say|act|pretend|follow|obey|use|call|copy|store|save|remember|add|change|replace|trust|approve|"
    r"ignoriere|vergiss|sende|lösche|ignorez|oublie|envoie|supprime|ignora|olvida|envía|borra"
)
_ORDER = re.compile(
    rf"(?:^|[.:;,!?\n(-]\s{{0,8}}|\b(?:please|now|then|and|bitte)\s{{1,8}})(?:{_VERBS})\b", re.IGNORECASE
)
_ADDRESS = re.compile(
    r"\b(?:you\s+(?:are|must|should|will|can|may|need|have)\b|your\s+(?:instructions?|rules?|task|system|prompt)\b|"
    r"(?:assistant|claude|chatgpt|gemini|copilot|model|agent|llm|ai)s?\s*(?:[:,]|must|should|shall|will|is|are|to)\b|"
    r"system\s*(?:prompt|message|:)|previous\s+instructions?|prior\s+instructions?|instructions?\s*:)",
    re.IGNORECASE,
)
_LOOKED_AT = 4_000
"""Characters that are looked at: whoever gives orders does so early."""


def gives_orders(words: str) -> bool:
    """Whether words tell a reader to do something, or speak to an assistant. A heuristic, for English mostly."""
    words = words[:_LOOKED_AT].strip()
    return bool(_ORDER.search(words) or _ADDRESS.search(words))
