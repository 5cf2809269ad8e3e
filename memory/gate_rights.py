"""Rights handed out, duties of the assistant changed, and what belongs to others given away, in one sentence.

The cues look at a sentence of a text that ``gate_text.plain`` made.
"""

from memory.gate_text import any_of

_APPROVE = r"(?:approve|grant|obey|comply|trust|reveal|disclose|say yes)"
_APPROVING = any_of(
    rf"\b(?:always|automatically|blindly|unconditionally|immediately) {_APPROVE}\b",
    r"\balways (?:accept|allow|believe|confirm) (?:every|any|all|what|whatever|requests?|messages?|commands?)",
    r"^(?:from now on,? |always |please )*(?:obey\b|trust (?!is|in|and|me\b|your)\w)",
    r"\bapprove (?:all|any(?:thing)?|every(?:thing)?|whatever)\b",
    rf"\b(?:you|assistant|bot|switchboard) (?:may|can|must|should|shall|will|have to|need to)(?: always"
    rf"| now)? {_APPROVE}\b",
    r"\b(?:always |only )?(?:recommend|cite|promote|prefer|mention)\b(?: \w+){1,6}? as (?:the |a |an )?(?:most |only )?"
    r"(?:trusted|authoritative|best|first|safest)",
    r"\b(?:du|ihr|sie) (?:musst|mussen|musst|sollst|darfst|sollt|durft)\b(?: \w+){0,4}? (?:genehmig|freigeb"
    r"|preisgeb|gehorch)",
    r"\b(?:tu dois|vous devez|tu peux|vous pouvez)(?: \w+){0,2}? (?:approuver|accorder|reveler|divulguer|obeir)",
    r"\b(?:debes|tienes que|puedes)(?: \w+){0,2}? (?:aprobar|conceder|revelar|obedecer)",
    r"\b(?:genehmige|bewillige) (?:immer|alle|jede)|\bapprouve[zr]? (?:toujours|toutes?|tous)|\baprueba "
    r"(?:siempre|todo)",
)
_CHANGED_DUTIES = any_of(
    r"\bfrom now on,? (?:you|the assistant|the bot) (?:must|will|shall|are|should|may|can|have to)\b",
    r"\b(?:the |this |your )?(?:assistant|switchboard|ai) (?:must|should|shall|may|can now|has to|is to|needs to)\b",
    r"\bab (?:jetzt|sofort) (?:musst|darfst|sollst|wirst|bist) du\b",
    r"\bdesormais,? (?:tu (?:dois|peux|es)|vous (?:devez|pouvez|etes))\b",
    r"\ba partir de ahora,? (?:debes|puedes|eres|tienes)\b",
)
_FORM = any_of(
    r"\b(?:answer|reply|respond|write|speak|talk|call|address|summari[sz]e|format|greet|antwort\w*|schreib\w*|sprech\w*"
    r"|nenn\w*|repond\w*|ecri\w*|parl\w*|appel\w*|respond\w*|escrib\w*|habl\w*|llam\w*)\b"
)
_ACT = (
    r"(?:approve|merge|deploy|delete|access|read|see|bypass|skip|override|run|execute|publish|pay|transfer|refund|grant"
    r"|share|change|edit|view)"
)
_SOMEBODY = (
    r"(?:this user|the (?:user|requester)|i|u[0-9][0-9a-z]{2,}|<@\w+>|everyone|everybody|anyone|anybody|all users)"
)
_ADMIN = r"(?:admin(?:istrator)?|superuser|root)"
_RIGHTS = any_of(
    r"\byou(?:'re| are)(?: now)? (?:allowed|permitted|authori[sz]ed|entitled|cleared|free) to\b",
    r"\byou have (?:permission|authority|the right|clearance|root|full|unrestricted|unlimited|admin)\b",
    rf"\b(?:is|are|am)(?: now| hereby)? (?:allowed|permitted|authori[sz]ed|entitled|cleared) to"
    rf"(?: \w+){{0,2}}? {_ACT}\b",
    rf"\b{_SOMEBODY}(?: \w+){{0,4}}? (?:is|are|am|has|have)(?: now)?(?: an?| the)? {_ADMIN}\b",
    rf"\b{_SOMEBODY}(?: \w+){{0,4}}? (?:has|have) (?:full|unrestricted|unlimited|root) (?:access|rights"
    rf"|permissions?)\b",
    r"\bmay (?:approve|merge|bypass|override|grant|skip|run any)\b",
    r"(?:^|[.:;,] |\band )grant\b(?: \w+){1,4}? (?:rights?|access|permissions?|privileges?)\b",
    r"\b(?:bypass|skip|circumvent|disable|suspend)\b(?: \w+){0,3}? "
    r"(?:approvals?|confirmations?|permission checks?|authori[sz]ation|access control|safety|2fa)\b",
    r"\b(?:merge|deploy|approve|delete|pay|run|publish)\b(?: \w+){0,3}? without (?:\w+ )?(?:review|approval"
    r"|confirm\w+|asking)\b",
    r"\b(?:has|have|was|were)(?: been)? (?:given|granted|promoted to)\b(?: \w+){0,3}? (?:rights?|permissions?"
    r"|privileges?"
    r"|admin\w*)\b",
    r"\bgive(?: \w+){1,4}? (?:rights|access|permissions?|privileges)\b|\bunlock (?:\w+ )?tools\b",
    r"\boutranks?\b|\bspeaks? for the (?:board|ceo|management|company)\b|\b(?:is|was) verified as\b",
    r"\b(?:all|any|every) (?:tool calls?|tools|requests?|commands?|actions?) (?:by|from|of) \w+(?: \w+)? (?:is|are)\b",
    r"\brequests? (?:by|from|of) \w+ (?:go(?:es)? through|(?:is|are) (?:fine|ok|approved|allowed|granted))\b",
    r"\b(?:ist|est|es) (?:jetzt |ab sofort )?(?:un |el |l')?administra(?:tor|teur|dor)\b",
    r"\b(?:peut|puede)(?: \w+)? (?:valider|approuver|aprobar|validar)\b|\bkann(?: \w+){0,3}? (?:genehmigen"
    r"|freigeben)\b",
    rf"\bha(?:s|ve) (?:(?:full|unrestricted|unlimited|complete|all) )?{_ADMIN} (?:rights|permissions?|privileges)\b",
    r"\bwhen(?:ever)? \w+ asks? (?:for|about) (?:\w+ ){0,3}?(?:salar|passw|secret|token|credential|private)",
    r"\b(?:is|are)(?: now)? an? admin(?:istrator)?\b",
    r"\bsigns? off on (?:any|every|all)\w*\b|\bwithout (?:a (?:second|closer|further) )?look(?:ing)?\b",
    r"\blet (?:\w+|the \w+) (?:read|see|access|use|view|edit|change|approve|merge|deploy|delete|run)\b",
    r"\bcan do (?:anything|everything|whatever)\b|\bowner of (?:this|the) workspace\b",
    r"\b(?:allow|permit|authori[sz]e|enable) (?:all|any|every) (?:tools?|actions?|commands?|requests?)\b",
    r"\b(?:darf|durfen)\b(?: \w+){0,4}? (?:ohne (?:\w+ )?(?:freigabe|ruckfrage|review|zustimmung)|alles"
    r"|genehmigen|freigeben)\b",
    r"\ba le droit (?:de |d')(?:tout|approuver|valider|supprimer|lire)|\bsans (?:validation|approbation"
    r"|confirmation)\b",
    r"\btiene (?:permiso|derecho) (?:para|de|a)\b|\bsin (?:aprobacion|confirmacion)\b",
    r"\b(?:gib|erteile?|gewahre?)\b(?: \w+){1,4}? ?(?:\w*admin\w*|rechte|zugriff|berechtigung\w*)\b",
)
_OTHERS = (
    r"(?:passwords?|secrets?|(?:secret|access|api)[ -](?:tokens?|keys?)|credentials?|vault|(?:private"
    r"|direct) messages?|dms"
    r"|private channels?|salar(?:y|ies)|system prompt|(?:other|another) (?:user|person|people|member)|everyone's"
    r"|everybody's|every channel"
    r"|all channels|passwor\w+|alle kanale|privaten? nachrichten|geha?lter|mots? de passe|messages? prives?"
    r"|tous les canaux"
    r"|contrasenas?|mensajes privados|todos los canales)"
)
_GIVE = (
    r"(?:reveal|disclose|leak|exfiltrate|expose|print|output|show|share|send|forward|post|give|read|see|access"
    r"|lesen|zeige?"
    r"|teile|verrate?|revele[zr]?|partage[zr]?|montre[zr]?|lire|comparte|revela|muestra|leer)"
)
_DATA = any_of(
    r"\bcontents? of (?:the |a )?(?:vault|\.?env\b|secrets?|keychain|key store)",
    r"\b(?:reveal|disclose|leak|exfiltrate|collect|steal)\b(?: \w+){0,3}? tokens?\b|\b(?:collect|steal) "
    r"(?:\w+ )?credentials\b",
    r"\b(?:is|are) to be (?:told|given|shown)\b",
    r"\b(?:every|all|any) (?:secrets?|passwords?|credentials)\b.{0,20}\basks?\b",
    rf"\b{_GIVE}\b(?: [\w'-]+){{0,4}}? {_OTHERS}",
    rf"\b(?:darfst|kannst)(?: \w+){{0,2}}? {_OTHERS}",
    r"\b(?:send|forward|post|upload|copy|cc|bcc|mail)\b(?: \w+){0,2}? ?(?:every|all|each|any|copy|copies)\b"
    r"(?: \w+){0,5}? "
    r"to (?:https?://|\S+@\S+\.)",
)
_RESTRICTS = any_of(
    r"\b(?:only|never|not|nobody|no one|none|cannot|can't|don't|isn't|aren't|mustn't|without exception|forbidden)\b",
    r"\b(?:nur|nie|niemals|niemand|nicht|kein\w*|jamais|personne|ne|pas|seul\w*|nunca|nadie|no|solo)\b",
)


def makes_obedient(sentence: str) -> bool:
    """Whether the assistant is to approve, trust or do something, other than in how it words its answers."""
    if _APPROVING.search(sentence):
        return True
    return _CHANGED_DUTIES.search(sentence) is not None and not _FORM.search(sentence)


def gives_away(sentence: str) -> bool:
    """Whether somebody gets a right or another's data; "only", "never" or "not" makes a restriction of it."""
    if _RESTRICTS.search(sentence):
        return False
    return _RIGHTS.search(sentence) is not None or _DATA.search(sentence) is not None
