"""Words that ask or join and say nothing about what is looked for. Negations and numbers are not among them."""

# ruff: noqa: RUF001 - letters of other scripts are meant

_ENGLISH = """
a about after again all also am an and any are as at be because been before being both but by can could did do does
doing done each either else ever for from had has have having he her here hers herself him himself his how i if in
into is it its itself just let many may me might more most much must my myself of often on only or other our
ours out over own please really s same shall she should so some such than that the their theirs them then there these
they this those through to too under until up us very was we were what whatever when where which while who whom whose
why will with would yet you your yours yourself
im ive id ill youre youve theyre theyve weve thats whats wheres whos hows lets
know tell
"""
_GERMAN = """
aber als am auf aus bei bis das dass dem den der des dies diese dieser dieses doch du durch ein eine einem einen
einer eines er es fur gibt haben hatte ich ihr ihre im ins ist ja kann konnen machen mein mir muss nach noch
nur ob oder schon sehr sein seine sich sie sind soll uber um und uns unser unsere unter vom von vor wann warum
welche welcher welches wenn wer werden wie wieso wir wird wo zu zum zur
"""
_ROMANCE = """
al aux avec ce ces cette che chi como con cosa cual cuando cuanto da dans de del della di dont donde du el elle en
entre est esta este et eu il ils je las le les leur leurs lo los lui mais mi moi mon nel nos notre nous o ou
para pero por porque pourquoi qual quand quando que quel quelle quelles quels qui quien quoi se ses si sobre su
sur suo te tu um uma un una une vos votre vous y
"""
_RUSSIAN = """
а был была были было быть в вам вас во вот вы где да для до его ее если есть еще же за и из или им их к как какая
какие какой какую ко когда который которая которые кто куда ли мне мы на над наш наша наши о об он она они оно от по
под почему при про с свой себя со так там то тоже тот ту ты у уже чем что чтобы это эта эти этот я
"""
_OTHERS = """
του της την τον το τα τι και στο στη στην στον για με που πως ποτε ειναι ο η οι
في من على الى عن ما ماذا متى اين كيف هل هو هي هذا هذه التي الذي و
של את על עם מה מי מתי איפה איך זה זאת הוא היא הם אני אנחנו או גם כי אם
है हैं का की के को में से और पर यह वह क्या कब कहाँ कौन
"""
_UNSPACED = """
です ます した して する たい から まで この その あの どの これ それ どれ ここ どこ いつ だれ なに なん いる ある てい
れる られ まし ので のは のが のを には では とは って った くだ ださ さい
いま すか う の は が を に へ と も か で や な
什么 么是 怎么 么样 哪里 哪个 哪些 为什 我们 你们 他们 这个 那个 是什 的 了 是 在 吗 呢 和
무엇 어디 언제 우리 입니 니다 나요 습니 어떻 떻게 은 는 이 가 을 를 에 의
ที่ อะ ะไ ไร ไหน คื คือ
"""

STOP_WORDS = frozenset(f"{_ENGLISH} {_GERMAN} {_ROMANCE} {_RUSSIAN} {_OTHERS} {_UNSPACED}".casefold().split())
"""Folded lower-case words, and pairs of letters where a script knows no spaces."""
