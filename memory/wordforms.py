"""Words of English that belong together and that no rule about endings joins: took and take, db and database."""

_IRREGULAR = """
arise arose arisen; bear borne; become became; begin began begun; bend bent; bind bound; bite bit bitten; bleed bled
blow blew blown; break broke broken; breed bred; bring brought; build built; burn burnt; buy bought; catch caught
child children; choose chose chosen; cling clung; come came; creep crept; deal dealt; dig dug; draw drew drawn
dream dreamt; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt
fight fought; find found; flee fled; fly flew flown; foot feet; forbid forbade forbidden; forget forgot forgotten
forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given; go went gone; grow grew grown
half halves; hang hung; hear heard; hide hid hidden; hold held; keep kept; know knew known; lay laid; lead led
lean leant; leap leapt; learn learnt; leave left; lend lent; light lit; lose lost; make made; man men; mean meant
meet met; mouse mice; overcome overcame; override overrode overridden; oversee oversaw overseen
overwrite overwrote overwritten; pay paid; person people; prove proven; rebuild rebuilt; redo redid redone
rethink rethought; rewrite rewrote rewritten; ride rode ridden; ring rang rung; rise rose risen; run ran; say said
see saw seen; seek sought; sell sold; send sent; shake shook shaken; shelf shelves; shine shone; shoot shot
show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept; slide slid; speak spoke spoken
spell spelt; spend spent; spill spilt; spin spun; spring sprang sprung; stand stood; steal stole stolen; stick stuck
sting stung; strike struck stricken; strive strove striven; swear swore sworn; sweep swept; swell swollen
swim swam swum; swing swung; take took taken; teach taught; tear tore torn; tell told; think thought
throw threw thrown; tooth teeth; undergo underwent undergone; understand understood; undertake undertook undertaken
undo undid undone; wake woke woken; wear wore worn; weave wove woven; wife wives; win won; withdraw withdrew withdrawn
withhold withheld; wolf wolves; woman women; write wrote written
"""
_NOUNS = """
admit admission; advise advice; analyze analysis analyse; assume assumption; behave behavior behaviour; believe belief
choose choice; compare comparison; complain complaint; conclude conclusion; consider consideration
consume consumption; convert conversion; cover coverage; create creation; decide decision; defend defense defence
deliver delivery; deny denial; destroy destruction; discover discovery; divide division; exclude exclusion
expand expansion; explain explanation; explode explosion; expose exposure; extend extension; fail failure; grow growth
guide guidance; include inclusion; introduce introduction; leak leakage; long length; lose loss; maintain maintenance
mix mixture; own owner; permit permission; prescribe prescription; prove proof; recover recovery; reduce reduction
register registration; rent rental; resolve resolution; respond response; retain retention; revise revision; sell sale
sign signature; solve solution; store storage; strong strength; submit submission; subscribe subscription
suspend suspension; transmit transmission; treat treatment; use usage; visit visitor; weigh weight
"""
_SHORT = """
accessibility a11y; account acct; administer admin administrator administration; application app; approximately approx
argument arg; asynchronous async; authenticate auth; average avg; bicycle bike; certificate cert; configure config cfg
credential cred; database db; department dept; depend dep; develop dev; directory dir; document doc; engineer eng
environment env; function func fn; implement impl; information info; infrastructure infra; internationalization i18n
javascript js; kubernetes k8s; library lib; localization l10n; management mgmt; manager mgr; mathematics math maths
maximum max; message msg; minimum min; mother mom mum; observability o11y; organization org; package pkg
parameter param; performance perf; photograph photo pic; postgresql postgres; production prod; repository repo
specify spec; statistics stats; synchronize sync; television tv; temporary tmp; variable var; vegetable veggie
vulnerability vuln
"""


def _forms(lines: str) -> list[tuple[str, list[str]]]:
    entries = (entry.split() for line in lines.splitlines() for entry in line.split(";") if entry.strip())
    return [(base, forms) for base, *forms in entries]


def _plural(noun: str) -> str:
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    if noun.endswith("ss"):
        return f"{noun}es"
    return f"{noun[:-2]}es" if noun.endswith("sis") else noun if noun.endswith("s") else f"{noun}s"


BASE_FORMS = {form: base for base, forms in _forms(_IRREGULAR) for form in forms} | {
    form: base for base, nouns in _forms(_NOUNS + _SHORT) for noun in nouns for form in (noun, _plural(noun))
}
"""By a folded lower-case word the one it is found by. A base has no other base.

Left out is what would join strangers: conf (a conference), hr (human resources), temp (a temperature).
"""
