"""`make demo` shows what it promises, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).parents[1] / "examples" / "demo.py"


def test_the_demo_writes_lists_searches_resumes_and_counts(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path), "SESSIONDB_URL": "oracle://not-used", "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(DEMO)], capture_output=True, encoding="utf-8", env=environment, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    for expected in (
        "nginx 502 #2 ",
        "yesterday ",
        "/>>>etc/nginx/nginx.conf<<< test is successful",
        ">>>天气<<<",
        "assistant: Run: systemctl restart app",
        "Total sessions: 6",
        "6 sessions, 14 messages: all there.",
    ):
        assert expected in done.stdout
    assert list(tmp_path.iterdir()) == []
