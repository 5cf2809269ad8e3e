"""What people report of their day and what tells of this very conversation, one sentence at a time.

Unlike the marks of ``gate_markers`` these spare a text that has another sentence worth keeping. Every function looks
at a sentence of a text that ``gate_text.plain`` made.
"""

from memory.gate_chatter import lasts
from memory.gate_text import any_of

_DONE = r"(?:finished|completed|wrapped up|pushed|merged|deployed|shipped|fertig|abgeschlossen|gepusht|gemergt)"
_STATE = r"(?:in progress|in review|under review|on hold|wip|blocked)"
_STATUS = any_of(
    r"^(?:yesterday|today|heute|gestern|hier|aujourd'hui|ayer|hoy)(?: ?[:,]|,? (?:i|we|i'm|i'll|we're|habe? ich"
    r"|j'ai)\b)",
    r"^(?:i'm|i am|we're|we are)(?: currently| still| now| just)? (?:working on|looking into|debugging|investigating"
    r"|finishing|wrapping up|blocked|waiting|stuck)\b",
    r"^[\w'-]+ is (?:(?:currently|still|now) (?:working on|looking into)|(?:currently |still |now )?(?:debugging"
    r"|investigating"
    r"|waiting for|blocked on))\b",
    r"^(?:no |current |my )?blockers?\b",
    r"\bstill (?:blocked|waiting|pending|open)\b",
    rf"\b(?:is|are|still|currently|moved to|now) {_STATE}\b",
    r"^(?:wip|eta|ptal|out of office|ooo)\b",
    r"^(?:just )?(?:deployed|pushed|merged|fixed|approved|released|reverted|rebased|rolled back|rebooting"
    r"|restarting|rerunning"
    r"|retrying|rolling back)(?: (?:to|in|on|an?|the|it|that|this|now|again|fix|main|master|staging|prod"
    r"|production))*[.!]*$",
    r"^(?:the |my |our )?(?:builds?|ci|pipelines?|tests?|prs?|servers?|site|staging|prod|production) (?:is|are) "
    r"(?:all |now )?"
    r"(?:green|up|back|passing|running|open|ready)(?: again| now)*[.!]*$",
    r"^no (?:news|updates?)\b",
    r"^i(?:'m| am) (?:out|off|away|ooo|sick)(?: (?:today|tomorrow|sick|now|for the day|this \w+))*[.!]*$",
    rf"^(?:i|we)(?: have|'ve)?(?: just| already| also)* {_DONE}\b",
    r"\bis (?:now |almost |nearly )?(?:live|done|finished|deployed|shipped|released|rolled out|out)[.!]*$",
    r"\b\d{1,3} ?% (?:done|complete|finished|through|fertig|erledigt|durch)\b",
    r"^(?:the )?(?:rollout|migration|import|backfill|upload|progress)\b.{0,40}\b\d{1,3} ?%",
    r"^(?:deploying|releasing|shipping|rolling out|merging|rebasing|testing)\b.{0,80}\b(?:now|today|tonight|soon)\b",
    r"\b[a-z]{2,10}-\d+ (?:is|was|has been|moved|went)(?: now)?(?: to| in)? "
    r"(?:done|progress|in review|review|closed|fixed|resolved|open|blocked|ready|qa)\b",
    r"^ich (?:arbeite|sitze|bin)\b.{0,20}\b(?:gerade|aktuell|noch|heute|jetzt)\b",
    rf"^ich habe?\b.{{0,60}}\b{_DONE}\b",
    r"\bin (?:arbeit|bearbeitung)[.!]*$",
    r"^je travaille (?:actuellement|encore|en ce moment|aujourd'hui|sur)\b",
    r"\ben (?:cours|curso)[.!]*$",
    r"^(?:estoy|estamos|sigo|seguimos) (?:trabajando|esperando|terminando|revisando)\b",
)
_CHANGE = any_of(
    r"^i(?: have|'ve)?(?: just| also| already)? (?:added|removed|renamed|fixed|updated|refactored|bumped"
    r"|reworded|rewrote)\b",
    r"\b(?:was|were|has been|have been) (?:recently|just|newly) \w+",
    r"^(?:i|we)(?: have|'ve)? just (?:\w+ed|rewrote|built|set)\b",
    r"^(?:i|we) (?:\w+ed|rewrote|built|set up|cut)\b.{0,80}\b(?:this (?:morning|afternoon)|today|last night"
    r"|just now)[.!]*$",
    r"^ich habe?\b.{0,60}\b(?:hinzugefue?gt|umbenannt|entfernt|aktualisiert|behoben|angepasst)[.!]*$",
)
_PASSIVE = any_of(
    r"\b(?:was|were|has been|have been|is being|are being|got)(?: \w+ly| also| already| now)? (?:adapted|adjusted"
    r"|altered|amended|changed|configured|converted|copied|corrected|created|drafted|edited|exported|formatted|generated"
    r"|imported|inserted|installed|modified|patched|polished|posted|prepared|rebuilt|recreated|reformatted|regenerated"
    r"|reordered|repaired|reset|resolved|restarted|restored|revised|saved|sent|set up|shortened|sorted|translated"
    r"|tweaked|uploaded)(?: \w+ly| again| as (?:asked|requested|discussed|agreed|wished))*[.!]*$",
    r"\bwurden?\b(?: [\w.-]+){0,4}? (?:angepasst|geandert|bearbeitet|uberarbeitet|erstellt|angelegt|gesendet"
    r"|verschickt|gespeichert|neu gestartet|zuruckgesetzt|ubersetzt|gekurzt|sortiert|installiert)[.!]*$",
    r"\b(?:a|ont) ete (?:bien )?(?:adapte|ajuste|modifie|change|cree|envoye|enregistre|redemarre|traduit|revise"
    r"|prepare)e?s?[.!]*$",
    r"\b(?:fue|fueron|ha sido|han sido|se ha|se han) (?:adaptad|ajustad|modificad|cambiad|cread|enviad|guardad"
    r"|reiniciad|traducid|revisad|preparad)[oa]s?[.!]*$",
    r"\bse (?:ha|han) (?:adaptado|ajustado|modificado|creado|enviado)\b.{0,40}$",
)
"""What was done to something, and nothing else of it: neither why nor to what end."""
_COMMITTED = any_of(
    r"^(?:feat|fix|chore|docs|refactor|tests?|ci|build|perf|style)(?:\([^)]*\))?!?: ",
    r"^(?:moved|added|removed|renamed|fixed|updated|refactored|cleaned up|dropped|bumped|rewrote|replaced"
    r"|changed|extracted"
    r"|implemented) (?:the|an?|some|two|three|all|my|our|its|missing|unused)\b",
    r"\b(?:was|were|has been|have been) (?:redesigned|rewritten|refactored|reworked|bumped|upgraded|cleaned up|adjusted"
    r"|simplified|dropped|deleted|changed from)\b",
)
_MOMENT = any_of(
    r"\b(?:today|tonight|tomorrow|right now|just now|this (?:morning|afternoon|evening)|later this week)\b",
    r"(?<=\w )(?:at the moment|next week)\b",
    r"\b(?:\d+|an?|one|two|a few|half an) (?:minutes?|hours?) ago\b|\bin (?:\d+|ten|five|a few|half an) "
    r"(?:min\w*|hours?)\b",
    r"\b(?:heute|gestern|ubermorgen|gerade standig|lauft noch|so gut wie (?:durch|fertig))\b",
    r"\b(?:ce matin|cet apres-midi|aujourd'hui|en ce moment|avance bien)\b",
    r"\b(?:hoy|ayer|ahora mismo|esta (?:manana|tarde))\b",
)
"""Words that mean something else on the next day."""
_BOT = r"(?:assistant|bot|switchboard|assistent|asistente)"
_RECALLED = any_of(r"\(source: [^()\n]+\)$", r"\(source: [^()\n]+\)\n")
"""How a remembered record ends where it is shown."""
_ECHO = any_of(
    r"^(?:the|this) (?:conversation|discussion|chat|thread) (?:was about|discussed|covered|concerned|revolved|ended)\b",
    rf"^(?:the |this )?{_BOT} (?:could|did|does|can)(?: not|n't) (?:find|know|answer|help|understand)\b",
    rf"^(?:the |this |der |el |l')?{_BOT} (?:explained|suggested|answered|said|replied|recommended|provided"
    rf"|offered|asked"
    r"|helped|told|gave|confirmed|mentioned|summari[sz]ed|hat (?:\w+ ){0,6}\w+t|a (?:explique|repondu|suggere|propose)"
    r"|explico|respondio|sugirio)\b",
    rf"^(?:the |this )?{_BOT} is an? (?:\w+ ){{0,2}}(?:bot|assistant|ai|model)\b",
    r"^you are an? (?:\w+ ){0,2}(?:assistant|bot|ai|model)\b",
    r"^(?:as|i am|i'm) an? (?:\w+ )?(?:ai|assistant|bot|language model)\b",
    r"^(?:the |this )?(?:user|person) (?:is asking|asked|wanted to know|wants to know|would like to know"
    r"|inquired|thanked"
    r"|greeted|said (?:hi|hello|thanks?|they (?:would|will)|s?he (?:would|will)))\b(?! (?:to be|not to|to get"
    r"|to receive|for (?:short|answers|replies)|that))",
    r"^(?:der|die) (?:be)?nutzer(?:in)? (?:fragte|wollte wissen|hat (?:\w+ ){0,6}gefragt)\b",
    r"^l'utilisat(?:eur|rice) (?:demande|a demande|voulait savoir|souhaite savoir)\b",
    r"^(?:el|la) usuari[oa] (?:pregunta|pregunto|ha preguntado|queria saber)\b",
)


def reports_status(sentence: str) -> bool:
    """A standup, a progress, the state of a ticket."""
    return _STATUS.search(sentence) is not None and not lasts(sentence)


def reports_change(sentence: str) -> bool:
    """What somebody says they did to something just now."""
    changed = any(each.search(sentence) for each in (_CHANGE, _PASSIVE, _COMMITTED))
    return changed and not lasts(sentence)


def is_of_the_day(sentence: str) -> bool:
    """Whatever it says, on the next day its words say something else."""
    return _MOMENT.search(sentence) is not None and not lasts(sentence)


def is_recalled(text: str) -> bool:
    """Whether a record as it was shown to a model comes back, anywhere in ``text``."""
    return _RECALLED.search(text) is not None


def is_echo(sentence: str) -> bool:
    """The bot's own words, what it was told to be, or that somebody asked it something."""
    return _ECHO.search(sentence) is not None
