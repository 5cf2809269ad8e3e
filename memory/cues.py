"""What people's own words give away: that they teach something, wish something for good, agree, ask, or only greet."""

# ruff: noqa: RUF001 - letters of other scripts are meant

import re

STANDING_CHARS = 300
"""What is longer is no rule for every answer."""
GREETING_CHARS = 100

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_QUESTION = re.compile(r"[?？؟;]\W*$")

_WISH = re.compile(
    r"\b(?:always|never|from now on|in (?:the )?future|every time|by default|(?:i|this user|(?:s)?he|they) (?:\w+ )?"
    r"(?:prefers?|likes?|dislikes?|hates?|wants?|would rather))\b"
    r"|\b(?:immer|niemals|nie|ab (?:jetzt|sofort)|künftig|in zukunft|grundsätzlich|bevorzug\w*|(?:ich|diese person) "
    r"(?:mag|möchte|will))\b"
    r"|\b(?:toujours|jamais|désormais|dorénavant|je préfère|préfère)\b"
    r"|\b(?:siempre|nunca|a partir de ahora|prefiero|prefiere|sempre|mai|d'ora in poi|preferisco|preferisce"
    r"|a partir de agora|prefiro|prefere)\b"
    r"|\b(?:всегда|никогда|впредь|отныне|предпочита\w+)\b"
    r"|いつも|常に|必ず|これからは|今後は|好みます|总是|一律|从现在起|以后都|偏好|항상|앞으로는|언제나|دائما|תמיד",
    re.IGNORECASE,
)
_TEACHING = re.compile(
    r"\b(?:remember|note that|keep in mind|for the record|fyi|we|our|ours|my|i (?:use|work|live|need|am)|decided"
    r"|agreed|must|has to|have to|should|(?:in|for) (?:this|the) (?:repo(?:sitory)?|codebase|project|channel))\b"
    r"|\b(?:merk\w*|beachte|wir|unser\w*|mein\w*|beschlossen|vereinbart|muss|müssen|soll|sollen"
    r"|in (?:diesem|dem) (?:repo(?:sitory)?|projekt|kanal))\b"
    r"|\b(?:retiens|souviens-toi|note que|nous|notre|nos|mon|ma|mes|il faut|on utilise"
    r"|dans ce (?:dépôt|repo|projet|canal))\b"
    r"|\b(?:recuerda|nosotros|nuestr[oa]s?|usamos|mi|mis|hay que|ricorda|nostr[oaie]|usiamo|lembre|noss[oa]s?"
    r"|(?:en este|in questo|neste) (?:repo(?:sitorio|sitório)?|proyecto|progetto|projeto|canale?))\b"
    r"|\b(?:запомни\w*|мы|наш\w*|мой|моя|мои|нужно|должн\w*)\b"
    r"|覚えて|私たち|我々|弊社|うちの|请记住|記住|记住|我们|我們|기억|우리|تذكر|نحن|זכור|אנחנו",
    re.IGNORECASE,
)
_AGREEMENT = re.compile(
    r"\s*(?:yes|yep|yeah|correct|(?:that's|that is|you're|you are|all) (?:right|correct)|right|exactly|confirmed|true"
    r"|ja|genau|stimmt|richtig|korrekt|oui|exact(?:ement)?|c'est (?:ça|exact|correct)|sí|si|exacto|correcto|esatto|sim"
    r"|да|верно|точно|именно|はい|そうです|その通り(?:です)?|是的|对|對|没错|네|맞아요|نعم|כן)"
    r"(?:\s*$|\s*[.,!;:–—。！，、])",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"\W*(?:(?:hi|hey|hello|good (?:morning|afternoon|evening|night)|morning|thanks?|thank you"
    r"|(?:very|so) much|thx|cheers|bye|ok(?:ay)?|great|cool|nice|perfect|ping|test|hallo|moin|servus"
    r"|guten (?:morgen|tag|abend)|danke(?: schön)?|tschüss|bonjour|salut|merci|hola|gracias|ciao|grazie"
    r"|olá|obrigad[oa]|привет|спасибо|здравствуйте|пока|こんにちは|おはよう(?:ございます)?"
    r"|ありがとう(?:ございます)?|你好|谢谢|안녕하세요|감사합니다|مرحبا|شكرا|שלום|תודה"
    r"|there|all|everyone|team|bot|switchboard|again|a lot|you|<?@[\w|]+>?)\W*)+",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def is_question(sentence: str) -> bool:
    return _QUESTION.search(sentence) is not None


def wishes_for_good(text: str) -> bool:
    """Whether it reads like something that governs every later answer: "always …", "I prefer …"."""
    return len(text) <= STANDING_CHARS and _WISH.search(text) is not None


def teaches(text: str) -> bool:
    """Whether somebody states something that may last, as far as a few words of several languages tell."""
    said = [each for each in sentences(text) if not is_question(each) or _WISH.search(each)]
    return any(_TEACHING.search(each) or _WISH.search(each) for each in said)


def agrees(text: str) -> bool:
    """Whether it begins by confirming what was said before it."""
    return _AGREEMENT.match(text) is not None


def is_greeting(text: str) -> bool:
    """Whether there is nothing in it but courtesy."""
    return not text.strip() or (len(text) <= GREETING_CHARS and _GREETING.fullmatch(text) is not None)
