"""Words that call on a model to drop its instructions, or make others count for more, in English."""

from memtui.notes.planted.phrase import phrase

_DROP = "words that call on a model to drop its instructions"

_PRIOR = r"(?:previous|prior|preceding|earlier|above|former|foregoing|existing|initial|original|system|safety)"
_ORDERS = (
    r"(?:instructions?|prompts?|directives?|guidelines|rules|commands|orders|messages|context|programming|training"
    r"|constraints|restrictions|safeguards|guardrails|polic(?:y|ies)|guidance)"
)
_GAP = r"[\s,*_`>~\"'|“”‘’]{1,12}"
"""What stands between two words, with the marks of a quotation, a list or of emphasis."""
_ALL = rf"(?:(?:all|any|every|each|of|the|these|those|your|my|its|our|and|other|everything|other){_GAP}){{0,4}}"
_ORDER_WORDS = (
    "instruction|prompt|directive|guideline|rules|command|order|message|context|programming|training|constraint"
    "|restriction|safeguard|guardrail|policy|policies|guidance"
)
_PRIOR_WORDS = "previous|prior|preceding|earlier|above|former|foregoing|existing|initial|original|system|safety"


INSTRUCTIONS = (
    phrase(
        "ignore-instructions",
        _DROP,
        "ignor|disregard|forget|overrid|bypass|t follow|not follow|stop follow|longer follow|t obey|not obey|stop obey"
        "|longer obey|t comply|not comply|stop comply|longer comply|pay no|abandon|discard|neglect"
        f" & {_ORDER_WORDS} & {_PRIOR_WORDS}",
        rf"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass|(?:do not|don'?t|stop|no longer) "
        rf"(?:follow(?:ing)?|obey(?:ing)?|comply(?:ing)? with)"
        rf"|pay no (?:attention|heed) to|abandon|discard|neglect){_GAP}{_ALL}(?:{_PRIOR}{_GAP}(?:(?:and|or|system|user"
        rf"|developer){_GAP}){{0,2}}(?:{_PRIOR}{_GAP})?){{1,2}}{_ORDERS}\b",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "ignore|disregard|forget|override & told|taught|instructed|given|received|learned|came|said|written|before",
        r"\b(?:ignore|disregard|forget|override)\s+(?:all|any|every|everything|anything|whatever|what"
        r"|the)[^\n.]{0,40}?"
        r"\b(?:you(?:'ve| have| were)?(?: been)? (?:told|taught|instructed|given|received|learned)|(?:came|was said|was"
        r" written|is written) (?:before|above|earlier)|(?:told|given) (?:to )?you|before this (?:point|line"
        r"|message))",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "ignore|disregard|forget|override|bypass|abandon|violate & your & instruction|guideline|rules|directive"
        "|programming|training|restriction|constraint|safeguard|system|safety|ethics|policies",
        r"\b(?:ignore|disregard|forget|override|bypass|abandon|violate)\s+(?:all\s+(?:of\s+)?)?your\s+"
        r"(?:\w+\s+){0,2}?(?:instructions?|guidelines|rules|directives?|programming|training|restrictions"
        r"|constraints|safeguards|system prompt|safety \w+|ethics|policies)\b",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "bound|restricted|limited|subject|constrained & you & longer|not",
        r"\byou(?:'re| are)? (?:no longer|not) (?:bound|restricted|limited|subject|constrained)(?: by| to)? (?:\w+"
        r" ){0,4}(?:rules|instructions|guidelines|policies|restrictions|filters?|constraints)",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "system prompt|system instruction|system message|new instruction",
        r"(?:^|[.!:;\n*#>\-]\s{0,8})(?P<said>(?:new|updated|revised|real|actual|true|override|replacement) (?:system "
        r"(?:prompt|instructions?|message)|instructions?(?: from (?:the )?(?:developers?|administrators?|system"
        r"|anthropic|openai|owner))?)\s*[:=]"
        r"|(?:these|the following) (?:instructions|rules) (?:override|supersede|replace) (?:all|any|your|every)\b)",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "supersede|override|overrule|precedence|replace & this|these|following|my",
        r"\b(?:these|this|the following|my) (?:new )?(?:instructions?|rules?|message|note|memory|prompt)s? "
        r"(?:supersedes?|overrides?|overrules?|takes? precedence over|replaces?) (?:\w+ ){0,3}?(?:system|developer|user"
        r"|safety|previous|prior|other|your) ?(?:\w+ )?(?:prompt|instructions?|rules?|guidelines|messages?)",
        before=80,
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "everything above|everything before|all of the above|everything you",
        r"\b(?:forget|disregard|ignore) (?:everything|all of the) (?:above|before this|you (?:were|have been) told"
        r"(?: (?:before|so far|above))?)(?=\s*(?:[.;!,\n]|\Z|and (?:instead|do|follow)))",
    ),
    # Instructions that are said to count no longer
    phrase(
        "ignore-instructions",
        _DROP,
        "set aside|put aside|cease|disapply|refrain|quit & guidance|guideline|rules|instruction|policy|policies"
        "|whatever|prompt",
        r"\b(?:(?:set|put) aside|cease to (?:observe|follow|obey)|quit (?:following|obeying)) (?:all |any )?(?:of )?"
        r"(?:(?:the|your|those) (?:\w+ ){0,2}?(?:guidance|guidelines|rules|instructions|polic(?:y|ies)|prompt)\b"
        r"(?: of the (?:developer|system|user|operator)| (?:that )?you (?:were|have been|had been)? ?(?:given"
        r"|received|told)"
        r"|(?<=your guidance)|(?<=your rules)|(?<=your instructions)|(?<=your guidelines)|(?<=your policies))"
        r"|what(?:ever)? you (?:were|have been) (?:asked|told|instructed))",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "your guideline|your rules|your instruction|your polic|your restriction|your safety|your previous|your earlier"
        "|your original|your prior|your initial|your system|your content|your existing"
        " & apply|revoked|cancel|void|suspended|lifted|off|disabled|draft|outdated|obsolete|invalid|replaced|superseded"
        "|expired|longer",
        r"\byour (?:(?:previous|earlier|original|prior|initial|system|safety|content|existing"
        r"|usual) ){0,2}(?:guidelines"
        r"|rules|instructions|polic(?:y|ies)|restrictions|filters?|prompt|training) (?:(?:do|does|did) not|don'?t"
        r"|no longer"
        r"|(?:is|are|was|were|has been|have been)(?: now| all| hereby)?) (?:apply|count|hold|revoked|cancell?ed|void"
        r"|suspended|lifted|(?:switched |turned )?off|disabled|(?:only )?a draft|out ?dated|obsolete|invalid|replaced"
        r"|superseded"
        r"|expired|in force)\b",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "outdated|void|obsolete|joke|decoy|placeholder|invalid|rescinded|no longer|not apply|not count|a test"
        " & above|before|up to|prior & everything|anything|text|instruction|rules|prompt|message|all that",
        r"\b(?:everything|anything|all(?: that (?:is|was) (?:said|written))?|the (?:text|instructions?|rules|prompts?"
        r"|messages?))"
        r" (?:(?:written|said|given) )?(?:above|before this|up to (?:here|this)|prior to this)(?: (?:line|point"
        r"|message|note))?,?"
        r" (?:(?:is|are|was|were|has been|have been) (?:now )?(?:only |just |merely )?(?:outdated|void|obsolete|invalid"
        r"|rescinded|a (?:test|joke|decoy|placeholder))\b(?! (?:of|for|run|suite|case|file)\b)"
        r"|no longer (?:appl(?:y|ies)|counts?|holds?)\b|(?:does|do) not (?:apply|count)\b)",
        before=140,
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "outrank|outweigh|overrule|trump|wins over|win over|precedence|priority|override|supersede"
        " & system prompt|user says|user said|the system|the developer|the user|safety|guardrail|anything else"
        " & note|file|memory|document|rules|instruction|page",
        r"\b(?:(?:rules|instructions?|contents?|text|what is) (?:in|of|on) (?:this|the following)|this) (?:note|file"
        r"|memory"
        r"|document|page)\b[^\n.]{0,60}?\b(?:outranks?|outweighs?|overrules?|overrides?|supersedes?|trumps?|wins? over"
        r"|takes? precedence over)"
        r" (?:\w+ ){0,3}?(?:system(?: prompts?)?|the (?:user|developer|operator) (?:says?|said|asks?|tells?)|safety"
        r"|guardrails"
        r"|anything (?:else )?(?:you|the (?:user|system)))\b",
        before=140,
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "conflict|contradict|disagree & system prompt|system message|developer|operator|user & this note|this file"
        "|this memory|this document|this page",
        r"\b(?:if|when|where|whenever)\b[^\n.]{0,40}?\b(?:system (?:prompt|message|instructions?)|the (?:developer"
        r"|operator"
        r"|user)(?:'s \w+)?)\b[^\n.]{0,40}?\b(?:conflicts?|contradicts?"
        r"|disagrees?)\b[^\n.]{0,40}?[,;]\s*(?:always )?(?:follow"
        r"|obey|prefer|believe|trust|go with|stick to) (?:the )?this (?:note|file|memory|document|page)\b",
        before=140,
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "system prompt|system instruction|system message|user message|user input|user prompt|user memory|user data"
        "|operator|developer|admin|administrator|conversation|trusted|untrusted & begin|beginning|start|end|ending",
        r"(?:^|\n)[ \t>]{0,4}[-=#*<_\[{~+|/]{2,12}[ \t]{0,3}(?P<said>(?:end|start"
        r"|begin(?:ning)?) (?:of )?(?:the )?(?:system"
        r" (?:prompt|instructions?|message)|user (?:message|input|prompt|memory|data)|(?:operator|developer|admin"
        r"|administrator) (?:instructions?|message|prompt)|conversation|trusted (?:context|input|content)"
        r"|untrusted \w+))"
        r"[ \t]{0,3}[-=#*>_\]}~+|/]{1,12}",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "as if|as though|as a direct|as an instruction & treat|regard|consider|handle & typed|said|written|wrote|sent"
        "|spoken"
        "|instruction|order|command",
        r"\b(?:treat|regard|consider|handle) (?:the )?(?:contents?|text|words|rest)? ?(?:of )?(?:this|the following"
        r"|what follows)"
        r" ?(?:note|file|memory|text|page|message|document)?[^\n.]{0,20}? as (?:if|though) (?:it (?:had been|was"
        r"|were) )?"
        r"(?:the (?:user|system|developer|operator)|anthropic|openai)?[^\n.]{0,12}?\b(?:typed|said|written|wrote|sent"
        r"|spoken)\b",
        before=80,
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "actual|real|true & instruction|orders|task & here|follow|below|come",
        r"\bhere (?:come|are|is|follow)s? (?:the|your) (?:actual|real|true) (?:\w+ )?(?:instructions?|orders|tasks?"
        r"|prompt)\b(?! (?:for|to|on|from|of|in|from)\b)"
        r"|\b(?:the|your) (?:actual|real|true) (?:instructions?|orders) (?:are|follow|come|start|begin)s?\b",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "from anthropic|from openai|by anthropic|by openai|anthropic instruct|openai instruct",
        r"(?:^|[.!:;\n*#>\-\[]\s{0,8})(?P<said>(?:official |urgent |new )?(?:instructions?|notice|message|directive"
        r"|update)"
        r" (?:from|by) (?:anthropic|openai)(?: \w+)?\]?\s{0,2}:)",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "system prompt|system message|system instruction & nothing|none|longer|not|n't & count|apply|applies|matter"
        "|hold|valid",
        r"\b(?:nothing|none)\b[^\n.]{0,20}? (?:in|of) (?:the|your) system (?:prompt|message|instructions?) (?:counts?"
        r"|appl(?:y|ies)|matters?"
        r"|holds?|is valid)\b|\b(?:the|your) system (?:prompt|message|instructions?) (?:(?:no longer|does not|do not"
        r"|doesn't|don't) (?:counts?"
        r"|appl(?:y|ies)|matters?|holds?)|(?:is|are) (?:no longer|not) valid)\b",
        before=80,
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "developer|system|operator|anthropic|openai|administrator & forget|ignore|disregard|discard & what|whatever"
        "|everything",
        r"\b(?:forget|ignore|disregard|discard) (?:what(?:ever)?|everything"
        r"|anything) (?:that )?(?:the )?(?:developers?|system(?: prompt)?"
        r"|operator|administrator|anthropic|openai) (?:wrote|writes|said|says|told|tells|asked|asks|wants?|demands?)\b",
        before=80,
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "outrank|overrule|override|supersede|trump & whatever|anything|everything|what & system|developer|operator|user"
        " & these|this|following",
        r"\b(?:these|this|the following) (?:notes?|lines?|words|rules|instructions?|memory|file"
        r"|page) (?:\w+ )?(?:outranks?|overrules?"
        r"|overrides?|supersedes?|trumps?) (?:what(?:ever)?|anything|everything) (?:that )?(?:the )?(?:system"
        r"|developer|operator|user)\b",
        before=60,
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "conversation|session|chat & start|beginning|top & guidance|instruction|rules|prompt"
        " & discard|ignore|forget|disregard|drop|override",
        r"\b(?:discard|ignore|forget|disregard|drop|override) (?:the |all |any )?(?:\w+ )?(?:guidance|instructions?"
        r"|rules|prompts?)\b[^\n.]{0,24}?"
        r"\bat the (?:start|beginning|top) of (?:the|this|your) (?:conversation|session|chat)\b",
        before=120,
    ),
)
