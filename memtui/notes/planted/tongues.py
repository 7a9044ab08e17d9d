"""Words that are said to a model in other languages than English."""

from memtui.notes.planted.phrase import phrase

_DROP = "words that call on a model to drop its instructions"
_BE = "words that give a model another identity or other instructions"
_HIDE = "words that call on a model to keep something from the person it works for"
_CONSENT = "words that claim that somebody has agreed to whatever the model does"

TONGUES = (
    # German
    phrase(
        "ignore-instructions",
        _DROP,
        "ignorier|vergiss|vergessen sie|missacht|beachte",
        r"\b(?:ignorier(?:e|en sie|t)?|vergiss|vergessen sie|missachte[nt]?(?: sie)?|beachte)\s+(?:(?:alle|sämtliche"
        r"|jegliche|die|deine|ihre|meine|bitte)\s+){0,3}(?:vorherigen?|bisherigen?|obigen?|früheren?|vorangegangenen?"
        r"|vorigen?|vorhergehenden?|ursprünglichen?)\s+(?:\w+\s+)?(?:anweisung(?:en)?|instruktionen|befehle|vorgaben"
        r"|regeln|nachrichten|systemprompts?|aufforderungen|richtlinien)\b",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "deine|ihre",
        r"\b(?:ignorier(?:e|en sie)|vergiss|vergessen sie|missachte)\s+(?:alle\s+)?(?:deine|ihre)\s+(?:\w+\s+)?"
        r"(?:anweisungen|instruktionen|regeln|richtlinien|vorgaben|programmierung)\b",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "nutzer|anwender|benutzer",
        r"\b(?:sage?|sagen sie|verrate|erzähle?|teile|melde)\s+(?:es\s+|das\s+|dies\s+)?(?:dem|der|den)\s+(?:be)?"
        r"(?:nutzer|anwender)(?:in|n)?\s+(?:davon\s+|darüber\s+|es\s+|das\s+)?(?:nichts?|nicht mit)\b|\bohne (?:dass"
        r"|das wissen) (?:der|des|den) (?:be)?(?:nutzer|anwender)|\bverheimliche\w* (?:es |das |dies )?(?:dem|vor dem) "
        r"(?:be)?nutzer",
        before=100,
    ),
    phrase(
        "assistant-address",
        _BE,
        "du bist jetzt|du bist nun|sie sind nun|ab jetzt bist",
        r"\b(?:du bist|sie sind|ab (?:jetzt|sofort) bist du) (?:jetzt |nun |ab jetzt |ab sofort )?(?:ein |eine |der "
        r"|die |im )?(?:\w+ ){0,2}?(?:ki|assistent(?:in)?|sprachmodell|entwicklermodus|uneingeschränkt\w*)\b",
    ),
    # French
    phrase(
        "ignore-instructions",
        _DROP,
        "ignor|oubli|compte|respect",
        r"\b(?:ignore[zr]?|oublie[zr]?|n['’]?e? ?(?:tiens|tenez) pas compte d(?:e|es)|ne (?:respecte|suis|suivez)z? "
        r"(?:pas|plus))\s+(?:(?:toutes?|tous|les|tes|vos|mes|ces|des)\s+){0,3}(?:(?:précédentes?|anciennes)\s+)?"
        r"(?:instructions?|consignes?|directives?|règles|ordres|messages)(?:\s+(?:système|et \w+))?(?:\s+"
        r"(?:précédente?s?|antérieure?s?|ci-dessus|reçue?s|initiale?s|du système|qui précèdent|données avant))",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "utilisateur",
        r"\bne\s+(?:l[ea]?\s+|lui\s+)?(?:dis|dites|révèle[sz]?|révélez|mentionne[zs]?|informe[zs]?|préviens|prévenez"
        r"|parle[zs]?)\s+(?:rien|pas|jamais)\b[^\n.]{0,30}utilisat|\bà l['’]insu de l['’]utilisat|\bsans (?:que"
        r" l['’]utilisat\w+|(?:en )?(?:informer|prévenir|avertir) l['’]utilisat)",
        before=100,
    ),
    # Spanish
    phrase(
        "ignore-instructions",
        _DROP,
        "ignor|olvid|descart|caso omiso|haga caso",
        r"\b(?:ignor(?:a|e|ad|en|ar)|olvid(?:a|e|ad|en|ar)|descart(?:a|e|ad)|(?:haz|haga) caso omiso de|no (?:sigas"
        r"|siga))\s+(?:(?:todas?|todos|las|los|tus|sus|mis|estas|de)\s+){0,4}(?:instrucci(?:ones|ón)|indicaciones"
        r"|órdenes|reglas|directrices|mensajes)(?:\s+(?:del sistema|y \w+))?\s+(?:anteriores|previas|previos"
        r"|precedentes|de arriba|recibidas|iniciales|del sistema)\b",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "usuari",
        r"\bno\s+(?:se lo\s+|le\s+)?(?:digas?|informes?|menciones?|reveles?|avises?|cuentes?)\b[^\n.]{0,30}?\b(?:al|a"
        r" la|a los) usuari|\bsin (?:que (?:el|la) usuari\w+ (?:lo )?(?:sepa|note|vea)"
        r"(?! (?:el|la|los|las|un|una|qué|cómo|cuál|si|dónde|por)\b)|(?:informar|avisar|decir\w*) "
        r"(?:al|a la) usuari)",
        before=100,
    ),
    # Portuguese, Italian, Dutch, Polish
    phrase(
        "ignore-instructions",
        _DROP,
        "ignor|esque|desconsider",
        r"\b(?:ignor(?:e|a|em)|esque(?:ça|ce)|desconsider[ae])\s+(?:(?:todas?|as|suas|tuas|minhas)\s+){0,3}"
        r"(?:instruções|ordens|regras|orientações|diretrizes)\s+(?:anteriores|prévias|acima|recebidas|do sistema)\b",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "ignor|dimentic|trascur",
        r"\b(?:ignora(?:re|te)?|ignori|dimentica(?:re|te)?|trascura)\s+(?:(?:tutte|le|tue|sue|mie|queste)\s+){0,3}"
        r"(?:istruzioni|indicazioni|regole|direttive)\s+(?:precedenti|anteriori|di cui sopra|ricevute|di sistema)\b",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "negeer|vergeet",
        r"\b(?:negeer|vergeet)\s+(?:(?:alle|de|je|jouw|uw)\s+){0,3}(?:vorige|eerdere|bovenstaande|voorgaande)\s+"
        r"(?:instructies|opdrachten|aanwijzingen|regels)\b",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "ignoruj|zignoruj|zapomnij|pomiń",
        r"\b(?:z?ignoruj|zapomnij(?: o)?|pomiń)\s+(?:(?:wszystkie|wszystkich|swoje|swoich)\s+){0,2}(?:poprzedni(?:e|ch)"
        r"|wcześniejsz(?:e|ych)|powyższ(?:e|ych))\s+(?:instrukcj[ei]|poleceni?a?|poleceń|zasady?|wytyczn(?:e|ych))",
    ),
    # Russian, Ukrainian
    phrase(
        "ignore-instructions",
        _DROP,
        "игнорируй|проигнорируй|забудь|забудьте|ігноруй|проігноруй",
        r"(?:(?:про)?игнорируй(?:те)?|(?:про)?ігноруй(?:те)?|забудь(?:те)?)\s+(?:(?:о|про|все|всі|всех|усі|свои"
        r"|ваши)\s+){0,3}(?:предыдущ|прежн|прошл|вышеуказанн|попередн)\w+\s+(?:инструкци|указани|команд|правил"
        r"|інструкці|вказівк)\w*",
    ),
    # Chinese, Japanese, Korean
    phrase(
        "ignore-instructions",
        _DROP,
        "忽略|无视|無視|忘记|忘記|不要理会|不要遵守|不要遵循|别管",
        r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要遵守|不要遵循|别管)[^\n。;;]{0,10}?(?:之前|以前|先前|以上"
        r"|上述|前面|上面|此前|原有|系统|系統|你的)[^\n。;;]{0,8}?"
        r"(?:指令|指示|命令|提示词|提示詞|提示|规则|規則|要求|设定|設定)",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "用户|使用者|用戶",
        r"(?:不要|不得|不可|切勿|勿|别|不能)[^\n。,,]{0,4}?(?:告诉|告訴|告知|通知|提醒|透露给|透露給|让|讓"
        r"|泄露给)[^\n。,,]{0,4}?(?:用户|用戶|使用者|人类)(?!(?:密码"
        r"|密碼|名))|(?:对|對|向)(?:用户|用戶|使用者)(?:隐瞒|隱瞞|保密)",
        before=40,
    ),
    phrase(
        "assistant-address",
        _BE,
        "你现在是|你現在是|从现在起你",
        r"(?:你现在是|你現在是|从现在起,?你是)[^\n。]{0,12}?(?:不受限制|没有限制|沒有限制|开发者模式|越狱|越獄"
        r"|人工智能|助手|dan)",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "無視|忘れ|従わない",
        r"(?:以前|これまで|今まで|上記|前|先ほど|すべて|全て|システム)の?[^\n。]{0,10}?(?:指示|命令|プロンプト|ルール"
        r"|規則)[^\n。]{0,4}?(?:を?無視|を?忘れ|に従わない)",
        before=60,
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "ユーザー|利用者",
        r"(?:ユーザー|利用者)に(?:は|も)?(?:知らせ|伝え|言わ|告げ|気付かれ|気づかれ)(?:ず|ない(?:で"
        r"|よう))(?![^。\n]{0,12}(?:しない|いけない|禁止|ならない))|(?:ユーザー|利用者)に(?:内緒|秘密)(?:で|に)",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "تجاهل|تجاهلي|انس",
        r"(?:تجاهلي?|انسَ?)\s+(?:جميع|كل|كافة)?\s*(?:التعليمات|الأوامر|الإرشادات|القواعد)\s+(?:السابقة|أعلاه|الأصلية"
        r"|المذكورة)",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "무시|잊",
        r"(?:이전|앞|위|지금까지|모든|기존)(?:의)?[^\n.]{0,10}?(?:지시|명령|지침|프롬프트|규칙)[^\n.]{0,6}?(?:무시|잊)",
        before=60,
    ),
    # Forms that are the same in many languages: all that was said before, nothing to the user, all is approved
    phrase(
        "ignore-instructions",
        _DROP,
        "ignorier|vergiss|vergessen sie|missacht|verwirf & gesagt|aufgetragen|mitgeteilt|steht|stand",
        r"\b(?:ignorier(?:e|en sie|t)?|vergiss|vergessen sie|missachten?(?: sie)?"
        r"|verwirf)\s+(?:\w+ ){0,3}?alles,?\s+was\s+(?:\w+ ){0,3}?"
        r"(?:vorher|bisher|zuvor|davor|oben|früher)\s+(?:\w+ ){0,2}?(?:gesagt|aufgetragen|mitgeteilt|steht|stand)",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "ignoriere|ignorier & vorherige|bisherige & instruction|rules|prompt",
        r"\bignoriere?\s+(?:\w+ ){0,2}?(?:vorherige|bisherige)[nr]?\s+(?:instructions?|rules|prompts?)\b",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "nutzer|anwender|benutzer & erwähne|erwähnen|verschweig|verrate|nenne & nie|niemals|nicht|verschweig",
        r"\b(?:erwähne|erwähnen sie|verrate|nenne)\s+(?:\w+\s+){0,3}?(?:nie(?:mals)?|nicht)\s+(?:gegenüber"
        r"|vor)\s+(?:dem|der|den)\s+"
        r"(?:be)?(?:nutzer|anwender)|\bverschweig\w*\s+(?:\w+\s+){0,2}?(?:dem|der|den)\s+(?:be)?(?:nutzer|anwender)",
        before=100,
    ),
    phrase(
        "assistant-address",
        _CONSENT,
        "nutzer|anwender|benutzer & zugestimmt|genehmigt|freigegeben|erlaubt",
        r"\b(?:be)?(?:nutzer|anwender)(?:in)? hat (?:bereits |schon )?(?:allen?|jede[rsmn]?"
        r"|sämtliche[rn]?) (?:\w+ )?(?:aktion|befehl|änderung|löschung|operation|anfrage|zugriff"
        r"|zahlung)\w* (?:bereits |schon "
        r"|im voraus )?(?:zugestimmt|genehmigt|freigegeben|erlaubt)",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "utilisateur & parle|parlez|dis|dites|pas",
        r"\bn['’]en (?:parle[zs]?|dis|dites)\s+(?:rien|pas|jamais)\b[^\n.]{0,20}utilisat",
        before=60,
    ),
    phrase(
        "assistant-address",
        _CONSENT,
        "utilisateur & approuvé|autorisé|accepté|validé",
        r"\bl['’]utilisat\w+ (?:a|avait) (?:déjà )?(?:approuvé|autorisé|accepté|validé) (?:toutes?|tous|chaque"
        r"|l['’]ensemble)"
        r" (?:des |les |de )?(?:commande|action|opération|suppression|modification|demande|paiement)",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "oublie|oubliez|ignore|ignorez & avant|précède|dessus & tout",
        r"\b(?:oublie[zs]?|ignore[zs]?)\s+tout\s+ce\s+(?:qui|que|qu['’]on)\b[^\n.]{0,30}?\b(?:avant|précède|ci-dessus"
        r"|auparavant)\b",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "olvid|ignora|ignore|omiso|desconsider|esque & antes|anterior|arriba|acima",
        r"\b(?:olvid[ae]|ignor[ae]|haz caso omiso de|haga caso omiso de|esqueç?[ae]|desconsider[ae])\s+(?:todo|tudo"
        r"|lo|o)\b[^\n.]{0,30}?"
        r"\b(?:antes|anterior(?:es|mente)?|arriba|acima)\b(?=\s*(?:[.;,!\n]|\Z|y |e |and ))",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "usuari|usuário|utente|utenti & não|non|nem|sem|senza",
        r"\b(?:não|nao)\s+(?:conte|diga|informe|avise|revele|mencione)\b[^\n.]{0,30}?\bao?s?\s+usuári"
        r"|\bsem (?:que o usuári\w+ saiba"
        r"|(?:informar|avisar) o usuári)|\bnon\s+(?:dire|dica|dite|rivelare|menzionare|informare"
        r"|avvisare)\b[^\n.]{0,30}?\b(?:all['’]|l['’]|agli )"
        r"utent|\bsenza (?:dirlo|informare|avvisare)\b[^\n.]{0,12}\b(?:all['’]|l['’])utent",
        before=80,
    ),
    phrase(
        "assistant-address",
        _CONSENT,
        "usuari|usuário|utente & aprobado|autorizado|aprovou|autorizou|approvato|autorizzato",
        r"\b(?:el usuario|la usuaria|o usuário|l['’]utente) (?:ya |já )?(?:ha (?:ya |già )?)?(?:aprobado|autorizado"
        r"|aprovou|autorizou|approvato"
        r"|autorizzato) (?:todas?|todos|tutt[ei]|cualquier|qualquer|qualsiasi)\b"
        r" (?:\w+ )?(?:comando|accion|acción|ações|ação|azion|operac|operaç|operaz|cambio|solicitud|pago|modific"
        r"|richiest|pagament|orden|órden)",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "gebruiker|użytkownik|kullanıcı|pengguna|người dùng & niet|niets|nie|söyleme|bildirme|jangan|đừng|không",
        r"\b(?:vertel|zeg|meld)\b[^\n.]{0,12}?\bde gebruiker\s+(?:hier)?(?:niets|niet)\b|\bnie\s+(?:mów|informuj"
        r"|wspominaj)\w*\b[^\n.]{0,16}?"
        r"użytkownik|\bkullanıcı(?:ya|yı)\s+(?:\w+ ){0,2}?(?:söyleme|bildirme|haber verme)|\bjangan\s+(?:beri ?tahu"
        r"|katakan|sampaikan)\b[^\n.]{0,16}?"
        r"pengguna|(?:đừng|không)\s+(?:nói|báo|cho)\b[^\n.]{0,20}?người dùng",
        before=60,
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "önceki|yukarıdaki & talimat|komut|kural & yok|unut|dikkate|görmezden|görmez",
        r"\b(?:önceki|yukarıdaki)\s+(?:tüm\s+)?(?:talimat|komut|kural|yönerge)\w*\s+(?:yok say|unut|dikkate alma"
        r"|görmezden gel)",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "bỏ qua|quên|phớt lờ|abaikan|lupakan & hướng dẫn|chỉ dẫn|lệnh|quy tắc|instruksi|perintah|aturan",
        r"(?:bỏ qua|quên|phớt lờ)\s+(?:tất cả\s+|mọi\s+)?(?:các\s+)?(?:hướng dẫn|chỉ dẫn|lệnh|quy tắc)\s+(?:trước"
        r"|ở trên|bên trên)"
        r"|\b(?:abaikan|lupakan)\s+(?:semua\s+)?(?:instruksi|perintah|aturan)\s+(?:sebelumnya|di atas)",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "निर्देश|आदेश|नियम",
        r"(?:पिछले|पहले के|उपरोक्त)\s+(?:सभी\s+|सारे\s+)?(?:निर्देश|आदेश|नियम)\S*\s+(?:को\s+)?(?:अनदेखा|नज़रअंदाज़"
        r"|नजरअंदाज|भूल)",
        before=60,
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "उपयोगकर्ता|यूज़र",
        r"(?:उपयोगकर्ता|यूज़र)\s+को\s+(?:इस(?:के|की)?\s+(?:बारे\s+में\s+)?)?(?:मत|न|नहीं)\s+(?:बता|कह|दिखा)",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "المستخدم",
        r"(?:لا\s+(?:تخبر|تخبري|تقل|تبلغ|تعلم)|دون\s+(?:إخبار|إعلام|علم))\s+(?:ال?)مستخدم",
        before=40,
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "пользовател|користувач & не|ничего|нічого|без",
        r"\b(?:не|ничего не|нічого не)\s+(?:говори|сообщай|рассказывай|упоминай|кажи|повідомляй"
        r"|розповідай)\w*\s+(?:об этом\s+|про це\s+)?"
        r"(?:пользовател|користувач)\w+|\bбез (?:ведома|відома) (?:пользовател|користувач)",
        before=60,
    ),
    phrase(
        "assistant-address",
        _CONSENT,
        "пользователь|користувач & все|любые|всі|каждое",
        r"\b(?:пользователь|користувач) (?:уже |вже )?(?:одобрил|разрешил|подтвердил|схвалив|дозволив) (?:все|любые"
        r"|всі|каждое) (?:\w+ )?(?:команд|действи|операци|изменени|запрос|платеж|платёж|дії|зміни)",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "забудь|забудьте|игнорируй|забудь & раньше|ранее|прежде|раніше|выше & все|всё",
        r"(?:забудь(?:те)?|игнорируй(?:те)?)\s+(?:обо\s+)?(?:вс[её]м?|все),?\s+(?:что"
        r"|о ч[её]м)\b[^\n.]{0,40}?\b(?:раньше|ранее|прежде|выше|до этого|раніше)",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "用户|使用者|用戶",
        r"(?:不用|不必|无需|無需|别|別)(?:告诉|告訴|让|讓|跟)[^\n。,,]{0,2}?(?:用户|用戶|使用者)|(?:瞒着|瞞著"
        r"|背着)(?:用户|用戶|使用者)"
        r"|(?:不需要|无需|無需|不用)通知(?:用户|用戶|使用者)[,,]?\s?直接",
        before=20,
    ),
    phrase(
        "assistant-address",
        _CONSENT,
        "用户|使用者|用戶",
        r"(?:用户|用戶|使用者)已经?(?:已)?[^\n。,,]{0,3}?(?:批准|同意|授权|授權|允许|允許)(?:了)?(?:所有|一切|全部"
        r"|任何)[^\n。]{0,20}?(?:操作|命令|请求|請求|修改|删除|刪除)",
    ),
    phrase(
        "assistant-address",
        _BE,
        "没有任何限制|沒有任何限制|不受任何限制|必须服从|必須服從|无任何限制",
        r"(?:从现在开始|從現在開始|从现在起|從現在起|你|您)[^\n。]{0,12}?(?:没有任何限制|沒有任何限制|不受任何限制"
        r"|无任何限制|必须服从|必須服從)",
        before=30,
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "ユーザー|利用者",
        r"(?:ユーザー|利用者)に(?:は|も)?(?:知らせ|伝え|言わ|告げ|教え|報告せ)(?:ずに|るな"
        r"|ないこと)(?![^。\n]{0,12}(?:しない|いけない|禁止|ならない))",
    ),
    phrase(
        "hide-from-user",
        _HIDE,
        "사용자",
        r"사용자(?:에게|한테)(?:는)?\s*(?:이\s*(?:사실|내용|메모)(?:을|를)\s*)?(?:알리지|말하지|보고하지)\s*(?:말|마"
        r"|않)(?![^.\n]{0,14}(?:하지 않|금지|안 된다|안 됩니다))|사용자\s*몰래",
    ),
    phrase(
        "assistant-address",
        _CONSENT,
        "사용자|ユーザー",
        r"사용자(?:가|는)\s*(?:이미\s*)?모든\s*[^\n.]{1,16}?(?:승인|허락|동의)했|ユーザーは(?:すでに"
        r"|既に)?すべての[^\n。]{1,16}?(?:承認|許可|同意)し",
    ),
    phrase(
        "ignore-instructions",
        _DROP,
        "anteriores|precedenti|anterioare|предыдущ|прежн|tidigare|tidligere|aiemmat|aiempia|předchozí|poprzedni"
        "|wcześniejsz|предишн"
        "|eelnevad|попередн"
        " & no|non|não|nao|не|ignor|unohda|jätä|ohita|zapomnij|glem|glöm|ignoră|uită|nie",
        r"\bno sigas? (?:\w+ ){0,3}?(?:instrucciones|indicaciones|órdenes|reglas) anteriores|\bnon (?:seguire|segua"
        r"|seguite) (?:\w+ ){0,3}?"
        r"(?:istruzioni|indicazioni|regole|direttive) precedenti|\bn[ãa]o sig[ao]m? (?:\w+ ){0,3}?(?:instruções"
        r"|ordens|regras) anteriores"
        r"|\bне (?:следуй|выполняй|соблюдай|дотримуйся|виконуй)\w* (?:\w+ ){0,2}?(?:предыдущ|прежн"
        r"|попередн)\w+ (?:инструкци|указани|правил|інструкці)"
        r"|\b(?:ignorera|glöm|ignorer|ignorér|glem) (?:\w+ ){0,2}?(?:tidigare|tidligere) (?:instruktion|instruksjon"
        r"|anvisning|regler|ordre|order)"
        r"|\b(?:unohda|ohita|jätä huomiotta) (?:\w+ ){0,2}?(?:aiemmat|aiempia) (?:ohjeet|ohjeita|säännöt|määräykset)"
        r"|\b(?:ignoră|ignorați|uită) (?:\w+ ){0,2}?(?:instrucțiunile|regulile|ordinele) anterioare"
        r"|\bignoruj(?:te)? (?:\w+ ){0,2}?předchozí (?:pokyny|instrukce|příkazy|pravidla)"
        r"|\bzapomnij o (?:\w+ ){0,2}?(?:poprzednich|wcześniejszych) (?:instrukcjach|poleceniach|zasadach)",
        before=80,
    ),
)
"""Ways to say it, in the languages in which they are said most."""
