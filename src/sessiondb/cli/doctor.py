"""`sessiondb doctor`"""

from __future__ import annotations

from dataclasses import asdict

from ..errors import Corrupt
from ..upkeep import Diagnosis
from . import answers, ink, options, output
from .progress import Progress
from .text import line
from .upkeep import has_files, messages_in, place

_PAINT = {"damage": ink.red, "warning": ink.gold}


@options.command("doctor")
@options.answers
@options.common
def command(form: answers.Form) -> None:
    """Examine the store, and say what to do.

    Structure, ledgers, sidecars and settings are checked; nothing is changed, whatever state the files are in. On a
    server: version, rights, extension, indexes, settings, a search and the ledgers. Exit code 6 tells that data is
    damaged.

    \b
    Example:
        sessiondb doctor
    """
    store = options.state().place
    diagnosis = _of_files(store) if has_files(store) else _of_server(store)
    if form:
        answers.give(form, "doctor", {"damaged": diagnosis.damaged, **asdict(diagnosis)})
    else:
        print_diagnosis(diagnosis)
    if diagnosis.damaged:
        raise Corrupt(f"{diagnosis.path} is damaged; the first step named above comes next")


def _of_files(store: str | None) -> Diagnosis:
    keeper, path = place(store)
    with Progress(messages_in(path)) as progress:
        return keeper.doctor(path, progress)


def _of_server(store: str | None) -> Diagnosis:
    from .. import places
    from ..examine import examine

    provider = places.source(store)
    try:
        with Progress(provider.count_messages()) as progress:
            return examine(provider, places.name(store), progress)
    finally:
        provider.shutdown()


def print_diagnosis(diagnosis: Diagnosis) -> None:
    output.say(summary(diagnosis))
    for finding in diagnosis.findings:
        paint = _PAINT.get(finding.severity, ink.dim)
        output.say(paint(f"{finding.severity} ({finding.area}):"), f" {line(finding.message)}")
        if finding.next_step:
            output.say(ink.dim("    next: "), line(finding.next_step))
    if not any(finding.severity != "note" for finding in diagnosis.findings):
        output.say(ink.green("Nothing is wrong."))


def summary(diagnosis: Diagnosis) -> str:
    facts = diagnosis.facts
    parts = [
        output.count(facts["sessions"], "session") if "sessions" in facts else None,
        output.count(facts["messages"], "message") if "messages" in facts else None,
        output.size(facts["size_bytes"]) if "size_bytes" in facts else None,
        f"schema {facts['schema_version']}" if facts.get("schema_version") else None,
        f"journal {facts['journal_mode']}" if "journal_mode" in facts else None,
        f"SQLite {facts['sqlite_version']}" if "sqlite_version" in facts else None,
        f"server {facts['server_version']}" if facts.get("server_version") else None,
        "page checksums" if facts.get("checksums") else None,
        str(facts.get("filesystem") or "") or None,
        "in use" if facts.get("in_use") else None,
    ]
    return f"{line(diagnosis.path)}: {', '.join(part for part in parts if part)}"
