"""Values as JSON that both databases can hold."""

import json
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from memory.text import storable


def json_text(adapter: TypeAdapter[Any], value: object) -> str:
    """``adapter`` reads it back. Lone surrogates, which no encoder of bytes takes, become U+FFFD; NUL stays escaped.

    What is not ASCII is written as itself: an escaped half of a pair would pass here and be refused when read.
    """
    try:
        return adapter.dump_json(value).decode()
    except PydanticSerializationError:  # half of a pair; looking for one first would take longer than to write
        return storable(json.dumps(adapter.dump_python(value, mode="json"), ensure_ascii=False))
