from uuid import uuid4

import pytest
from sessiondb_journal import JournalProvider

from sessiondb.testing import Laws


class TestJournal(Laws):
    provider = JournalProvider

    @pytest.fixture
    def new_store(self, tmp_path):
        return lambda: {"path": tmp_path / f"{uuid4().hex}.jsonl"}
