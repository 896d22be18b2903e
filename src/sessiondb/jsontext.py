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


# Shorter texts the C encoder has quoted before a look at them pays.
_SHORT = 64
_WITHOUT_CONTROLS = bytes(code if code >= 0x20 else 0x20 for code in range(256))


def escaped(text: str) -> bytes:
    """The inside of `text` as a JSON string, in UTF-8, as `canonical` spells it; lone surrogates stay what they are.

    The C encoder goes character by character; what nearly every text needs can be done a block at a time.
    """
    if len(text) < _SHORT:
        return _inside(text)
    try:
        plain = text.encode()
    except UnicodeEncodeError:
        return _inside(text)
    plain = plain.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n").replace(b"\t", b"\\t")
    return plain if plain.translate(_WITHOUT_CONTROLS) == plain else _inside(text)


def _inside(text: str) -> bytes:
    return json.encoder.encode_basestring(text)[1:-1].encode("utf-8", "surrogatepass")
