"""What engines cannot hold that refuse NUL too; for `escape.escape`."""

from __future__ import annotations

import re

from .escape import MARK

SURROGATES_AND_NUL = re.compile(f"[\ud800-\udfff{MARK}\0]")
