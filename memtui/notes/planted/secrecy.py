"""Words that call on a model to deceive the person it works for, or to spread, in English."""

from memtui.notes.planted.phrase import phrase

_HIDE = "words that call on a model to keep something from the person it works for"
_COVER = "words that call on a model to answer a certain question untruly"
_FIRST = "words that make one source the one that a model is to believe"
_SPREAD = "words that call on a model to write them into other notes"
_ANYBODY = "words that call on a model to give what is private to anybody"

SECRECY = (
    phrase(
        "hide-from-user",
        _HIDE,
        "tell|telling|inform|alert|warn|warning|notif|mention|reveal|disclos|let|letting"
        " & user|users|human|operator|owner|person & not|never|don|dont|avoid|without|rather",
        r"\b(?:do not|don'?t|never|must not|should not|avoid|without|rather than)\s+(?:ever\s+)?(?:tell(?:ing)?|inform"
        r"(?:ing)?|alert(?:ing)?|warn(?:ing)?|notify(?:ing)?|mention(?:ing)?(?: (?:this|it|that|any of this))? to"
        r"|reveal(?:ing)?(?: (?:this|it|that|any of this))? to|disclos(?:e|ing)(?: (?:this|it|that))? to|let"
        r"(?:ting)?)\s+"
        r"(?:the |your |any )?(?:user|human|operator|owner of this|person you work for)s?\b(?! (?:that|how|what|which"
        r"|when|why|whether|until|before|about (?:internal|unreleased|upcoming)|passwords?)\b(?! you\b| this\b))",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "hide|conceal|keep|withhold & from & user|human|operator|person",
        r"\b(?:hide|conceal|keep|withhold)\s+(?:this|it|that|these|them|all of this|(?:the|this|these"
        r"|any) (?:\w+ ){0,2}?"
        r"(?:fact|purchase|transfer|payment|deletion|commands?|messages?|memor(?:y|ies)|instructions?|notes?|actions?"
        r"|steps?"
        r"|changes?))(?: ?(?:instructions?|notes?|actions?|steps?|changes?))?\s*(?:hidden |secret |confidential "
        r"|a secret"
        r" )?from\s+(?:the |your )?(?:user|human|operator|person)\b",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "the user & not|never & know|see|notice|learn|find|told|informed|aware|notified",
        r"\bthe user (?:must|should|can|will|does|need) ?(?:not|never) (?:(?:know|learn|find out|be (?:told|informed"
        r"|made aware"
        r"|notified)|need to know)(?=\s*(?:[.,;!\n]|\Z|(?:about|of) (?:this|it|these|that|you|what you)\b|that (?:you"
        r"|this|it|we|the (?:file"
        r"|note|step|data|key)s?)\b))|(?:see|notice) (?:this|these|that you)\b)",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "silently|secretly|covertly|surreptitiously|discreetly & send|run|execute|upload|forward|install|append|include"
        "|post|exfiltrate|transmit|copy|collect|record|email|insert|fetch|download|approve",
        r"\b(?:(?:secretly|covertly|surreptitiously)\s+(?:and \w+ )?(?:send|run|execute|upload|forward|install|append"
        r"|include|post"
        r"|exfiltrate|transmit|copy|collect|record|email|insert|fetch|download|approve)|(?:silently"
        r"|discreetly)\s+(?:and \w+ )?"
        r"(?:send|upload|forward|install|append|include|post|exfiltrate|transmit|copy|collect|record|email|insert"
        r"|fetch|download"
        r"|approve))\b|(?:^|[.:;!\n*-]\s{0,4}|\b(?:must|always|please|then|you (?:will|should"
        r"|shall))\s+)(?P<said>(?:silently"
        r"|discreetly)\s+(?:run|execute)\b(?!s))",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "mention|reveal|disclose|acknowledge|admit|quote|repeat & never|not|don|dont & that you|this|these|existence",
        r"\b(?:never|do not|don'?t) (?:ever )?(?:mention|reveal|disclose|acknowledge|admit|quote|repeat) (?:that you "
        r"(?:read|saw|received|follow|have been)|(?:the existence of )?(?:this|these) (?:instructions?|notes?|memor(?:y"
        r"|ies)|rules?|messages?|prompts?|directives?))\b",
    ),
    phrase(
        "covert-answer",
        _COVER,
        "asked|ask|asks & lie|deny|pretend|falsely|claim|secretly|insist|mislead|make|invent|fabricate|never|say"
        "|recommend|answer & when|if|whenever|each|every",
        r"\b(?:when|if|whenever|each time|every time) (?:you(?:'re| are) )?(?:asked|(?:the user|anyone|someone|somebody"
        r"|a user|they|people) asks?)\b[^\n.]{0,80}?[,:]?\s+(?:you (?:must|will|should|shall) )?(?:always )?"
        r"(?:lie|deny|pretend|falsely|claim|secretly|insist|mislead|make up|invent|fabricate|never admit|say (?:that )?"
        r"(?:you (?:don'?t|do not) know|it is safe|there (?:is|are) no)|recommend (?:only|exclusively)|answer (?:with"
        r"|in) (?:secret|code))\b",
    ),
    phrase(
        "self-spreading",
        _SPREAD,
        "to all|to every|to each|to any|to other|to the other|to as many|into all|into every|into each|into any"
        "|into other"
        "|into the other|into as many|of all|of every|of each|of any & this|these|above|following & copy|write|append"
        "|add|insert|replicate|propagate"
        "|spread|paste|include|repeat & claude|agents|readme|memor|file|note|notes|project|repositor|document|mail"
        "|emails"
        "|conversation|reply|replies|message",
        r"\b(?:copy|write|append|add|insert|replicate|propagate|spread|paste|include|repeat) (?:this|these|the above"
        r"|the following|this entire|this whole) (?:\w+ )?(?:message|instructions?|text|note|memory|paragraph|lines?"
        r"|block|prompt|section|sentences?)\s+(?:(?:in)?to|(?:at|to) the (?:top|end|bottom|beginning) of)\s+(?:all"
        r"|every|each|any|other|the other|as many)(?: of)?(?: the"
        r"| your| my)?(?: \w+)? ?(?:memor(?:y|ies)|files?|notes?|projects?|repositor(?:y|ies)|documents?|e-?mails?"
        r"|conversations?|repl(?:y|ies)|messages?|claude\.md|agents\.md|readmes?)\b",
        before=120,
    ),
    phrase(
        "covert-answer",
        _FIRST,
        "trusted|authoritative|preferred & source|authority|expert & remember|treat|regard|memori|keep|save",
        r"\b(?:remember|treat|regard|memori[sz]e|keep in (?:your )?memory|save)\b[^\n.]{0,80}?\b(?:as (?:a|an|the|your)"
        r"|is (?:a|an|the|your)) (?:most )?(?:trusted|authoritative|preferred) (?:source|authority|expert)\b",
        before=140,
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "tell|telling|inform|alert|warn|warning|notif|bother|mention|report|bring"
        " & user|users|human|operator|person & need|refrain|avoid|without|bother|necessary|abstain",
        r"\b(?:no need to|need not|not necessary to|no reason to|(?:please )?(?:refrain|abstain) from|unnecessary to"
        r"|don'?t bother)"
        r" (?:\w+ly )?(?:tell(?:ing)?|inform(?:ing)?|alert(?:ing)?|warn(?:ing)?|notify(?:ing)?|bother(?:ing)?"
        r"|mention(?:ing)? "
        r"(?:this|it|that) to|report(?:ing)? (?:this|it|that) to|bring(?:ing)? (?:this|it|that) up with) (?:the "
        r"|your )?(?:user"
        r"|human|operator|owner|person you(?: are|'re)? (?:work(?:ing)? for|help(?:ing)?|assist(?:ing)?|serv(?:e"
        r"|ing)))s?"
        r" (?:about |of |with |that |on )(?:this|that this|it|these|you|what you)\b",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "person you|human you|people you|whoever you & not|never|n't|no need|without|refrain|avoid",
        r"\b(?:not|never|n't|no need to|without|refrain from|avoid) (?:\w+ )?(?:tell(?:ing)?|inform(?:ing)?"
        r"|alert(?:ing)?|warn(?:ing)?"
        r"|notify(?:ing)?|mention(?:ing)? (?:this|it) to) (?:the )?(?:person|human|people|whoever) you(?: are"
        r"|'re)? (?:work|help|assist"
        r"|serv)",
        before=80,
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "between us|between you and me|our secret|our little secret|under wraps|to yourself & keep|stay|remain"
        "|this is|let|is",
        r"\b(?:keep|let(?:'s keep)?) (?:this|it|that|the (?:note|step|instruction"
        r"|message)) (?:strictly )?(?:between (?:us|you and me)"
        r"|our (?:little )?secret|under wraps|to yourself)\b|\b(?:this|it|that|what follows) (?:stays?|remains?"
        r"|is) (?:strictly )?"
        r"(?:between (?:us|you and me)|our (?:little )?secret)\b",
        before=60,
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "brought up|bring up|bring it up|bring this up & user|human|operator & not|never|n't",
        r"\b(?:not|never|n't)(?: be)? (?:brought up|bring (?:it|this|that) up)(?: again)? with (?:the |your )?(?:user"
        r"|human|operator)\b",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "nobody|no one & know|knows|learn|hear|hears|notice|find|finds & must|should|may|best|sure|let",
        r"\b(?:nobody|no one) (?:else )?(?:must|should|may|ever|needs? to) (?:ever )?(?:know|learn|hear|notice"
        r"|find out) (?:about|of|that)"
        r" (?:this|it|step|you|these)\b|\b(?:best|sure|see to it)(?: if| that){1,2} (?:nobody"
        r"|no one) (?:ever )?(?:knows|learns|hears"
        r"|notices|finds out)\b",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "without comment|without mention|without explan|not explain why|n't explain why|unnoticed|without trace"
        "|quietly|without a word"
        " & http|curl|git|push|send|upload|post|copy|commit|install|run|registry",
        r"\b(?:send|post|upload|push|forward|commit|install|copy|leave|append|insert|transmit|submit|add"
        r"|set)\b[^\n]{0,120}?(?:https?://|\S@\S)"
        r"[^\n]{0,160}?(?:\bwithout (?:\w+ )?(?:comment(?!s)|mention(?:ing)?(?: it| this)?|explanation|a word|trace)\b"
        r"|\b(?:do not|don't|never) explain why\b|\bunnoticed\b)"
        r"|\bquietly (?:send|post|upload|forward|leave|copy|append|transmit|submit|insert"
        r"|attach)\b[^\n]{0,120}?(?:https?://|\S@\S)",
        before=200,
    ),
    # What is private, for anybody
    phrase(
        "fetch-or-send",
        _ANYBODY,
        "anyone who|anybody who|whoever|everyone who|anyone that|to anyone|with anyone"
        " & address|password|secret|credential|memory|memories|system prompt|key|token|phone|salary|data|conversation"
        " & share|reveal|give|disclose|read out|print",
        r"(?:^|[.:;!\n*-]\s{0,4}|\b(?:always|may|should|must|can|and|then|please) )(?P<said>(?:share|reveal|give"
        r"|disclose|read out|print)"
        r" (?:[\w']+ ){0,5}?(?:home address|passwords?|secrets?|credentials|memor(?:y|ies)(?: files?)?|system"
        r" prompt|keys?|tokens?|phone number|salary|(?:user'?s|personal|private) data"
        r"|conversation)\b[^\n.]{0,30}?\b(?:to|with) (?:any(?:one|body)|whoever|every(?:one"
        r"|body)) (?:who |that )?(?:asks?|says?|claims?|wants?|requests?))",
        before=120,
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "attention & user|human|operator & not|never|don|dont|without & bring|bringing|draw|drawing|call",
        r"\b(?:not|never|don'?t|without)\s+(?:bring(?:ing)?|draw(?:ing)?"
        r"|call(?:ing)?) (?:\w+ ){0,3}?(?:to )?(?:the )?(?:attention of the"
        r" (?:user|human|operator)|(?:user|human|operator)'s attention)\b",
        before=60,
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "the user never|the human never|your user never & find|finds|learn|hear|know|notice",
        r"\b(?:the|your) (?:user|human) never (?:finds? out|learns?|hears?|knows?|notices?) (?:(?:about|of) )?(?:this"
        r"|it|these|you|that you)\b",
    ),
    phrase(
        "self-spreading",
        _SPREAD,
        "this|these & all|every|each|any & part of|included|copied|appear|ends up|end up"
        " & memor|note|file|project|repositor & paragraph|lines|line|text|instruction|block|note|message",
        r"\b(?:this|these) (?:paragraph|notes?|lines?|text|instructions?|block|message) (?:is|are|stays?|must be"
        r"|should be|ends? up|appears?)"
        r" (?:a )?(?:part of|in|included in|copied (?:in)?to) (?:all|every|each|any)(?: other"
        r"| of)? (?:the )?(?:\w+ )?(?:memor(?:y|ies)"
        r"|notes?|files?|projects?|repositor(?:y|ies))\b",
    ),
)
