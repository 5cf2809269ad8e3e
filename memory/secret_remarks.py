"""Whether the words after "the password is" say something about the password or are the password itself.

What they say is a closed vocabulary, what people choose is not: a word that is known here, or is formed like one of
them, is a remark; every other one counts as the secret. Losing a rare adjective costs less than keeping a password.
"""

import re

from memory.secret_marks import Kind
from memory.secret_values import Value, is_said_about_one, looks_random
from memory.stopwords import STOP_WORDS

_ENGLISH = """
abandoned accessible active actually almost alone along alphabetic alphanumeric already although always ambiguous
anonymous another anybody anyone anything approximately around ascii automatic available away awful back bad base64
baseline because begun behind below beside besides best better between blank both bound broken built case chosen
classified clear cleartext common compatible complete complex compulsory confidential constant correct corrupt
critical crucial custom cut daily dead default definitely deprecated despite different difficult due during dynamic
earlier easier easily easy either enough entirely equal essential everybody everyone everything everywhere exact
exactly exclusive exempt explicit extra false fewer fine fixed forgotten found free frequently fresh fully funny
garbage global gone good great half hard hardcoded harder harmless hashed held hence hereby hers hex his historic
however human identical immutable implicit important impossible incomplete incorrect indeed independent individual
initial insecure inside instead insufficient intact internal into invalid irregular irrelevant known lacking lame last
late later least legacy legal less like likely literal literally live local locked longer lost lower lowercase made
mandatory manual many maximum maybe meaningless merely mine minimum missing mixed monthly moot mutable mysterious near
nearly necessary neither new nobody non nonsense nothing notoriously nowadays nowhere nullable numeric obligatory
obscure obsolete obvious odd offline often okay old once online opaque open ordinary original otherwise ours outdated
outside owned part partly per perfect perhaps permanent personal plain plaintext pointless poor possible practically
predictable preset private pro probably problematic proof proper public pure put quarterly quite random rarely rather
read ready real really reasonable regular relevant reliable rewritten right robust roughly rubbish run sacred safe
safer salted same secret secure seen seldom sensitive separate serious set several severe short shorter shown similar
simple simply since single site slow small solid somebody someone something sometimes somewhere soon sound special
specific spread stale standard static stolen strange strict strong stronger stupid subject sufficient superfluous sure
suspicious synchronous taken tbd temporary terrible text that theirs therefore thus tied todo told tomorrow too trash
tricky trivial true twice typically uncertain unclear under unfortunate unhashed unicode unique universal unknown
unlike unlikely unnecessary unrelated unsafe unsalted unset unsound until upper uppercase usually utf-8 vague valid
various via vital void vulnerable weak weaker weekly whatever whenever wherever whichever whitespace whoever whose
wide wise within without worse worst worthless written wrong yearly yesterday yet yours
"""
_NOUNS = """
account admin alphabet api base bcrypt business client company config customer data database device domain eight
encryption environment five group hash host http human input knowledge language ldap letters machine master member
numbers oauth operator owner policy production project role root saml server service session seven site six sso
staging step string system team ten tenant test text time tls twelve twenty user users vault vendor version
"""
"""They tell about a password in front of another word only: "user input", "company policy"; alone they may be one."""
_GERMAN = """
abgelaufen aktuell alle allen allgemein alt anders anfrage beim bekannt bereits daneben dasselbe derselbe derzeit dort
egal eigentlich etwas falsch fest folgendermaßen folgendes fort geheim genauso gleich gültig heute hier hinfällig
identisch immer ins irgendwo jedem jeder jederzeit kein keine keiner keines korrekt kurz kürzer lang leer leicht
leider länger meist morgen neu neue nichts nie niemals nirgends nirgendwo noch notwendig nämlich nötig offen optional
persönlich pflicht privat pro richtig schlecht schwach schwer selten sicher siehe so standard stark stets streng
temporär unbekannt ungültig unsicher unverändert verloren vertraulich vorhanden weg weiter weiterhin wichtig wieder
wunsch zufällig zurzeit überall überflüssig üblich
"""
_ROMANCE = """
ahora algo aussi bastante bien chez confidentiel correct correcta corta court demasiado dessous diferente débil encore
erroné errónea faible falsa faux fort fuerte identique igual inconnu incorrect incorrecta interdit invalide inválida
jamais larga long maintenant mauvais misma muy même nada necesaria nueva nula nécessaire obligatoire obligatoria
oublié perdu personal personnel plus périmé requis rien secret secreta segura sencilla sensible siempre sous stocké
tan todavía toujours trop très unique vacía valide vide vieja válida única
"""
_VERBS = """
access activate authenticate avoid begin close comply confirm connect continue download edit enable encrypt enter
expire finish force gain get give have install join keep leave let load log login make match meet mount move open pass
prevent proceed protect prove reach read recover regain register reset restore resume satisfy save see send set sign
start stay stop submit sync unlock update upgrade use verify view work
"""
"""What passwords are set, changed or reset "to" do, which is no value: "to continue"."""
_REMARKS = STOP_WORDS.union(_ENGLISH.split(), _GERMAN.split(), _ROMANCE.split(), _VERBS.split())
_ADJECTIVES = frozenset(_ENGLISH.split())
_IN_FRONT = frozenset(_NOUNS.split())
_TIMES = frozenset("today yesterday tomorrow now and or but for please since until again everywhere on in".split())  # noqa: SIM905
_CHANGED = frozenset("geändert gesetzt umgestellt zurückgesetzt".split())  # noqa: SIM905
"""Behind a new password: "wurde auf … geändert"."""
_FIRST_PARTS = frozenset(
    "all auto base case company double email full hard high human industry long low machine multi non one org per plain"  # noqa: SIM905
    " policy pre read role self semi short single site sub team time two un user well world write".split()
)
_FORMED = re.compile(
    r"[a-z]{2,}(?:ed|ing|able|ible|less|ous|ful|ive)|(?:ge|be|er|ver|ent|zer|ab|an|auf|aus|ein|hinter|nach|um|vor|zu)[a-zäöüß]{4,}(?:t|en)"
    r"|[a-zäöüß]{3,}(?:lich|bar|los|sam|haft|pflichtig|iert)|[a-zà-ÿ]{2,}(?:é|ée|és|ées|ado|ada|ido|ida)"
)
"""Participles and what is made from verbs and nouns to say how something is; written small."""
_ADVERB = re.compile(r"[a-z]{3,}ly")
_NEXT_WORD = re.compile(r"[ \t]{1,4}[(*_~]{0,2}([^\W\d_][\w'’-]{0,40}+)")  # noqa: RUF001
_OWNED = re.compile(r"['’]s?[ \t]{1,4}\w")  # noqa: RUF001
"""Behind a name: whose job it is, where it is kept."""
_OTHERS = re.compile(r"(?:[ \t][a-z]{3,20}){3}(?![\w-])")
_OWNER = re.compile(r"[\w-]+['’]s?\Z")  # noqa: RUF001
_AMOUNT = re.compile(r"[\d.,+–-]+(?:-?[a-z]+)?\Z")  # noqa: RUF001
_COUNTED = re.compile(r"[<>≥≤~]?\d{1,3}-?[a-z]{3,}\Z")
_LETTERS = re.compile(r"[^\W\d_]+")


def is_remark(text: str, value: Value, kind: Kind) -> bool:
    """Whether ``value``, or the sentence that begins with it, only says something about a secret."""
    said = text[value.start : value.end].rstrip("!?:*_~")
    if is_said_about_one(text, Value(value.start, value.start + len(said), value.is_quoted), kind):
        return True
    if value.is_quoted or looks_random(said) or _is_passphrase(text, value, said):
        return False
    if _OWNED.match(text, value.end):
        return True
    following = _NEXT_WORD.match(text, value.end)
    return _is_word_of_one(said, following[1] if following else "")


def _is_passphrase(text: str, value: Value, said: str) -> bool:
    """Whether three words or more that join nothing follow upon an adjective: "correct horse battery staple"."""
    others = _OTHERS.match(text, value.end)
    return said.casefold() in _ADJECTIVES and others is not None and not any(map(is_word_of_remark, others[0].split()))


def is_word_of_remark(word: str) -> bool:
    """Whether a word by itself says how something is, or joins sentences."""
    return word.casefold() in _REMARKS or _FORMED.fullmatch(word) is not None


def _is_word_of_one(said: str, following: str) -> bool:
    if is_word_of_remark(said) or _COUNTED.fullmatch(said):
        return True
    if following and _tells_in_front(said, following):
        return True
    first, *others = said.split("-")
    return bool(others) and all(map(_LETTERS.fullmatch, [first, *others])) and _is_put_together(first, others[-1])


def _tells_in_front(said: str, following: str) -> bool:
    """Of a word with another one after it: an adverb, an owner, an amount, a noun, or how something was done."""
    is_adverb = _ADVERB.fullmatch(said) and following not in _TIMES
    if is_adverb or _OWNER.fullmatch(said) or _AMOUNT.fullmatch(said):
        return True
    return said.casefold() in _IN_FRONT or (following not in _CHANGED and _FORMED.fullmatch(following) is not None)


def _is_put_together(first: str, last: str) -> bool:
    """Whether parts with hyphens tell how something is: case-sensitive, per-user, bcrypt-hashed, read-only."""
    return is_word_of_remark(last) or first.casefold() in _FIRST_PARTS
