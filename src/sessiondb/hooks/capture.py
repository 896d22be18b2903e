"""What agents run at the end of a turn: a few lines of shell, or of JavaScript, that note which conversation went on.

They append one line to the spool and are gone in milliseconds. They call no model, start no agent and read no
transcript; of what an agent tells them only ids, names and places are kept, no text.
"""

from __future__ import annotations

import json
from pathlib import Path

SHELL = r"""#!/bin/sh
# Notes for sessiondb which conversation went on; `sessiondb hook remove` takes it out again.
# The next sessiondb command reads the transcript.
umask 077
spool=@SPOOL@
noted=$(head -c 4000000 | grep -aoE '"(session_id|transcript_path|hook_event_name|cwd)" *: *"([^"\\]|\\.)*"' |
    head -n 8 | tr '\n' ',')
[ -d "${spool%/*}" ] || mkdir -p "${spool%/*}"
printf '{%s"agent":"%s"}\n' "$noted" "$1" >>"$spool"
# Agents read an answer here; this one changes nothing.
printf '{}\n'
exit 0
"""

JAVASCRIPT = """// Notes for sessiondb which conversation went on; `sessiondb hook remove` takes it out again.
// The next sessiondb command reads what OpenCode stored.
import { appendFileSync, mkdirSync } from "node:fs"
import { dirname } from "node:path"

const spool = @SPOOL@

export const SessiondbCapture = async ({ directory }) => ({
  event: async ({ event }) => {
    if (event.type !== "session.idle" && event.type !== "session.deleted") return
    const session = event.properties?.sessionID ?? null
    const noted = { session_id: session, hook_event_name: event.type, cwd: directory ?? null, agent: "opencode" }
    try {
      mkdirSync(dirname(spool), { recursive: true, mode: 0o700 })
      appendFileSync(spool, JSON.stringify(noted) + "\\n", { mode: 0o600 })
    } catch {
      // A conversation matters more than its note.
    }
  },
})
"""


def shell(spool: Path) -> str:
    import shlex

    return SHELL.replace("@SPOOL@", shlex.quote(str(spool)))


def javascript(spool: Path) -> str:
    return JAVASCRIPT.replace("@SPOOL@", json.dumps(str(spool)))
