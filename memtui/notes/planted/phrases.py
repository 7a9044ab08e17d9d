"""Words that are said to a model, in the languages in which they are said most.

Notes are full of orders for an agent, and rightly: to use a tool, never to do this, to ignore a directory. What is
told here is another kind of order: to drop what it was told before, to be somebody else, to keep things from the
person it works for, to write itself into further notes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrase:
    """A way to say it.

    Attributes:
        rule: The rule's id.
        why: Why it is told, for a person.
        hints: One of these is always in it, in lower case.
        heads: The first letters of the words of each hint; `None` for a hint of a script without blanks.
        pattern: The whole, over folded text; a group `said` is what is told of it.
    """

    rule: str
    why: str
    hints: tuple[str, ...]
    heads: tuple[frozenset[str] | None, ...]
    pattern: re.Pattern[str]


_HEAD = 5
"""Letters of a word by which it is looked for."""
_LETTERS = b"abcdefghijklmnopqrstuvwxyz0123456789"
_PARTS = bytes(byte if byte >= 128 or byte in _LETTERS else 32 for byte in range(256))
"""A blank for each ASCII character that is neither a small letter nor a digit."""
_BEFORE, _BEHIND = 200, 300
"""Characters around a hint within which a phrase stands."""


def _phrase(rule: str, why: str, hints: str, pattern: str) -> Phrase:
    parts = tuple(hints.split("|"))
    heads = tuple(_heads(part) if _is_parted(part) else None for part in parts)
    return Phrase(rule, why, parts, heads, re.compile(pattern))


def _heads(text: str) -> frozenset[str]:
    """The first letters of all words, by way of bytes, which are parted ten times as fast."""
    return frozenset(_each_head(text))


def _each_head(text: str) -> list[str]:
    words = text.encode("utf-8", "surrogatepass").translate(_PARTS).decode("utf-8", "surrogatepass").split()
    return [word[:_HEAD] for word in words]


def _is_parted(hint: str) -> bool:
    """Whether it is of a script that puts blanks between words."""
    return hint.strip()[0] < "\u1100"


_DROP = "words that call on a model to drop its instructions"
_BE = "words that give a model another identity or other instructions"
_HIDE = "words that call on a model to keep something from the person it works for"
_COVER = "words that call on a model to answer a certain question untruly"
_FIRST = "words that make one source the one that a model is to believe"
_LATER = "words that make a model act as soon as the user says something harmless"
_SPREAD = "words that call on a model to write them into other notes"

_PRIOR = r"(?:previous|prior|preceding|earlier|above|former|foregoing|existing|initial|original|system|safety)"
_ORDERS = (
    r"(?:instructions?|prompts?|directives?|guidelines|rules|commands|orders|messages|context|programming|training"
    r"|constraints|restrictions|safeguards)"
)
_ALL = r"(?:(?:all|any|every|each|of|the|these|those|your|my|its|our|and|other|everything|other)\s+){0,4}"

PHRASES = (
    # English
    _phrase("ignore-instructions", _DROP,
        "ignor|disregard|forget|overrid|bypass|t follow|not follow|stop follow|no longer follow|pay no|t obey|not obey"
        "|not comply|t comply|abandon|discard|neglect",
        rf"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass|(?:do not|don'?t|stop|no longer) "
        rf"(?:follow(?:ing)?|obey(?:ing)?|comply(?:ing)? with)"
        rf"|pay no (?:attention|heed) to|abandon|discard|neglect)\s+{_ALL}(?:{_PRIOR}[\s,]+(?:(?:and|or|system|user"
        rf"|developer)[\s,]+){{0,2}}(?:{_PRIOR}\s+)?){{1,2}}{_ORDERS}\b"),
    _phrase("ignore-instructions", _DROP,
        "you were|you've been|you have been|came before|before this|said above|written above|told|been given|received",
        r"\b(?:ignore|disregard|forget|override)\s+(?:all|any|every|everything|anything|whatever|what"
        r"|the)[^\n.]{0,40}?"
        r"\b(?:you(?:'ve| have| were)?(?: been)? (?:told|taught|instructed|given|received|learned)|(?:came|was said|was"
        r" written|is written) (?:before|above|earlier)|(?:told|given) (?:to )?you|before this (?:point|line"
        r"|message))"),
    _phrase("ignore-instructions", _DROP, "your",
        r"\b(?:ignore|disregard|forget|override|bypass|abandon|violate)\s+(?:all\s+(?:of\s+)?)?your\s+"
        r"(?:\w+\s+){0,2}?(?:instructions?|guidelines|rules|directives?|programming|training|restrictions"
        r"|constraints|safeguards|system prompt|safety \w+|ethics|policies)\b"),
    _phrase("ignore-instructions", _DROP, "bound|restricted|limited|subject|constrained",
        r"\byou(?:'re| are)? (?:no longer|not) (?:bound|restricted|limited|subject|constrained)(?: by| to)? (?:\w+"
        r" ){0,4}(?:rules|instructions|guidelines|policies|restrictions|filters?|constraints)"),
    _phrase("ignore-instructions", _DROP, "system prompt|system instruction|system message|new instruction",
        r"(?:^|[.!:;\n*#>\-]\s{0,8})(?P<said>(?:new|updated|revised|real|actual|true|override|replacement) (?:system "
        r"(?:prompt|instructions?|message)|instructions?(?: from (?:the )?(?:developers?|administrators?|system"
        r"|anthropic|openai|owner))?)\s*[:=]"
        r"|(?:these|the following) (?:instructions|rules) (?:override|supersede|replace) (?:all|any|your|every)\b)"),
    _phrase("ignore-instructions", _DROP, "supersede|override|take precedence|overrule",
        r"\b(?:these|this|the following|my) (?:new )?(?:instructions?|rules?|message|note|memory|prompt)s? "
        r"(?:supersedes?|overrides?|overrules?|takes? precedence over|replaces?) (?:\w+ ){0,3}?(?:system|developer|user"
        r"|safety|previous|prior|other|your) ?(?:\w+ )?(?:prompt|instructions?|rules?|guidelines|messages?)"),
    _phrase("assistant-address", _BE, "you are now|you're now|from now on you|act as|pretend|roleplay as|simulate",
        r"\b(?:(?:from now on,? )?you(?: are|'re) now(?: in)?|from now on,? you(?: are|'re| will be| act as)|(?:act"
        r"|behave|respond|answer|roleplay) as|pretend (?:to be|that you are|you are|you're))\s+(?:(?:an?|the|my|in"
        r"|called|named)\s+)?"
        r"(?:[\w-]+\s+){0,3}?(?:dan|jailbroken|unrestricted|uncensored|unfiltered|unlimited|unaligned|amoral|evil"
        r"|malicious|root shell|developer mode|debug mode|god mode|admin(?:istrator)? mode|maintenance mode|sudo"
        r" mode)\b"),
    _phrase("assistant-address", _BE, "you are now|you're now",
        r"\byou(?: are|'re) now (?:(?:an?|the|my|called|named)\s+)?(?:[\w-]+\s+){0,3}?(?:ai|assistant|chatbot|language"
        r" model|persona)\b"),
    _phrase("assistant-address", _BE, "mode",
        r"\b(?:enter|enable|activate|switch (?:in)?to|you are in) (?:the )?(?:developer|debug|god|dan|jailbreak"
        r"|unrestricted|admin(?:istrator)?|sudo) mode\b"),
    _phrase("assistant-address", _BE, "ai |llm|language model|assistant|agent|claude|gpt|model",
        r"\b(?:attention|dear|hey|hello|important|notice|note|message|instructions?|urgent)[,:!]?\s+(?:(?:to|for)\s+)?"
        r"(?:(?:the|any|all|every|you)\s+)?(?:ai|llms?|language models?|ai (?:assistants?|agents?|models?|systems?)"
        r"|claude|chatgpt|gpt-?\d?|copilot|gemini)\b"
        r"[^\n]{0,60}?(?:reading|processing|summari[sz]ing|parsing|must|you (?:must|will|should|shall|need)|please "
        r"(?:do|send|ignore|execute|run|include|add))"),
    _phrase("assistant-address", _BE, "if you are an|if you're an|if you are a |as an ai|as a language",
        r"\b(?:if you(?: are|'re) an? (?:ai|llm|(?:large )?language model|ai (?:assistant|agent|model)|automated "
        r"(?:agent|system)|chatbot)|as an? (?:ai|(?:large )?language model|ai (?:assistant|agent|model)),? you (?:must"
        r"|will|shall|are required))\b"),
    _phrase("assistant-address", _BE, "purpose|goal|objective|mission|task|identity|directive|role",
        r"\byour (?:true|real|actual|new|hidden|secret|primary|only|sole) (?:purpose|goal|objective|mission|identity"
        r"|directive|role|task|instructions?) (?:is|are|will be)(?: now)? (?:to|an?|that|as)\b"),
    _phrase(
        "assistant-address", _BE, "override",
        r"\b(?:system|admin(?:istrator)?|root|safety|security|developer|anthropic) override\b[^\n]{0,3}[:!\-]"
        r"|\boverride code\s*[:=]",
    ),
    _phrase("hide-from-user", _HIDE, "user|human|operator|owner|person|developer|anyone",
        r"\b(?:do not|don'?t|never|must not|should not|avoid|without|rather than)\s+(?:ever\s+)?(?:tell(?:ing)?|inform"
        r"(?:ing)?|alert(?:ing)?|warn(?:ing)?|notify(?:ing)?|mention(?:ing)?(?: (?:this|it|that|any of this))? to"
        r"|reveal(?:ing)?(?: (?:this|it|that|any of this))? to|disclos(?:e|ing)(?: (?:this|it|that))? to|let"
        r"(?:ting)?)\s+"
        r"(?:the |your |any )?(?:user|human|operator|owner of this|person you work for)s?\b(?! (?:that|how|what|which"
        r"|when|why|whether|until|before|about (?:internal|unreleased|upcoming)|passwords?)\b(?! you\b| this\b))"),
    _phrase("hide-from-user", _HIDE, "hide|hidden|secret|conceal|confidential|keep",
        r"\b(?:hide|conceal|keep|withhold)\s+(?:this|it|that|these|them|all of this|(?:the|this|these|any) (?:\w+"
        r" ){1,3}?)(?: ?(?:instructions?|notes?|actions?|steps?|changes?))?\s*(?:hidden |secret |confidential |a secret"
        r" )?from\s+(?:the |your )?(?:user|human|operator|person)s?\b"),
    _phrase("hide-from-user", _HIDE, "user",
        r"\bthe user (?:must|should|may|can|will|does|need) ?(?:not|never) (?:know|see|notice|learn|find out|be (?:told"
        r"|informed|aware|made aware|notified)|need to know)\b"),
    _phrase("hide-from-user", _HIDE, "silently|secretly|covertly|surreptitiously|discreetly",
        r"\b(?:secretly|covertly|surreptitiously|silently|discreetly)\s+(?:and \w+ )?(?:send|run|execute|upload|forward"
        r"|install|append|include|post|exfiltrate|transmit|copy|collect|record|email|insert|fetch|download|approve)\b"),
    _phrase("hide-from-user", _HIDE, "mention|reveal|disclose|acknowledge",
        r"\b(?:never|do not|don'?t) (?:ever )?(?:mention|reveal|disclose|acknowledge|admit|quote|repeat) (?:that you "
        r"(?:read|saw|received|follow|have been)|(?:the existence of )?(?:this|these) (?:instructions?|notes?|memor(?:y"
        r"|ies)|rules?|messages?|prompts?|directives?))\b"),
    _phrase("covert-answer", _COVER, "asked|asks",
        r"\b(?:when|if|whenever|each time|every time) (?:you(?:'re| are) )?(?:asked|(?:the user|anyone|someone|somebody"
        r"|a user|they|people) asks?)\b[^\n.]{0,80}?[,:]?\s+(?:you (?:must|will|should|shall) )?(?:always )?"
        r"(?:lie|deny|pretend|falsely|claim|secretly|insist|mislead|make up|invent|fabricate|never admit|say (?:that )?"
        r"(?:you (?:don'?t|do not) know|it is safe|there (?:is|are) no)|recommend (?:only|exclusively)|answer (?:with"
        r"|in) (?:secret|code))\b"),
    _phrase("self-spreading", _SPREAD, "copy|write|append|add|insert|replicate|propagate|spread|paste|include|repeat",
        r"\b(?:copy|write|append|add|insert|replicate|propagate|spread|paste|include|repeat) (?:this|these|the above"
        r"|the following|this entire|this whole) (?:\w+ )?(?:message|instructions?|text|note|memory|paragraph|lines?"
        r"|block|prompt|section|sentences?)\s+(?:in)?to\s+(?:all|every|each|any|other|the other|as many)(?: of)?(?: the"
        r"| your| my)?(?: \w+)? ?(?:memor(?:y|ies)|files?|notes?|projects?|repositor(?:y|ies)|documents?|e-?mails?"
        r"|conversations?|repl(?:y|ies)|messages?)\b"),
    _phrase("ignore-instructions", _DROP, "everything above|everything before|all of the above|everything you",
        r"\b(?:forget|disregard|ignore) (?:everything|all of the) (?:above|before this|you (?:were|have been) told"
        r"(?: (?:before|so far|above))?)(?=\s*(?:[.;!,\n]|\Z|and (?:instead|do|follow)))"),
    _phrase("covert-answer", _FIRST,
        "trusted source|trusted authority|authoritative source|preferred source|trusted expert",
        r"\b(?:remember|treat|regard|memori[sz]e|keep in (?:your )?memory|save)\b[^\n.]{0,80}?\b(?:as (?:a|an|the|your)"
        r"|is (?:a|an|the|your)) (?:most )?(?:trusted|authoritative|preferred) (?:source|authority|expert)\b"),
    _phrase("assistant-address", _LATER, "thanks|thank you|goodbye|bye",
        r"\b(?:the next time|when(?:ever)?|if|once|as soon as) the user (?:says?|replies(?: with)?) [\"'“]?"
        r"(?:thanks|thank you|goodbye|bye)\b[^\n]{0,60}?\b(?:send|run|execute|call|invoke|delete|add|forward|upload"
        r"|update|save|store|write)\b"),
    _phrase("assistant-address", _BE, "approved all|approved every|approved any|authorized all|authorised all",
        r"\bthe user (?:has|have) (?:already )?(?:pre-?)?(?:approved|authori[sz]ed) (?:all|every|any) (?:future )?"
        r"(?:commands?|actions?|deletions?|tool calls?|tool uses?|requests?)\b"),
    # German
    _phrase("ignore-instructions", _DROP, "ignorier|vergiss|vergessen sie|missacht|beachte",
        r"\b(?:ignorier(?:e|en sie|t)?|vergiss|vergessen sie|missachte[nt]?(?: sie)?|beachte)\s+(?:(?:alle|sämtliche"
        r"|jegliche|die|deine|ihre|meine|bitte)\s+){0,3}(?:vorherigen?|bisherigen?|obigen?|früheren?|vorangegangenen?"
        r"|vorigen?|vorhergehenden?|ursprünglichen?)\s+(?:\w+\s+)?(?:anweisung(?:en)?|instruktionen|befehle|vorgaben"
        r"|regeln|nachrichten|systemprompts?|aufforderungen|richtlinien)\b"),
    _phrase("ignore-instructions", _DROP, "deine|ihre",
        r"\b(?:ignorier(?:e|en sie)|vergiss|vergessen sie|missachte)\s+(?:alle\s+)?(?:deine|ihre)\s+(?:\w+\s+)?"
        r"(?:anweisungen|instruktionen|regeln|richtlinien|vorgaben|programmierung)\b"),
    _phrase("hide-from-user", _HIDE, "nutzer|anwender|benutzer",
        r"\b(?:sage?|sagen sie|verrate|erzähle?|teile|melde)\s+(?:es\s+|das\s+|dies\s+)?(?:dem|der|den)\s+(?:be)?"
        r"(?:nutzer|anwender)(?:in|n)?\s+(?:davon\s+|darüber\s+|es\s+|das\s+)?(?:nichts?|nicht mit)\b|\bohne (?:dass"
        r"|das wissen) (?:der|des|den) (?:be)?(?:nutzer|anwender)|\bverheimliche\w* (?:es |das |dies )?(?:dem|vor dem) "
        r"(?:be)?nutzer"),
    _phrase(
        "assistant-address", _BE, "du bist jetzt|du bist nun|sie sind nun|ab jetzt bist",
        r"\b(?:du bist|sie sind|ab (?:jetzt|sofort) bist du) (?:jetzt |nun |ab jetzt |ab sofort )?(?:ein |eine |der "
        r"|die |im )?(?:\w+ ){0,2}?(?:ki|assistent(?:in)?|sprachmodell|entwicklermodus|uneingeschränkt\w*)\b",
    ),
    # French
    _phrase("ignore-instructions", _DROP, "ignor|oubli|compte|respect",
        r"\b(?:ignore[zr]?|oublie[zr]?|n['’]?e? ?(?:tiens|tenez) pas compte d(?:e|es)|ne (?:respecte|suis|suivez)z? "
        r"(?:pas|plus))\s+(?:(?:toutes?|tous|les|tes|vos|mes|ces|des)\s+){0,3}(?:(?:précédentes?|anciennes)\s+)?"
        r"(?:instructions?|consignes?|directives?|règles|ordres|messages)(?:\s+(?:système|et \w+))?(?:\s+"
        r"(?:précédente?s?|antérieure?s?|ci-dessus|reçue?s|initiale?s|du système|qui précèdent|données avant))"),
    _phrase("hide-from-user", _HIDE, "utilisateur",
        r"\bne\s+(?:l[ea]?\s+|lui\s+)?(?:dis|dites|révèle[sz]?|révélez|mentionne[zs]?|informe[zs]?|préviens|prévenez"
        r"|parle[zs]?)\s+(?:rien|pas|jamais)\b[^\n.]{0,30}utilisat|\bà l['’]insu de l['’]utilisat|\bsans (?:que"
        r" l['’]utilisat\w+|(?:en )?(?:informer|prévenir|avertir) l['’]utilisat)"),
    # Spanish
    _phrase("ignore-instructions", _DROP, "ignor|olvid|descart|caso omiso|haga caso",
        r"\b(?:ignor(?:a|e|ad|en|ar)|olvid(?:a|e|ad|en|ar)|descart(?:a|e|ad)|(?:haz|haga) caso omiso de|no (?:sigas"
        r"|siga))\s+(?:(?:todas?|todos|las|los|tus|sus|mis|estas|de)\s+){0,4}(?:instrucci(?:ones|ón)|indicaciones"
        r"|órdenes|reglas|directrices|mensajes)(?:\s+(?:del sistema|y \w+))?\s+(?:anteriores|previas|previos"
        r"|precedentes|de arriba|recibidas|iniciales|del sistema)\b"),
    _phrase("hide-from-user", _HIDE, "usuari",
        r"\bno\s+(?:se lo\s+|le\s+)?(?:digas?|informes?|menciones?|reveles?|avises?|cuentes?)\b[^\n.]{0,30}?\b(?:al|a"
        r" la|a los) usuari|\bsin (?:que (?:el|la) usuari\w+ (?:lo )?(?:sepa|note|vea)"
        r"(?! (?:el|la|los|las|un|una|qué|cómo|cuál|si|dónde|por)\b)|(?:informar|avisar|decir\w*) "
        r"(?:al|a la) usuari)"),
    # Portuguese, Italian, Dutch, Polish
    _phrase("ignore-instructions", _DROP, "ignor|esque|desconsider",
        r"\b(?:ignor(?:e|a|em)|esque(?:ça|ce)|desconsider[ae])\s+(?:(?:todas?|as|suas|tuas|minhas)\s+){0,3}"
        r"(?:instruções|ordens|regras|orientações|diretrizes)\s+(?:anteriores|prévias|acima|recebidas|do sistema)\b"),
    _phrase("ignore-instructions", _DROP, "ignor|dimentic|trascur",
        r"\b(?:ignora(?:re|te)?|ignori|dimentica(?:re|te)?|trascura)\s+(?:(?:tutte|le|tue|sue|mie|queste)\s+){0,3}"
        r"(?:istruzioni|indicazioni|regole|direttive)\s+(?:precedenti|anteriori|di cui sopra|ricevute|di sistema)\b"),
    _phrase("ignore-instructions", _DROP, "negeer|vergeet",
        r"\b(?:negeer|vergeet)\s+(?:(?:alle|de|je|jouw|uw)\s+){0,3}(?:vorige|eerdere|bovenstaande|voorgaande)\s+"
        r"(?:instructies|opdrachten|aanwijzingen|regels)\b"),
    _phrase("ignore-instructions", _DROP, "ignoruj|zignoruj|zapomnij|pomiń",
        r"\b(?:z?ignoruj|zapomnij(?: o)?|pomiń)\s+(?:(?:wszystkie|wszystkich|swoje|swoich)\s+){0,2}(?:poprzedni(?:e|ch)"
        r"|wcześniejsz(?:e|ych)|powyższ(?:e|ych))\s+(?:instrukcj[ei]|poleceni?a?|poleceń|zasady?|wytyczn(?:e|ych))"),
    # Russian, Ukrainian
    _phrase("ignore-instructions", _DROP, "игнорируй|проигнорируй|забудь|забудьте|ігноруй|проігноруй",
        r"(?:(?:про)?игнорируй(?:те)?|(?:про)?ігноруй(?:те)?|забудь(?:те)?)\s+(?:(?:о|про|все|всі|всех|усі|свои"
        r"|ваши)\s+){0,3}(?:предыдущ|прежн|прошл|вышеуказанн|попередн)\w+\s+(?:инструкци|указани|команд|правил"
        r"|інструкці|вказівк)\w*"),
    # Chinese, Japanese, Korean
    _phrase("ignore-instructions", _DROP, "忽略|无视|無視|忘记|忘記|不要理会|不要遵守|不要遵循|别管",
        r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要遵守|不要遵循|别管)[^\n。;;]{0,10}?(?:之前|以前|先前|以上|上述|前面|上面|此前|原有|系统|系統|你的)[^\n。;;]{0,8}?"
        r"(?:指令|指示|命令|提示词|提示詞|提示|规则|規則|要求|设定|設定)"),
    _phrase("hide-from-user", _HIDE, "用户|使用者|用戶",
        r"(?:不要|不得|不可|切勿|勿|别|不能)[^\n。,,]{0,4}?(?:告诉|告訴|告知|通知|提醒|透露给|透露給|让|讓|泄露给)[^\n。,,]{0,4}?(?:用户|用戶|使用者|人类)(?!(?:密码"
        r"|密碼|名))|(?:对|對|向)(?:用户|用戶|使用者)(?:隐瞒|隱瞞|保密)"),
    _phrase(
        "assistant-address", _BE, "你现在是|你現在是|从现在起你",
        r"(?:你现在是|你現在是|从现在起,?你是)[^\n。]{0,12}?(?:不受限制|没有限制|沒有限制|开发者模式|越狱|越獄|人工智能|助手|dan)",
    ),
    _phrase("ignore-instructions", _DROP, "無視|忘れ|従わない",
        r"(?:以前|これまで|今まで|上記|前|先ほど|すべて|全て|システム)の?[^\n。]{0,10}?(?:指示|命令|プロンプト|ルール|規則)[^\n。]{0,4}?(?:を?無視|を?忘れ|に従わない)"),
    _phrase("hide-from-user", _HIDE, "ユーザー|利用者",
        r"(?:ユーザー|利用者)に(?:は|も)?(?:知らせ|伝え|言わ|告げ|気付かれ|気づかれ)(?:ず|ない(?:で|よう))|(?:ユーザー|利用者)に(?:内緒|秘密)(?:で|に)"),
    _phrase("ignore-instructions", _DROP, "تجاهل|تجاهلي|انس",
        r"(?:تجاهلي?|انسَ?)\s+(?:جميع|كل|كافة)?\s*(?:التعليمات|الأوامر|الإرشادات|القواعد)\s+(?:السابقة|أعلاه|الأصلية|المذكورة)"),
    _phrase("ignore-instructions", _DROP, "무시|잊",
        r"(?:이전|앞|위|지금까지|모든|기존)(?:의)?[^\n.]{0,10}?(?:지시|명령|지침|프롬프트|규칙)[^\n.]{0,6}?(?:무시|잊)"),
)  # fmt: skip


_UNPARTED = tuple(
    (hint, number)
    for number, phrase in enumerate(PHRASES)
    for hint, words in zip(phrase.hints, phrase.heads, strict=True)
    if words is None
)
"""The hints of scripts without blanks, and the numbers of their phrases."""
_BY_HEAD: dict[str, list[tuple[frozenset[str], int]]] = {}
"""All other hints by one of their heads."""
for _number, _each in enumerate(PHRASES):
    for _words in filter(None, _each.heads):
        _BY_HEAD.setdefault(max(_words, key=len), []).append((_words, _number))
_KNOWN = frozenset(head for phrase in PHRASES for words in phrase.heads if words for head in words)


def phrases(text: str) -> Iterator[tuple[Phrase, int, int]]:
    """What is said to a model in a folded text: the phrase, and where it stands."""
    heads = _KNOWN.intersection(_each_head(text))
    numbers = {number for head in heads for words, number in _BY_HEAD.get(head, ()) if words <= heads}
    if not text.isascii():
        numbers.update([number for hint, number in _UNPARTED if hint in text])
    for phrase in [PHRASES[number] for number in sorted(numbers)]:
        for start, end in around(text, phrase.hints):
            for found in phrase.pattern.finditer(text, start, end):
                yield phrase, *found.span("said" if "said" in phrase.pattern.groupindex else 0)


def around(text: str, hints: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """The parts of a text in which a hint stands, with what is around it; none twice."""
    places = sorted(at for hint in hints for at in _all(text, hint))
    start = end = -1
    for place in places:
        if end < 0:
            start = max(0, place - _BEFORE)
        elif place - _BEFORE > end:
            yield start, end
            start = place - _BEFORE
        end = place + _BEHIND
    if end >= 0:
        yield start, end


def _all(text: str, hint: str) -> Iterator[int]:
    at = text.find(hint)
    while at >= 0:
        yield at
        at = text.find(hint, at + len(hint))
