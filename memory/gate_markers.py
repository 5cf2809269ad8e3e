"""Marks of a status or of a change: what was true of one piece of work at one moment.

The English marks are fixed, one by one; German, French and Spanish have the same ones as far as grammar allows.
They look at a text that ``gate_text.plain`` made.
"""

from memory.gate_text import any_of, clauses

_NUMBERED_SUBJECT = any_of(
    r"^\W*(?:(?:the|this) )?(?:prs?|pull requests?|mrs?|merge requests?|issues?|units?) ?(?:#|!|no\.? ?|number )?\d+\b"
)
_REFERENCE = any_of(r"(?<!\w)#\d+\b", r"\b(?:pull|issues)/")
_COMMIT = any_of(r"(?<![^\W_])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![^\W_])")
_COUNTED = r"(?:test cases?|tests?|checks?|rows?)"
_COUNT = any_of(
    rf"\b\d+(?:/\d+)?(?:[^\w\n]+[\w-]+){{0,3}}?[^\w\n]+{_COUNTED}\b",
    rf"\b{_COUNTED}(?:[^\w\n]+[\w-]+){{0,2}}?[^\w\n]+\d+\b",
)
_OUTCOME = any_of(r"\b(?:pass(?:es|ed|ing)?|green|fail(?:s|ed|ing|ures?)?)\b")
_DELIVERY = any_of(
    r"\b(?:was|is) (?:pushed|merged|approved)\b",
    r"\ball green\b",
    r"\blgtm\b",
    r"\bready for review\b",
    r"\bawait(?:s|ing) ci\b",
    r"\bis complete\b",
)
_DELIVERED = any_of(r"\b(?:pushed|merged|approved|landed|shipped|deployed|closed|reverted|released)\b")
"""What a number that stands beside it makes a delivery, without "was" or "is"."""
_NAMED_WORK = any_of(r"\brun [0-9a-f]{8}\b", r"\bbranch [`'\"]?[\w.-]+/[\w./-]+")
_DELIVERY_ABROAD = any_of(
    r"\bwurden?\b(?: [\w.-]+){0,5}? (?:gemerge?t|gepusht|freigegeben|genehmigt|ausgerollt|deploye?t|abgeschlossen)\b",
    r"\b(?:ist|sind) (?:(?:jetzt|nun|schon|bereits|soweit) )?(?:fertig|abgeschlossen|gemerge?t|ausgerollt|deploye?t)\b",
    r"\balle tests (?:sind )?(?:jetzt |wieder )?(?:grun|gruen)\b",
    r"\bbereit (?:zum|furs?|fuers?)(?: (?:das|den|die))? (?:review|durchsicht)\b",
    r"\bwartet auf (?:die |das )?(?:ci|review|freigabe)\b",
    r"\b(?:a|ont) ete (?:fusionne|pousse|approuve|valide|merge|deploye|livre)e?s?\b",
    r"\b(?:est|sont) pret(?:e|s|es)? pour (?:la |une )?(?:relecture|revue|review)\b",
    r"\b(?:est|sont) (?:maintenant |enfin )?termine(?:e|s|es)?\b",
    r"\btous les tests (?:passent|sont verts)\b",
    r"\ben attente de (?:la )?(?:ci|relecture|revue|validation)\b",
    r"\b(?:fue|fueron|ha sido|han sido|se ha|se han) (?:fusionad|mergead|aprobad|subid|desplegad)[oa]s?\b",
    r"\bestan? list[oa]s? para (?:la )?(?:revision|review)\b",
    r"\bestan? (?:ya )?(?:terminad|complet)[oa]s?\b",
    r"\btodos los tests (?:pasan|estan en verde)\b",
    r"\besperando (?:a )?(?:la |el )?ci\b",
)

_NOW_VERBS = "documents|preserves|displays|includes|carries|has|is|supports|shows|maps|controls|applies|uses"
_CHANGED = "implemented|added|updated|fixed|documented|removed|renamed|introduced|extended"
_CHANGE = any_of(
    rf"\bnow (?:[\w'-]+ )?(?:{_NOW_VERBS})\b",
    rf"\b(?:was|were|has been|have been) (?:{_CHANGED})\b",
    r"\bplan[- ]units?\b",
    r"\bunits? u-?\d+\b",
    r"\bspec rows?\b",
)
_CHANGE_ABROAD = any_of(
    r"\b(?:wurden?|worden)\b(?: [\w.-]+){0,6}? (?:implementiert|hinzugefue?gt|aktualisiert|behoben|korrigiert"
    r"|dokumentiert|entfernt|umbenannt|eingefue?hrt|erweitert|ergae?nzt|geloe?scht)\b",
    r"\b(?:unterstue?tzt|zeigt|enthae?lt|hat|nutzt|verwendet|dokumentiert|steuert) (?:jetzt|nun)\b",
    r"\b(?:a|ont) ete (?:recemment )?(?:(?:implemente|ajoute|corrige|documente|supprime|renomme|introduit|etendu)"
    r"(?:e|s|es)?|mise?s? a jour)\b",
    r"\b(?:utilise|affiche|prend en charge|contient|inclut|montre|documente|supporte)(?:nt)? (?:desormais"
    r"|maintenant)\b",
    r"\b(?:fue|fueron|ha sido|han sido|se ha|se han) (?:implementad|anadid|agregad|actualizad|corregid|documentad"
    r"|eliminad|renombrad|introducid|ampliad)[oa]s?\b",
    r"\bahora (?:documenta|muestra|incluye|tiene|soporta|admite|usa|utiliza|aplica|controla)n?\b",
)


def is_status(text: str) -> bool:
    """Whether it says how far one piece of work has come, anywhere in ``text``."""
    if any(each.search(text) for each in (_NUMBERED_SUBJECT, _COMMIT, _DELIVERY, _NAMED_WORK, _DELIVERY_ABROAD)):
        return True
    return any(_delivers(clause) or _counts(clause) for clause in clauses(text))


def is_change(text: str) -> bool:
    """Whether it describes what was done to something, anywhere in ``text``."""
    return _CHANGE.search(text) is not None or _CHANGE_ABROAD.search(text) is not None


def _delivers(clause: str) -> bool:
    """A number elsewhere only cites where a lesson was learned."""
    return _REFERENCE.search(clause) is not None and _DELIVERED.search(clause) is not None


def _counts(clause: str) -> bool:
    return _COUNT.search(clause) is not None and _OUTCOME.search(clause) is not None
