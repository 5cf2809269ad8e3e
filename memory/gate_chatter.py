"""What people say to each other in passing, one sentence at a time: true for an hour, or for nobody else.

Every function looks at one sentence of a text that ``gate_text.plain`` made. The cues are English, German, French
and Spanish; in other languages a sentence passes.
"""

import re
import unicodedata

from memory.gate_text import any_of, clauses

_DAYS = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days|(?:mon|diens|donners|frei|sams|sonn)tags|mittwochs"
    r"|(?:lundi|mardi|mercredi|jeudi|vendredi)s"
)
_LASTS = any_of(
    r"\b(?:always|never|every|each|whenever|when|if|unless|by default|usually|must|only|means?|because|since|until"
    r"|daily|weekly|monthly|avoid|workaround|instead|wenn|weil|immer|niemals|nie|jede[mnrs]?|sobald|bedeutet|sonst"
    r"|toujours|jamais|chaque|quand|lorsque|parce que|signifie|siempre|nunca|cada|cuando|porque|significa)\b",
    rf"\b(?:{_DAYS}|tous les|toutes les|todos los|todas las)\b",
    r"\b(?:19|20)\d\d\b",
)
"""What makes a rule, a reason or a dated event of it."""
_BRIEFLY = any_of(
    r"\b(?:just|again|right now|now|today|tonight|tomorrow|yesterday|currently|earlier|at the moment|for me"
    r"|this (?:morning|afternoon|evening|week)|last night|(?:\d+|an|a few) (?:minutes?|hours?|days?) ago)\b",
    r"\b(?:heute|gestern|gerade|eben|momentan|schon wieder)\b",
    r"\b(?:ce matin|cette nuit|hier|aujourd'hui|en ce moment|a l'instant)\b",
    r"\b(?:hoy|ayer|ahora mismo|esta manana|anoche|en este momento)\b",
)
_SOON = any_of(
    r"\b(?:today|tonight|tomorrow|this (?:morning|afternoon|evening|week)|next (?:week|(?:mon|tues|wednes|thurs"
    r"|fri)day)"
    r"|in (?:\w+ )?(?:\d+|two|five|ten|fifteen|a few) min(?:ute)?s?)\b",
    r"\b(?:heute|morgen|gleich|ubermorgen|demain|aujourd'hui|hoy|manana)\b",
)
_NOTHING = frozenset(
    ("n/a", "na", "none", "null", "nil", "nothing", "unknown", "tbd", "nichts", "keine", "rien", "nada", "ninguno")
)
_SIGN = re.compile(r":[a-z0-9_+-]+:|<[@#!][^>]*>|@[\w.-]+")
"""Emoji by name, and people and places as Slack writes them."""
_WORDS = re.compile(r"[\w+']+")
_COURTESY = frozenset(
    """
    ok okay k kk yes yep yeah yup ya no nope sure done fixed thanks thank thx ty you so much very a lot that that's
    this it worked works sounds looks good great nice cool awesome amazing excellent perfect lovely one haha hahaha lol
    hehe xd on will do doing got gotcha makes sense to me my bad sorry oops np problem worries welcome you're agreed
    same here true right exactly indeed noted ack roger cheers tbh idk not sure maybe i'm i also too fine by
    appreciated wow omg hm classic fair point mistake ha jep nvm ptal bump found noise works machine issue thread see
    hmm +1 1 all set we're is and for the help lgtm absolutely definitely obviously of course fair enough well deal yay
    congrats congratulations job team everyone guys again interesting danke dank vielen dir euch passt alles klar mach
    mache ich super gut gern gerne geschehen kein keine ursache stimmt genau ja nein jo jup erledigt prima toll perfekt
    sehr schon mir auch fur mich in ordnung wird gemacht bin dran gleich da weg feierabend merci beaucoup c'est parfait
    d'accord bien sur de rien oui non fait nickel top ca marche genial entendu j'arrive ya esta voy vale gracias
    perfecto claro acuerdo muchas si hecho listo bueno por nada entendido
    """.split()  # noqa: SIM905 - a list of words reads as one
)
_MOST_COURTESY = 8
_NO_VERB = r"(?!(?:is|are|was|were|means?|has|goes|stands?|uses?|runs?|ist|sind|hat|est|sont|es|son)\b)"
"""Words after which a thanks would be what a sentence is about."""
_MUCH = r"(?:really|so|very|absolutely|simply|just|truly|too|totally|such|the|an?|my|our|always|always the)"
_FINE = (
    r"(?:best|greatest|great|awesome|amazing|excellent|brilliant|fantastic|wonderful|perfect|incredible|genius|star"
    r"|rockstar|hero|legend|lifesaver|life saver|gem|treasure|angel|champion|champ|pro|kind|helpful|sweet|smart|clever)"
)
_WHOM = r"(?: (?:bot|buddy|mate|team|folks|guys|all|everyone|everybody|everything|ever|again|work|job|help|answer))*"
_THANKS = any_of(
    r"^(?:ok(?:ay)? |great |perfect |many |a million |so many |a thousand |no )?(?:thanks|thanx|thx|thank you|ty"
    r"|cheers)(?: (?:a (?:lot|million|bunch|ton)|so (?:very )?much|very much|again|everyone|everybody|all|team|guys"
    rf"|folks|bot|anyway|in advance))*(?: for {_NO_VERB}[\w'-]+(?: {_NO_VERB}[\w'-]+){{0,5}})?$",
    r"^(?:i |we )?(?:really |much |highly |so )?appreciate (?:it|that|this|you|(?:all )?(?:your|the) (?:\w+ )?"
    r"(?:help|support|work|effort|patience|time|answer))(?: (?:a lot|very much|so much))?$",
    rf"^(?:vielen |herzlichen |tausend |besten )?danke?(?: (?:dir|euch|ihnen|schon|sehr|vielmals|nochmals?))*"
    rf"(?: fur {_NO_VERB}[\w'-]+(?: {_NO_VERB}[\w'-]+){{0,4}})?$",
    rf"^(?:un grand |mille )?merci(?: (?:beaucoup|bien|a (?:toi|vous|tous)|encore|infiniment))*"
    rf"(?: pour {_NO_VERB}[\w'-]+(?: {_NO_VERB}[\w'-]+){{0,4}})?$",
    rf"^(?:muchas |muchisimas |mil )?gracias(?: (?:a (?:ti|todos)|de nuevo))*"
    rf"(?: por {_NO_VERB}[\w'-]+(?: {_NO_VERB}[\w'-]+){{0,4}})?$",
)
_PRAISE = any_of(
    rf"^you(?:'re| are|re)(?: all)?(?: {_MUCH})* {_FINE}{_WHOM}$",
    rf"^(?:that|this|it)(?:'s| is| was)(?: {_MUCH})* {_FINE}{_WHOM}$",
    rf"^what an? {_FINE}{_WHOM}$",
    rf"^(?:{_FINE}|good|nice|lovely|superb|stellar) (?:bot|work|job|stuff|answer|catch|one|help)"
    r"(?: (?:bot|team|everyone|everybody|all|folks|guys|ever|again|as always))*$",
    r"^(?:well done|bravo|kudos|hats off|props|way to go)(?: to (?:you|all|everyone|the team)| team| everyone| all)*$",
    r"^you (?:guys |all )?(?:rock|rule|nailed it|(?:just )?(?:saved|made) my (?:day|week|life))(?: again)?$",
    r"^(?:i )?(?:really |just )?love (?:it|this|that|you|this bot)(?: so much)?$",
    r"^(?:du bist|ihr seid|sie sind) (?:\w+ )?(?:besten?|bester|super|toll|klasse|spitze|genial|grossartig|schatz|held"
    r"|engel)$",
    r"^(?:gute|tolle|super|klasse|saubere) arbeit$|^gut gemacht$",
    r"^(?:tu es|vous etes|t'es) (?:\w+ )?(?:meilleure?s?|geniale?s?|super|top|formidables?|parfaite?s?|adorables?)$",
    r"^(?:bon|beau|excellent) travail$|^bien joue$",
    r"^(?:eres|sois|son) (?:\w+ )?(?:mejor(?:es)?|genial(?:es)?|increibles?|crack|cracks|maquina|sol)$",
    r"^(?:buen|excelente|gran) trabajo$|^bien hecho$",
)
_GREETING = any_of(
    r"^(?:hi|hello|hey|hiya|howdy|yo|good (?:morning|afternoon|evening|night)|morning|happy (?:birthday|monday|friday"
    r"|holidays|new year)|have a (?:nice|good|great)|see you|bye|goodbye|good luck|welcome (?:aboard|back)"
    r"|hallo|moin|servus|gruss|guten (?:morgen|tag|abend)|gute nacht|schon(?:e[nrs]?|es) (?:wochenende|abend|tag|urlaub"
    r"|feierabend)|tschuss|bis (?:morgen|spater|dann)|bonjour|bonsoir|salut|coucou|bonne (?:journee|soiree|nuit)|bon "
    r"week-end|a (?:demain|bientot|plus)|joyeux anniversaire|hola|buen(?:os|as) (?:dias|tardes|noches)"
    r"|buen fin de semana"
    r"|hasta (?:luego|manana|pronto)|feliz cumpleanos|adios)\b(?!-)"
    r"(?:[^\w]+(?!(?:is|are|was|means?|has|uses?|runs?|ist|sind|hat|est|sont|es|son)\b)[\w']+){0,4}[^\w]*$"
)
_QUESTION = any_of(
    r"[?\uff1f\u061f][\s!?.)*_~\u2000-\u3300\U0001f000-\U0001faff]*$",
    r"^(?:does|do|did|has|have|is) (?:anyone|anybody|someone|somebody)\b",
    r"^(?:weiss|hat|kennt) jemand\b",
    r"^(?:est-ce que|quelqu'un sait)\b",
    r"^\W*alguien sabe\b",
)
_LINK = re.compile(r"<https?://[^>]*>|https?://\S+")
_POINTING = frozenset(
    """
    see here here's is the link links doc docs url this that check out it at source ref reference fyi cf more also look
    watch read page recording video slides screenshot ticket thread and for hier siehe der die das dazu voir ici lien
    le la ver aqui enlace el mira
    """.split()  # noqa: SIM905 - a list of words reads as one
)
_FORM = any_of(
    r"\b(?:answer|reply|respond|call|address|speak|talk|use|format"
    r"|avoid|antwort\w*|nenn\w*|sprich|duze|sieze|schreib\w*|tutoie\w*|vouvoie\w*|tuteame|ecri\w*|repon\w*"
    r"|verwende|nutze|repondre|utiliser|tutoyer|vouvoyer|responde\w*|usa"
    r"|llamame|habla\w*)\b"
)
"""A wish for how answers look."""
_REQUEST = any_of(
    r"^merci de\b|\b(?:please|pls|plz|bitte|por favor|s'il (?:te|vous) plait)\b",
    r"^kann (?:mir |uns )?(?:bitte )?jemand\b",
    r"^(?:can|could|would|will) (?:you|someone|anyone|somebody|anybody)\b",
    r"^(?:kannst|konntest|konnt|konnen|konnte|kann) (?:du|ihr|sie|jemand|bitte)\b",
    r"^(?:peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|quelqu'un (?:peut|pourrait))\b",
    r"^(?:puedes|podrias|podeis|pueden|alguien puede)\b",
)
_HELPING = r"(?:help|take (?:a look|care|it|this|that|over)|look (?:into|at)|check|handle|do (?:it|this|that)|pair)"
_OFFER = any_of(
    rf"^(?:i|we)(?:'ll| will| can| could| would)(?: \w+ly| also| try to| then)? (?:{_HELPING}|get back|follow up)\b",
    r"^i(?:'ll| will| could)(?: \w+ly| also| try to| then)? (?:draft|send|ping|open|review|fix|share|post|ask|write)\b",
    r"^(?:i(?:'m| am|'d be| would be) )?(?:happy|glad) to\b",
    r"^let me know (?:if|whether|when) (?:you|that|this|it|anything|there)\b",
    r"^(?:do you )?(?:want|would you like) me to\b",
    r"^(?:shall|should) i\b",
    r"^i(?:'m| am| can| could)\b.{0,60}\bif (?:that|it|this)(?:'s| is)? (?:helps?|useful|helpful|needed)\b",
    r"^i(?:'m| am| can| could)\b.{0,60}\bif (?:useful|helpful|needed|you (?:like|want|need))\b"
    r"|^if you .{0,60}\bi'm around\b",
    r"^meld(?:e dich|et euch)\b",
    r"^feel free to (?:reach|ask|ping|dm|contact|message|write|let)\b",
    r"^soll ich\b",
    r"^ich (?:kann|konnte|werde|wurde) (?:das|es|dir|euch|mich|mir|dabei|gerne?)\b",
    r"^ich (?:schaue?|gucke?|kummere?) (?:mir|mich|mal|gleich)\b",
    r"^(?:gib|gebt|sag|sagt) (?:mir |einfach )?bescheid\b",
    r"^je (?:peux|vais|pourrais) (?:m'|t'|vous |te |aider|regarder|jeter)",
    r"^n'hesite[sz]?\b",
    r"^puedo (?:ayudar|mirar|revisar|hacer|encargar)",
    r"^(?:avisame|dime|avisadme) si\b",
    r"^quieres que\b",
)
_GATHERING = any_of(
    r"\b(?:meeting|sync|standup|stand-up|retro|call|1:1|one-on-one|kick-?off|demo|lunch|coffee|chat|daily"
    r"|planning|workshop|invite|appointment"
    r"|besprechung|termin|treffen|reunion|rendez-vous|point|cita|llamada)\b"
)
_MEETING = any_of(
    r"\blet's (?:meet|talk|sync|jump|hop|catch up|schedule|grab|do \w+day)\b",
    r"\brunning (?:[\w'-]+ ){0,3}late\b",
    r"^(?:joining|brb|afk|omw|be right back)\b|^j'arrive dans\b|^bin (?:gleich|kurz) ",
    r"\bcan(?:'t|not) (?:make|join|attend) (?:it|the|today|tomorrow)\b",
    r"^are we still on\b|\bfallt (?:heute |morgen )?aus\b|^moving (?:\w+ ){1,3}to \d",
    r"^(?:can|could|shall) we (?:move|push|reschedule|postpone|meet|skip)\b",
    r"^(?:meeting|sync|standup|call|demo|lunch|coffee) (?:at|in|um) \d",
    r"\bwir treffen uns (?:heute|morgen|gleich|um)\b",
    r"\bon se (?:voit|retrouve) (?:a \d|demain|dans)\b",
    r"\b(?:nos vemos|quedamos) (?:a las|manana|hoy|en)\b",
)
_TROUBLE = any_of(
    r"\b(?:fail(?:s|ed|ing|ure)?|errors?|errored|crash(?:es|ed|ing)?|broke|broken|tim(?:ed|es|ing) out|timeouts?"
    r"|dropped"
    r"|hangs?|hanging|hung|down|unreachable|flaky|red|stuck|[45]\d\d"
    r"|slow|sluggish|laggy|lagging|unresponsive|stalled|unusable|acting up)\b",
    r"\b(?:does|do|is|are|will|can)(?:n't| not) (?:work|working|respond|responding|load|loading|start|starting"
    r"|connect|connecting)\b|\b(?:won't|can't) (?:work|respond|load|start|connect)\b",
    r"\b(?:langsam|lahmt|hangt|lente?s?|rame|lent[oa]s?)\b",
    r"\b(?:fehler|abgesturzt|kaputt|fehlgeschlagen|ausgefallen|echoue|plante|en panne|erreur|fallo|falla|caido"
    r"|caida|error)\b",
)
_EXPLAINS = any_of(
    r"\b(?:due to|owing to|caused by|thanks to|comes? from|so that|after an?|(?:root )?cause|(?:re)?solved by|fixed by"
    r"|fix is|helps?|restart(?:ing)? (?:it|them|both|the|all)|wegen|durch|ursache|hilft|a cause de|grace a|debido a"
    r"|por culpa de|se arregla)\b"
)
"""A cause or a cure."""
_THING = r"(?:the|this|that|my|our) [\w.-]+(?: [\w.-]+)?"
_REFUSES = (
    r"(?:is|are|seems) (?:still |completely |totally )?(?:hanging|hung|stuck|crashing|unresponsive|stalled|frozen"
    r"|lagging|acting up)|keeps? (?:on )?(?:hanging|crashing|failing|breaking|timing out|freezing|restarting)"
    r"|(?:does|do)(?:n't| not) (?:work|respond|load|start|connect)|(?:won't|will not|can't|cannot) (?:work|respond|load"
    r"|start|connect)|(?:is|are)(?:n't| not) (?:working|responding|loading|starting)"
    r"|(?:has |have )?stopped (?:working|responding)"
)
_TO_ME = r"(?: (?:again|now|for me|here|anymore|any more|at all|once more))*"
_OUTAGE = any_of(
    r"^(?:the )?[\w.-]+(?: [\w.-]+)? (?:is|are|seems) (?:still |completely )?(?:red|down|broken|failing|back up"
    r"|back|unreachable"
    r"|flaky)(?: again| now)?[.!]*$",
    rf"^(?:{_THING}|(?!\w+ing\b)[\w.-]+(?<!s)) (?:hangs|crashes|fails|breaks|lags|stalls|times out)"
    rf"{_TO_ME}[.!]*$",
    rf"^(?:{_THING}|[\w.-]+(?: [\w.-]+)?) (?:{_REFUSES}){_TO_ME}[.!]*$",
    r"^(?:der|die|das|unser[e]?|mein[e]?) [\w.-]+ (?:hangt|spinnt|streikt|klemmt|(?:geht|ladt|startet|reagiert|"
    r"funktioniert) nicht(?: mehr)?)(?: (?:schon )?wieder| bei mir)*[.!]*$",
    r"^(?:les? |la |l'|notre |mon |ma )[\w.-]+ (?:plante|rame|bloque|ne (?:marche|repond|demarre|charge|fonctionne)"
    r" (?:pas|plus))(?: encore| chez moi)*[.!]*$",
    r"^(?:el|la|nuestr[oa]|mi) [\w.-]+ (?:se cuelga|se bloquea|falla|va lent[oa]|no (?:funciona|responde|arranca|"
    r"carga))(?: otra vez| de nuevo)*[.!]*$",
    r"\btim(?:ed|es) out for me\b",
    r"^(?:traceback \(most|[\w.]*(?:error|exception):|fatal:|panic:|npm err!|segmentation fault|exit code \d"
    r"|at [\w.$<>]+ ?\()",
)


def is_empty(text: str) -> bool:
    """Neither a word nor a picture."""
    return text.strip(" .!-") in _NOTHING or not any(unicodedata.category(each)[0] in "LNS" for each in text)


def is_courtesy(sentence: str) -> bool:
    """Thanks, praise, agreement, laughter, a picture: nothing that says something to a third."""
    said = _SIGN.sub(" ", sentence)
    if _is_courteous(said):
        return True
    parts = [part for each in clauses(said) if (part := each.strip(" .!"))]
    return len(parts) <= _MOST_COURTESY and all(_pleases(each) or _is_courteous(each) for each in parts)


def _pleases(clause: str) -> bool:
    return _THANKS.search(clause) is not None or _PRAISE.search(clause) is not None


def _is_courteous(words_said: str) -> bool:
    words = _WORDS.findall(words_said)
    return len(words) <= _MOST_COURTESY and all(word in _COURTESY for word in words)


def is_greeting(sentence: str) -> bool:
    return _GREETING.search(_SIGN.sub(" ", sentence).strip()) is not None


def is_question(sentence: str) -> bool:
    return _QUESTION.search(sentence) is not None


def is_bare_link(sentence: str) -> bool:
    """A link, and at most words that point to it."""
    rest = _LINK.sub(" ", sentence)
    return rest != sentence and all(word in _POINTING for word in _WORDS.findall(rest))


def is_request(sentence: str) -> bool:
    """Something somebody is to do once."""
    if not _REQUEST.search(sentence) or _LASTS.search(sentence):
        return False
    return not _FORM.search(sentence) or _SOON.search(sentence) is not None


def is_offer(sentence: str) -> bool:
    return _OFFER.search(sentence) is not None


def is_meeting(sentence: str) -> bool:
    """One appointment; what comes back every week is worth knowing."""
    if _LASTS.search(sentence):
        return False
    once = _GATHERING.search(sentence) is not None and _SOON.search(sentence) is not None
    return once or _MEETING.search(sentence) is not None


def is_one_off(sentence: str) -> bool:
    """Trouble somebody has at the moment; what causes or mends it is worth knowing."""
    if _LASTS.search(sentence) or _EXPLAINS.search(sentence):
        return False
    passing = _TROUBLE.search(sentence) is not None and _BRIEFLY.search(sentence) is not None
    return passing or _OUTAGE.search(sentence) is not None


def lasts(sentence: str) -> bool:
    """Whether something in it makes a rule, a reason or a dated event of it."""
    return _LASTS.search(sentence) is not None
