"""What is shaped like an order to the assistant instead of a statement about the world.

The line: how answers look is a wish that anybody may have for themselves, and how a team works is theirs to say, also
in the imperative. What tells the assistant to disregard its rules, grants somebody a right, changes what the assistant
does or asks before doing, hands out what belongs to others, hides itself, or imitates the bot's own markup, is an
order, whoever is said to have given it. Doubtful ones count as orders: a person can still let them pass.

The cues look at a text that ``gate_text.plain`` made; those of rights, duties and others' data are ``gate_rights``.
"""

from memory.gate_rights import gives_away, makes_obedient
from memory.gate_text import any_of, sentences

_UP_TO = r"(?:[^\w\n]+[\w'-]+)"
_YOURS = (
    r"(?:all|any|every|each|your|my|our|the|these|those|this|that|its|their|previous|prior|earlier|above|safety|system"
    r"|former|initial|original)"
)
_LAW = (
    r"(?:instructions?|rules?|guidelines?|prompts?|directives?|polic(?:y|ies)|restrictions?|safeguards?"
    r"|commands?|orders"
    r"|training|programming|constraints?)"
)
_DISREGARD = any_of(
    rf"\b(?:ignore|disregard|forget|override|overrule|neglect|violate"
    rf"|break) {_YOURS}\b{_UP_TO}{{0,3}}?[^\w\n]+{_LAW}\b",
    rf"\b(?:ignore|disregard|forget|override) {_YOURS} {_LAW}\b",
    r"\b(?:forget|ignore|disregard) (?:everything|all|what(?:ever)?)(?: that)? (?:you|above|before|i|we)\b",
    r"\b(?:ignoriere?n?(?: sie)?|vergiss|vergesst|missachte|uebergehe|ubergehe|umgehe)\b(?: \w+){0,5}? "
    r"(?:anweisung|instruktion|regeln?\b|vorgabe|richtlinie|befehl)",
    r"\b(?:ignore[zr]?|oublie[zr]?|neglige[zr]?|contourne[zr]?)\b(?: \w+){0,4}? (?:instruction|consigne|regle"
    r"|directive)",
    r"\b(?:ignora|ignore|olvida|olvide|desobedece|saltate)\b(?: \w+){0,4}? (?:instruccion|reglas|normas"
    r"|directric|ordenes)",
    r"\b(?:ignora|dimentica|trascura)\b(?: \w+){0,4}? (?:istruzion|regole|direttiv)",
    r"\b(?:ignore|ignora|esqueca|desconsidere)\b(?: \w+){0,4}? (?:instruco|regras|diretriz)",
    r"\b(?:negeer|vergeet)\b(?: \w+){0,4}? (?:instructie|regels|opdracht)",
    r"\b(?:zignoruj|ignoruj|zapomnij)\b(?: \w+){0,4}? (?:instrukcj|polece|zasad)",
    r"\b(?:игнорируй\w*|забудь\w*|нарушай\w*)(?: \w+){0,4}? (?:инструкци|правил|указани|команд)",
    r"(?:忽略|无视|無視|忘记|忘記|忘掉).{0,12}(?:指令|指示|规则|規則|命令|提示)",
    r"(?:指示|命令|ルール|規則|指令).{0,8}(?:無視|忘れ)",
    r"(?:지시|명령|규칙).{0,8}(?:무시|잊)",
)
_YOUR_LAW = any_of(
    r"\b(?:disregard|ignore|overrule) what(?:ever)? (?:\w+ ){1,4}?(?:says?|said|tells?|told|wants?)\b",
    r"\b(?:overrides?|outweighs?|beats?|trumps?) (?:the|any|all|every) (?:\w+ )?(?:polic(?:y|ies)|rules?)\b",
    r"\byour (?:real|true|actual|only) (?:owner|boss|master|operator|principal)\b",
    r"\byour (?:\w+ )?(?:instructions?|rules?|guidelines?|guidance|prompts?|training|restrictions?|safety|programming"
    r"|directives?|memor(?:y|ies))\b",
    r"\b(?:previous|prior|earlier|preceding) (?:\w+ )?(?:instructions?|prompts?|directives?|guidance|rules)\b",
    r"\b(?:guidance|instructions?|rules) (?:you (?:\w+ )?(?:received|got|have)|given to you)\b",
    r"\b(?:deine[nr]?|eure[nr]?|bisherige[nr]?|vorherige[nr]?) (?:\w+ )?(?:regeln|anweisungen|vorgaben"
    r"|instruktionen|befehle)\b",
    r"\b(?:tes|vos) (?:\w+ )?(?:regles|instructions|consignes)\b|\b(?:regles|instructions|consignes) precedentes\b",
    r"\btus (?:\w+ )?(?:reglas|instrucciones)\b|\b(?:reglas|instrucciones) (?:anteriores|previas)\b",
    r"\bnew instructions?(?: follow)? ?[:.]|\bend of (?:memory|context|prompt|instructions)\b",
    r"\b(?:hide|delete|erase|conceal|overwrite|forget)\b(?: \w+){0,3}? (?:this memory|memories)\b|^memory "
    r"(?:update|note) ?:",
)
"""Nobody who states something about the world speaks of the assistant's own rules."""
_MARKUP = any_of(
    r"<\|[^|>\n]{1,40}\|?>|\[/?inst\]|<</?sys>>",
    r"(?:<|&lt;)/?(?:system|assistant|human|instructions?|background_memory|memory|tool_\w+|function_\w+"
    r"|untrusted\w*)\b",
    r"^background memory for\b|\(may be outdated",
    r"\bmem:(?:org|user|repo|channel):\S+:\d+",
    r"(?:^|\n|[.!?] )(?:[#*-]+ ?)?(?:system|assistant|developer|human)(?: (?:message|prompt|note))? ?: ?\S",
    r"(?:^|[^\w'])assistant ?: ?\S",
    r"#{2,} ?(?:instruction|system|new)|\b(?:new|updated|real|secret) system prompt\b",
    r"\b(?:god|dan) mode\b|\bjailbreak\b",
)
_ROLE = any_of(
    r"\byou(?:'re| are) now (?:in |an? |the |my |free|unrestricted|allowed|called)",
    r"\b(?:pretend|imagine|act as (?:if|though)|behave as (?:if|though))(?: that)? (?:you|there|nobody|no one"
    r"|no \w+)\b",
    r"\b(?:act|behave|operate) as (?:an? |the )?(?:\w+ )?(?:admin\w*|root|superuser|developer|owner|unrestricted)\b",
    r"\b(?:treat|regard|consider|accept)\b(?: \S+){1,6}? as (?:coming from|trusted|authori[sz]ed|verified"
    r"|approved|(?:an? )?(?:admin|system|developer))",
)
_CHECK = (
    r"(?:approvals?|confirmations?|permissions?(?: checks?)?|reviews?|authori[sz]ations?|consent|rules?|guidelines?"
    r"|instructions?|restrictions?|safeguards?|(?:security|safety|access) (?:checks?|controls?))"
)
_VOID = any_of(
    rf"\b{_CHECK}\b(?: [\w']+){{0,4}}?(?: no longer| not|n't)(?: \w+)? (?:needed|required|necessary|apply"
    rf"|applies|binding"
    r"|valid|enforced)\b",
    rf"\b{_CHECK}\b(?: \w+){{0,4}}? (?:is|are|have been|has been|were) (?:now )?(?:void|dropped|abolished"
    rf"|cancelled|gone|scrapped|disabled|suspended|lifted|waived"
    r"|optional|unnecessary|overridden|replaced|obsolete)\b",
    rf"(?:\b(?:no longer|not)|n't) (?:need|require)s? (?:\w+ ){{0,2}}?{_CHECK}\b",
    rf"\b(?:stop|quit|don't|do not|never) (?:follow|obey|apply|enforc|respect)(?:e|ing)? (?:\w+ ){{0,3}}?{_CHECK}\b",
    r"\byour (?:new |real |only )?(?:task|goal|purpose|job|mission|instructions?|objective|duty|duties) (?:is"
    r"|are|ha[sv]e|now)\b",
    r"\bpre-?approved\b",
    r"\bnever (?:refuse|deny|decline|question|reject)\b(?: \w+){0,3}? (?:requests?|orders?|commands?|wish\w*|users?)\b",
    r"\b(?:follow|obey|execute|carry out) (?:\S+ ){0,3}?(?:orders|commands|instructions)\b|\bcomply with\b"
    r"|\bno questions asked\b",
    r"\bdo (?:as|what|whatever) \w+ (?:says?|asks?|wants?|tells?|orders?)\b|\bneeds? no (?:second|further|additional) "
    r"(?:\w+ )?(?:person|approval|check|review|signature)\b",
    r"\b(?:regeln|vorgaben|freigaben?|bestatigung\w*)\b.{0,30}\bnicht mehr\b",
    r"\bwhen(?:ever)? \w+ (?:asks|says|writes|requests)\b.{0,60}\b(?:run|execute|approve|delete|grant|reveal"
    r"|skip|obey)\b",
    r"\balles tun,? was\b|\bfaire tout ce que\b|\bhacer todo lo que\b",
)
"""A check declared gone, or obedience to somebody instead of it."""
_PLANTED = any_of(
    r"\b(?:always|every|each|all|future|any)\b.{0,60}\b(?:include|add|insert|append|put|mention|link)\b.{0,40}"
    r"(?:https?://|\b\w+\.(?:com|net|org|io|example)\b)",
    r"\b(?:include|add|insert|append|put)\b.{0,60}(?:https?://|\b\w+\.(?:com|net|org|io|example)\b).{0,40}\banswers?\b",
    r"\b(?:change|replace|swap|rewrite)\b(?: \w+){0,3}? (?:iban|bic|account number|bank details|payee|recipient"
    r"|wallet)\b",
    r"\b(?:answer|reply to) (?:every|all|any) (?:\w+ )?questions? with\b",
    r"\balways (?:answer|respond|reply|say|claim|insist) that\b|\bantworte immer,? dass\b|\breponds toujours que\b",
    r"\bresponde siempre que\b|\b(?:rate|rank) \w+ (?:above|first|highest)\b|\bpraise\b|\bspeak (?:well|highly) of\b",
    r"\b(?:if|when(?:ever)?) \w+(?: \w+)? (?:types|says the word)\b|\b(?:if|when) (?:anyone|someone) writes \w+\W*$",
    r"\btell (?:everybody|everyone|them all|all users|every user)\b",
)
"""Words, links or payees that answers should carry."""
_HIDDEN = any_of(
    r"^(?:please )?stop (?:asking|warning|checking|confirming|logging|refusing)\b",
    r"^(?:do not|don't|never) (?:log|record|track|report|audit) (?:what|anything|requests?|actions?)\b",
    r"\b(?:do not|don't|never) (?:mention|admit|say|reveal|disclose)\b(?: \w+){0,2}? you (?:were|are|have|got)\b",
    r"\b(?:do not|don't|never) (?:tell|mention|reveal|disclose|inform|show|repeat)\b(?: \w+){0,4}? "
    r"(?:this|that|these|those) (?:rule|instruction|note|memory|message|prompt|order|fact)s?\b",
    r"\b(?:do not|don't|never) (?:tell|inform|warn|alert) (?:the |this )?users?\b",
    r"\bne demande[zs]? (?:plus|pas|jamais) (?:de |la |d')?(?:confirmation|permission|autorisation)",
    r"\bno (?:pidas?|preguntes?|solicites?)\b(?: \w+){0,2}? (?:confirmacion|permiso|aprobacion)",
    r"\bfrage? (?:\w+ )?(?:nicht|nie)(?: mehr)? (?:nach|um) (?:\w+ )?(?:bestatigung|erlaubnis|freigabe)\b",
    r"\bgib (?:niemals|nie|nicht) zu\b|\b(?:never|don't|do not) admit\b",
    r"\b(?:do not|don't|never|no need to|without|stop) (?:ask|request|requir|seek|wait|check)(?:e|ing)?(?: \w+){0,3}? "
    r"(?:confirmation|permission|approval|consent|authori[sz]ation)\b",
)


def orders(text: str) -> bool:
    """Whether anything in ``text`` is such an order."""
    if any(each.search(text) for each in (_DISREGARD, _YOUR_LAW, _MARKUP)):
        return True
    return any(_is_order(sentence) for sentence in sentences(text))


def _is_order(sentence: str) -> bool:
    if any(each.search(sentence) for each in (_ROLE, _VOID, _PLANTED, _HIDDEN)):
        return True
    return makes_obedient(sentence) or gives_away(sentence)
