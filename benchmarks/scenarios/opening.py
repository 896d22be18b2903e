"""What a short-lived process pays before it can ask anything: whole interpreters, less a bare one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns

from ..arena import SESSIONDB, Contestant
from ..figures import Rounds, median_of, summary
from ..results import Comparison, Result, Target
from ..setting import MILLISECOND, Setting

OPEN_MILLISECONDS = Target(60.0)
OPEN_OVER_IMPORT_MILLISECONDS = Target(30.0)
