"""The laws every provider obeys, for pytest; a provider's own test file is this long:

    from sessiondb.testing import Laws

    class TestMyProvider(Laws):
        provider = MyProvider

        @pytest.fixture
        def new_store(self, tmp_path):
            return lambda: {"path": tmp_path / uuid4().hex}

`new_store()` gives the options of `initialize` for an empty store, another one at every call. A law that asks for a
feature the provider does not declare is no test of that class. `TamperLaws` is for providers whose rows a test can
damage behind their back. Needs the extra `testing`.
"""

from __future__ import annotations

import pytest

# Before the laws are imported: a failing law should show its values.
pytest.register_assert_rewrite("sessiondb.testing.laws")

from .clock import FakeClock  # noqa: E402
from .laws import Laws, TamperLaws  # noqa: E402
from .machine import Machine, compare_with_memory  # noqa: E402
from .requires import requires  # noqa: E402

__all__ = ["FakeClock", "Laws", "Machine", "TamperLaws", "compare_with_memory", "requires"]
