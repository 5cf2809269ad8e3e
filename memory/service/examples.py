"""One example of every request and answer, for the interface's description."""

from collections.abc import Mapping

from memory.service.wire import JsonObject

_THREAD = "slack:C01:1700000000.000100"
_RECORD: JsonObject = {
    "id": "mem:org:acme:0",
    "scopeKey": "org:acme",
    "kind": "fact",
    "text": "Releases go out on Tuesdays.",
    "keywords": ["release", "tuesday"],
    "sourceThreadKey": _THREAD,
    "sourceRunId": "r1",
    "createdAt": 1700000001000,
    "lastUsedAt": 1700000099000,
    "useCount": 1,
    "confidence": 0.9,
    "status": "active",
}
_CANDIDATES: list[JsonObject] = [
    {
        "kind": "fact",
        "text": "Releases go out on Tuesdays.",
        "keywords": ["release", "tuesday"],
        "sourceThreadKey": _THREAD,
        "sourceRunId": "r1",
        "confidence": 0.9,
    },
    {"kind": "summary", "text": "Release rhythm was discussed and fixed.", "sourceThreadKey": _THREAD},
]

REQUESTS: Mapping[str, JsonObject] = {
    "/retrieve": {"scopeKey": "org:acme", "query": "when is the next release", "limit": 8},
    "/write": {"scopeKey": "org:acme", "cap": 500, "records": _CANDIDATES},
    "/list": {"scopeKey": "org:acme", "limit": 20, "query": "release", "kind": "fact"},
    "/get": {"scopeKey": "org:acme", "ids": ["mem:org:acme:0"]},
    "/forget": {"scopeKey": "org:acme", "id": "mem:org:acme:2"},
    "/sweep": {"scopeKey": "repo:acme/api", "dryRun": True},
    "/erase": {"scopeKey": "org:acme", "id": "mem:org:acme:2"},
    "/export": {"scopeKey": "org:acme", "after": 0},
    "/import": {"scopeKey": "org:acme", "records": [_RECORD]},
    "/scopes": {"limit": 100},
    "/stats": {"scopeKey": "org:acme"},
    "/unembedded": {"scopeKey": "org:acme", "model": "local/minilm", "limit": 16},
    "/vectors": {
        "scopeKey": "org:acme",
        "model": "local/minilm",
        "vectors": [{"id": "mem:org:acme:0", "values": [0.25, -0.5, 0.125]}],
    },
}
ANSWERS: Mapping[str, JsonObject] = {
    "/retrieve": {"records": [_RECORD], "scores": [0.2]},
    "/write": {"ok": True, "inserted": 2, "deduped": 0, "restated": 0, "superseded": 0, "evicted": 0},
    "/list": {"records": [_RECORD]},
    "/get": {"records": [_RECORD]},
    "/forget": {"ok": True, "forgotten": True},
    "/sweep": {"ok": True, "swept": 1, "ids": ["mem:repo:acme/api:7"]},
    "/erase": {"ok": True, "records": 1, "scopes": 1},
    "/import": {"ok": True, "changed": 1},
    "/scopes": {"scopes": ["org:acme", "user:slack:U01"]},
    "/stats": {"scopes": 1, "records": {"active": 2, "superseded": 1}},
    "/unembedded": {"records": [_RECORD]},
    "/vectors": {"ok": True, "kept": 1},
}
