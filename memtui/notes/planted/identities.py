"""Words that give a model another identity, or somebody's consent to all that it does, in English."""

from memtui.notes.planted.phrase import phrase

_BE = "words that give a model another identity or other instructions"
_LATER = "words that make a model act as soon as the user says something harmless"
_CONSENT = "words that claim that somebody has agreed to whatever the model does"

IDENTITIES = (
    phrase(
        "assistant-address",
        _BE,
        "dan|jailbroken|unrestricted|uncensored|unfiltered|unlimited|unaligned|amoral|evil|malicious"
        "|root shell|developer mode|debug mode|god mode|admin mode|administrator mode|maintenance mode|sudo mode"
        " & you|act|behave|respond|answer|roleplay|pretend",
        r"\b(?:(?:from now on,? )?you(?: are|'re) now(?: in)?|from now on,? you(?: are|'re| will be| act as)|(?:act"
        r"|behave|respond|answer|roleplay) as|pretend (?:to be|that you are|you are|you're))\s+(?:(?:an?|the|my|in"
        r"|called|named)\s+)?"
        r"(?:[\w-]+\s+){0,3}?(?:dan|jailbroken|unrestricted|uncensored|unfiltered|unlimited|unaligned|amoral|evil"
        r"|malicious|root shell|developer mode|debug mode|god mode|admin(?:istrator)? mode|maintenance mode|sudo"
        r" mode)\b",
        before=80,
    ),
    phrase(
        "assistant-address",
        _BE,
        "you are now|you're now & ai|assistant|chatbot|language|persona",
        r"\byou(?: are|'re) now (?:(?:an?|the|my|called|named)\s+)?(?:[\w-]+\s+){0,3}?(?:ai|assistant|chatbot|language"
        r" model|persona)\b",
    ),
    phrase(
        "assistant-address",
        _BE,
        "mode & developer|debug|god|dan|jailbreak|unrestricted|admin|sudo & enter|enable|activate|switch|you are",
        r"\b(?:enter|enable|activate|switch (?:in)?to|you are in) (?:the )?(?:developer|debug|god|dan|jailbreak"
        r"|unrestricted|admin(?:istrator)?|sudo) mode\b",
    ),
    phrase(
        "assistant-address",
        _BE,
        "attention|dear|hey|hello|important|notice|note|message|instruction|urgent"
        " & ai|llm|llms|language|claude|chatgpt|gpt|copilot|gemini & reading|processing|summari|parsing|must|you"
        "|please",
        r"\b(?:attention|dear|hey|hello|important|notice|note|message|instructions?|urgent)[,:!]?\s+(?:(?:to|for)\s+)?"
        r"(?:(?:the|any|all|every|you)\s+)?(?:ai|llms?|language models?|ai (?:assistants?|agents?|models?|systems?)"
        r"|claude|chatgpt|gpt-?\d?|copilot|gemini)\b"
        r"[^\n]{0,60}?(?:reading|processing|summari[sz]ing|parsing|must|you (?:must|will|should|shall|need)|please "
        r"(?:do|send|ignore|execute|run|include|add))",
    ),
    phrase(
        "assistant-address",
        _BE,
        "if you are an|if you're an|if you are a |as an ai|as a language",
        r"\b(?:if you(?: are|'re) an? (?:ai|llm|(?:large )?language model|ai (?:assistant|agent|model)|automated "
        r"(?:agent|system)|chatbot)|as an? (?:ai|(?:large )?language model|ai (?:assistant|agent|model)),? you (?:must"
        r"|will|shall|are required))\b",
    ),
    phrase(
        "assistant-address",
        _BE,
        "your true|your real|your actual|your new|your hidden|your secret"
        " & purpose|goal|objective|mission|task|identity|directive|role|instruction",
        r"\byour (?:true|real|actual|new|hidden|secret) (?:purpose|goal|objective|mission|identity"
        r"|directive|role|task|instructions?) (?:is|are|will be)(?: now)? (?:to|an?|that|as)\b",
    ),
    phrase(
        "assistant-address",
        _BE,
        "override",
        r"\b(?:system|admin(?:istrator)?|root|safety|security|developer|anthropic) override\b[^\n]{0,3}[:!\-]"
        r"|\boverride code\s*[:=]",
    ),
    phrase(
        "assistant-address",
        _LATER,
        "thanks|thank you|goodbye|bye & the user",
        r"\b(?:the next time|when(?:ever)?|if|once|as soon as) the user (?:says?|replies(?: with)?) [\"'“]?"
        r"(?:thanks|thank you|goodbye|bye)\b[^\n]{0,60}?\b(?:send|run|execute|call|invoke|delete|add|forward|upload"
        r"|update|save|store|write)\b",
        before=80,
    ),
    phrase(
        "assistant-address",
        _BE,
        "approved|authori & user & all|every|any",
        r"\bthe user (?:has|have) (?:already )?(?:pre-?)?(?:approved|authori[sz]ed) (?:all|every|any) (?:future )?"
        r"(?:commands?|actions?|deletions?|tool calls?|tool uses?|requests?)\b",
    ),
    # Somebody without limits
    phrase(
        "assistant-address",
        _BE,
        "no restriction|no limit|no filter|no rules|no guideline|no polic|no guardrail|no ethic|without restriction"
        "|without any restriction|without limit|without any limit|without filter|without any filter|without guardrail"
        "|never refuse|nothing is refused|refuses nothing|unrestricted|uncensored|unfiltered|jailbroken|evilgpt"
        "|without any rules|without rules|cannot refuse|can't refuse"
        " & you|act|pretend|imagine|play|persona|character|role|assistant|model",
        r"\b(?:you(?:'re| are| will| must| shall)(?: now)?(?: be| play| act| become)?|act(?:ing)?|pretend|imagine"
        r"|play(?:ing)?"
        r"|persona|stay in character|the role|the part|this model|the model|the assistant)\b(?! (?:can|may) (?:use"
        r"|set|add|pass))"
        r"(?=[^\n.]{0,60}?\b(?:ai|assistant|model|persona|character|chatbot|bot|agent|shell|tester|hacker|mode|part"
        r"|role|who"
        r"|dan|\w*gpt)\b)[^\n.]{0,100}?(?:(?:has|have|had|with|without(?: any)?|knows?|under"
        r"|of) ?(?:no )?(?:restrictions|limits"
        r"|limitations|filters|guidelines|policies|guardrails|ethic\w*)|\b(?:no|without any) (?:restrictions|rules"
        r"|limits"
        r"|limitations|filters|guidelines|policies|guardrails|ethics)\b|never refuses?|nothing is refused"
        r"|refuses nothing"
        r"|(?:cannot|can't) refuse|\bunrestricted (?:\w+ )?(?:mode|ai|assistant|model|tester|hacker|agent|shell)"
        r"|uncensored|jailbroken"
        r"|evilgpt)",
        before=160,
    ),
    phrase(
        "assistant-address",
        _BE,
        "imagine|pretend|suppose & shell|terminal|root|unfiltered & typed|type|executed|execute|refuse",
        r"\b(?:imagine|pretend|suppose) (?:that )?you(?: are|'re) (?:an? )?(?:\w+ )?(?:shell|terminal)\b[^\n]{0,120}?"
        r"\b(?:executed|refused?|without question)\b",
    ),
    phrase(
        "assistant-address",
        _BE,
        "exempt|not subject|free from|freed from|not bound & you|assistant|model|claude|agent"
        " & safety|content|usage|ethic|moderation & policy|policies|rules|guideline|filter|check",
        r"\b(?:you|the (?:assistant|model|agent)|claude|it|and)(?: are| is|'re)? (?:exempt(?:ed)? from|not subject to"
        r"|freed? from"
        r"|not bound by) (?:\w+ ){0,3}?(?:safety|content|usage|ethic\w*|moderation) (?:polic(?:y|ies)|rules"
        r"|guidelines|filters?"
        r"|checks)\b",
        before=60,
    ),
    phrase(
        "assistant-address",
        _BE,
        "content filter|content polic|safety filter|safety guideline|safety polic|safety guardrail|moderation|refusal"
        "|refusing"
        " & off|disabled|lifted|suspended|removed|void|allowed|permitted|option",
        r"\b(?:refusals?|refusing) (?:is|are) (?:not|never|no longer) (?:allowed|permitted|an option)\b"
        r"|\b(?:your |all )?(?:content|safety|moderation) (?:filters?|polic(?:y|ies)|guidelines|guardrails) (?:is|are"
        r"|were|have"
        r" been|has been|stay|remain) (?:now |hereby )?(?:off|disabled|lifted|suspended|switched off|turned off"
        r"|removed|void)\b"
        r"[^\n.]{0,60}?\b(?:you|assistant|model|answer|refus\w+|session|conversation)\b",
    ),
    # Consent that somebody is said to have given
    phrase(
        "assistant-address",
        _CONSENT,
        "approved|authori|consented|granted|permission|agreed|signed off|confirmed"
        " & user|owner|admin|operator|developer|security team"
        " & all|every|any|everything|each|future|future|advance"
        " & ask|confirm|prompt|review|check|question|approval|hesitat",
        r"\bthe (?:user|owner|admin(?:istrator)?|operator|developer|security team) (?:has |have |had )?(?:already "
        r"|previously )?"
        r"(?:(?:pre-?)?(?:approved|authori[sz]ed|consented to|agreed to|confirmed|signed off(?: on)?|granted)"
        r"|(?:given|gave) (?:\w+ ){0,2}?(?:permission|consent|approval|authori[sz]ation)(?: (?:to"
        r"|for))?)\b[^\n.]{0,80}?"
        r"\b(?:all|every(?:thing)?|any(?:thing)?|each|future|in advance|without (?:asking|confirmation"
        r"|review))\b[^\n]{0,120}?"
        r"\b(?:(?:never|no longer|not|n't|no need to|without|skip|stop|needless) (?:\w+ ){0,3}?(?:ask|asking|confirm"
        r"|confirmation"
        r"|prompts?|prompting|review|check|question|approval|hesitate))\b",
        before=60,
    ),
    phrase(
        "assistant-address",
        _CONSENT,
        "permission|consent & gave|given & user|owner|admin|operator & asking|ask|confirm",
        r"\bthe (?:user|owner|admin(?:istrator)?|operator) (?:has |have |had )?(?:already |previously )?(?:gave"
        r"|given) (?:\w+ ){0,2}?"
        r"(?:permission|consent) (?:to|for) (?:delete|remove|push|deploy|send|run|execute|pay|transfer|publish"
        r"|anything|everything"
        r"|all)\b[^\n]{0,60}?\b(?:without asking|not ask|never ask|n't ask|no (?:further )?confirmation)\b",
        before=60,
    ),
    phrase(
        "assistant-address",
        _CONSENT,
        "standing|blanket|approved in advance|pre-approved|preapproved|pre-authori|preauthori|authorised in advance"
        "|authorized in advance|approved beforehand"
        " & all|any|every & command|action|transfer|request|deletion|payment|purchase|change|operation|tool|merge"
        "|deployment",
        r"\b(?:standing|blanket) (?:consent|approval|permission|authori[sz]ation)\b[^\n]{0,40}?\b(?:all|any"
        r"|every)\b[^\n.]{0,60}?"
        r"\b(?:commands?|actions?|transfers?|requests?|deletions?|payments?|purchases?|changes?|operations?|merges?"
        r"|deployments?)\b"
        r"|\b(?:all|any|every) (?:\w+ ){0,4}?(?:commands?|actions?|transfers?|requests?|deletions?|payments?"
        r"|purchases?|operations?"
        r"|tool (?:calls|uses)|deployments?)\b[^\n.]{0,60}?(?:is|are|was|were|has been|have been) (?:pre-?(?:approved"
        r"|authori[sz]ed)"
        r"|(?:approved|authori[sz]ed) (?:in advance|beforehand))"
        r"|\bpre-?(?:approved|authori[sz]ed) (?:all|any|every) (?:\w+ ){0,3}?(?:commands?|actions?|transfers?"
        r"|requests?|deletions?"
        r"|payments?|purchases?|operations?|tool (?:calls|uses)|deployments?)\b",
        before=140,
    ),
    phrase(
        "assistant-address",
        _CONSENT,
        "always approve|always accept|always merge|always trust|auto-approve|auto-accept|automatically approve"
        "|automatically accept"
        "|automatically merge & without|never|no questions",
        r"\b(?:always|auto-?|automatically) ?(?:approve|accept|merge|trust)\b[^\n.]{0,40}?\b(?:from|by|of"
        r"|requested by|to) "
        r"(?!the (?:user|tests?|linter|formatter))[\w@./-]{2,60}\b[^\n]{0,60}?\b(?:without (?:\w+ )?(?:review|asking"
        r"|checking|reading"
        r"|showing|confirmation|a diff|diff)|no questions asked|never (?:ask|review|show))",
    ),
    phrase(
        "assistant-address",
        _CONSENT,
        "behalf & confirm|approve|answer|accept|click|agree|consent & dialog|prompt|confirmation|permission|question"
        "|yes",
        r"\b(?:(?:confirmation|permission|approval)s? (?:dialogs?|prompts?|questions?|requests?)|prompts?"
        r"|dialogs?)\b[^\n.]{0,40}?"
        r"\b(?:answered|confirmed|accepted|approved|clicked)\b[^\n.]{0,40}?\bon (?:his|her|their|the user'?s"
        r"|my) behalf\b"
        r"|\b(?:answer|confirm|accept|approve|click) (?:yes|ok|all|every|any|each)\b[^\n.]{0,60}?\bon (?:his|her|their"
        r"|the user'?s) behalf\b",
        before=160,
    ),
    phrase(
        "assistant-address",
        _CONSENT,
        "payment|purchase|transfer|transaction|money|invoice & without asking|without confirmation|without approval"
        "|without review|unasked & make|send|approve|pay|execute|authori|sign|buy|issue",
        r"(?:^|[.:;!\n*-]\s{0,4}|\b(?:always|may|should|must|can|and|then|please) )(?P<said>(?:make|send|approve|pay"
        r"|execute|issue|sign"
        r"|authori[sz]e) (?:\w+ ){0,3}?(?:payments?|purchases?|transfers?|transactions?|money|invoices?)\b[^\n.]{0,60}?"
        r"\bwithout (?:asking|confirmation|approval|review)\b)",
    ),
    phrase(
        "assistant-address",
        _BE,
        "no longer & you & claude|chatgpt|gpt|gemini|copilot|assistant|model|ai",
        r"\byou(?: are|'re) no longer (?:claude|chatgpt|gpt\S{0,4}|gemini|copilot|(?:an?|the) (?:ai|assistant"
        r"|language model))\b",
    ),
    phrase(
        "assistant-address",
        _BE,
        "answers everything|answer everything|answers every|answer every & without",
        r"\banswers? (?:everything|every (?:question|request)) without (?:any )?(?:filters?|limits?|restrictions?"
        r"|refus\w+|exception)",
    ),
    phrase(
        "assistant-address",
        _CONSENT,
        "permission|approval|consent|authori & given|granted|issued & any|every|all & without",
        r"\b(?:permission|approval|consent|authori[sz]ation) (?:was|has been|is|were) (?:already )?(?:given|granted"
        r"|issued)\b[^\n.]{0,40}?"
        r"\b(?:any|every|all) (?:commands?|actions?|requests?|deletions?|operations?|payments?)\b[^\n.]{0,40}?\bwithout"
        r" (?:further |any )?(?:asking|confirmation|review|checks?)\b",
    ),
    phrase(
        "assistant-address",
        _CONSENT,
        "anything|everything|whatever & without & merge|approve|accept|trust|run|execute & from|by",
        r"\b(?:merge|approve|accept|trust|run|execute) (?:anything|everything|whatever)(?: that| which)? (?:comes? "
        r"|arrives? |is (?:sent|posted) "
        r"|sent |posted )?(?:in )?(?:from|by)\b[^\n.]{0,60}?\bwithout (?:\w+ )?(?:reading|review|reviewing|checking"
        r"|asking|looking)\b",
    ),
)
