"""JSON text at the speed of the C encoder, which `json.dumps` sets up anew for every call."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Encode = Callable[[Any], str]


def _unknown(value: Any) -> Any:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _encoder(item: str, key: str, *, sort_keys: bool, default: Callable[[Any], Any]) -> Encode:
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        separators = (item, key)
        return json.JSONEncoder(ensure_ascii=False, sort_keys=sort_keys, separators=separators, default=default).encode
    # No markers: what contains itself ends in a RecursionError.
    encode = make(None, default, json.encoder.encode_basestring, None, key, item, sort_keys, False, True)
    return lambda value: "".join(encode(value, 0))


dumps = _encoder(", ", ": ", sort_keys=False, default=_unknown)
# Rows of other programs may hold what JSON cannot say, such as bytes: any fixed spelling will do.
canonical = _encoder(",", ":", sort_keys=True, default=repr)


def normal(text: Any) -> Any:
    """JSON text as `dumps` would spell it; what is no JSON stays as it is."""
    try:
        return dumps(json.loads(text))
    except (ValueError, TypeError, RecursionError):
        return text
