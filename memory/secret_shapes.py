"""Credentials that tell by themselves what they are: by a vendor's prefix, or as a signed web token."""

import binascii
import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from memory.secret_marks import Found, Kind, begins_here

_TAIL = "[A-Za-z0-9_]*+"
"""What is glued to a credential goes with it, so that nothing begins where one has ended."""

_NOTHING = range(0)
_ALIKE = 3
"""So many letters that prefixes have in common are rare enough in what people write."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """A prefix and what follows it; as many characters before the prefix as ``behind`` says belong to it as well."""

    kind: Kind
    families: tuple[tuple[str, tuple[str, ...]], ...]
    """Prefixes that begin alike, by that beginning: a text without it is not searched for each of them."""
    body: re.Pattern[str]
    behind: range = _NOTHING


def _shape(kind: Kind, prefixes: str, body: str, behind: range = _NOTHING) -> _Shape:
    alike = (tuple(each) for _, each in groupby(prefixes.split(), key=itemgetter(slice(_ALIKE))))
    families = tuple((each[0] if len(each) == 1 else each[0][:_ALIKE], each) for each in alike)
    return _Shape(kind, families, re.compile(body + _TAIL), behind)


_BEHIND = re.compile(r"[A-Za-z0-9_~.+/-]*+")
_SHAPES = (
    _shape("slack-token", "xox XOX", r"[A-Za-z](?:\.[Xx][Oo][Xx][A-Za-z])?-(?:[A-Za-z0-9/+=-]|%2[BbFf]|%3[Dd]){8,}+"),
    _shape("slack-token", "xapp- XAPP-", r"[A-Za-z0-9-]{8,}+"),
    _shape("slack-webhook", "hooks.slack.com/ hooks.slack-gov.com/", r"[a-z]{4,12}/[A-Za-z0-9_/-]{8,}+"),
    _shape("slack-webhook", "hooks.slack.com\\/ hooks.slack.com%2F", r"[a-z]{4,12}[A-Za-z0-9_/\\%-]{8,}+"),
    _shape("github-token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"[A-Za-z0-9_]{20,}+(?:\.[A-Za-z0-9_-]{8,}+)*+"),
    _shape(
        "gitlab-token",
        "glpat- glptt- gldt- glrt- glrtr- glcbt- glsoat- glft- glagent- glimt- gloas- glffct- GR1348941",
        r"[A-Za-z0-9_-]{16,}+(?:\.[A-Za-z0-9_-]++)*+",
    ),
    _shape("anthropic-key", "sk-ant-", r"[A-Za-z0-9_-]{16,}+"),
    _shape("openai-key", "sk-", r"(?!ant-)(?![a-z]{1,12}+(?:-[a-z]{1,12}+){1,8}+(?![A-Za-z0-9_-]))[A-Za-z0-9_-]{16,}+"),
    _shape(
        "aws-key",
        "AKIA ASIA ABIA ACCA",
        r"[A-Z0-9]{16}[A-Za-z0-9_]*+(?:[\s,:;/|\"']{1,6}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=]))?",
    ),
    _shape("aws-key", "ABSK", r"[A-Za-z0-9+/]{60,}+=*+"),
    _shape("google-key", "AIza", r"[A-Za-z0-9_-]{35,}+"),
    _shape("google-key", "ya29. GOCSPX- 1//0", r"[A-Za-z0-9_-]{20,}+"),
    _shape("azure-key", "Q~", r"[A-Za-z0-9_~.-]{30,}+", behind=range(4, 5)),
    _shape("azure-key", "AZDO", r"[A-Za-z0-9]{4}", behind=range(76, 77)),
    _shape("azure-key", "JQQJ99", r"[A-Za-z0-9]{20,}+", behind=range(52, 53)),
    _shape("azure-key", "+ASt +AMC +ABa +AEh +ARm", r"[A-Za-z0-9+/]{4,10}+={1,2}", behind=range(76, 77)),
    _shape("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_", r"[A-Za-z0-9_]{16,}+"),
    _shape("stripe-key", "whsec_", r"[A-Za-z0-9+/=_-]{16,}+"),
    _shape("npm-token", "npm_", r"[A-Za-z0-9]{30,}+"),
    _shape("pypi-token", "pypi-Ag", r"[A-Za-z0-9_-]{16,}+"),
    _shape("api-key", "SG.", r"[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+"),
    _shape("api-key", "SK dapi key- NRAK- nrak-", r"[0-9A-Fa-f]{27,}+"),
    _shape("api-key", "hf_ gsk_ xai- pplx- r8_ r8- pcsk_ fw_ nvapi- csk- jina_ tvly-", r"[A-Za-z0-9_]{28,}+"),
    _shape("api-key", "shpat_ shpca_ shppa_ shpss_ dop_v1_ doo_v1_ dor_v1_ sbp_ rubygems_", r"[0-9a-f]{32,}+"),
    _shape(
        "api-key", "lin_api_ ntn_ dckr_pat_ figd_ PMAK- pscale_tkn_ pscale_pw_ bkua_ CFPAT-", r"[A-Za-z0-9_.-]{20,}+"
    ),
    _shape(
        "api-key", "glsa_ glc_ sntrys_ sntryu_ tskey-auth- tskey-api- ATATT3x ATCTT3x HRKU-", r"[A-Za-z0-9_=+/-]{20,}+"
    ),
    _shape("api-key", "hvs. hvb. hvr. dp.pt. dp.st. atlasv1. ops_eyJ sq0atp- sq0csp- EAAA", r"[A-Za-z0-9_=-]{22,}+"),
    _shape("api-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{30,}+"),
    _shape("api-key", ":AA", r"[A-Za-z0-9_-]{33}", behind=range(8, 11)),
    _shape("api-key", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", r"\d{10,}+/[A-Za-z0-9_-]{20,}+"),
    _shape("api-key", "webhook.office.com/webhookb2/", r"[A-Za-z0-9@/_-]{20,}+"),
    _shape("private-key", "xprv", r"[A-HJ-NP-Za-km-z1-9]{80,}+"),
)


def well_known_shapes(text: str) -> Iterator[Found]:
    for shape in _SHAPES:
        for beginning, prefixes in shape.families:
            if beginning in text:
                for prefix in prefixes:
                    yield from _found(shape, prefix, text)


def _found(shape: _Shape, prefix: str, text: str) -> Iterator[Found]:
    at = text.find(prefix)
    while at >= 0:
        end = at + len(prefix)
        start = _start(text, at, shape.behind)
        body = None if start is None else shape.body.match(text, end)
        if body and start is not None:
            end = at + len(body.string[at : body.end()].rstrip("."))
            yield Found(start, end, shape.kind)
        at = text.find(prefix, end)


def _start(text: str, at: int, behind: range) -> int | None:
    """Where a credential begins whose prefix stands at ``at``; ``None`` where none can."""
    if not behind:
        return at if begins_here(text, at) else None
    before = _BEHIND.match(text[max(0, at - 4 * behind.stop) : at][::-1])
    length = before.end() if before else 0
    if length < behind.start:
        return None
    return next((at - size for size in behind if begins_here(text, at - size)), at - length)


_WEB_TOKEN = re.compile(
    r"(e[w-z0-9_-](?:(?<![A-Za-z0-9_-]..)|(?<=\\[nrtbf]..)|(?<=%[0-9A-Fa-f]{2}..))[A-Za-z0-9_-]{8,}+)"
    r"\.([A-Za-z0-9_-]*+)((?:\.[A-Za-z0-9_-]*+){0,3}+)"
)
"""Three to five parts in base64url, the first of which begins with a brace (RFC 7515, RFC 7516); or two, cut off."""
_LONGEST_HEADER = 16_384


def web_tokens(text: str) -> Iterator[Found]:
    at = 0
    while found := _WEB_TOKEN.search(text, at):
        if len(found[2]) + len(found[3]) > 1 and _is_header(found[1]):
            at = found.start() + len(found[0].rstrip("."))
            yield Found(found.start(), at, "web-token")
        else:
            at = found.end(1)


def _is_header(part: str) -> bool:
    """Whether ``part`` is a JSON object that names an algorithm."""
    if len(part) > _LONGEST_HEADER:
        return False
    try:
        header: object = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "alg" in header
