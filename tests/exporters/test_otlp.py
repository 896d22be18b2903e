"""Traces as OpenTelemetry takes them: checked against its own protocol buffers."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from sessiondb import SessionDB
from sessiondb.exporters import base, otlp
from sessiondb.models import Filter

CALL = [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"cmd": "ls"}'}}]
BEGAN = 1777626000.0


@pytest.fixture
def db() -> SessionDB:
    db = SessionDB("memory://")
    db.create_session("s", "cli", "claude-x", system_prompt="Be kind.", started_at=BEGAN, cwd="/srv", origin="codex")
    db.append_messages(
        "s",
        [
            {"role": "user", "content": "list files", "timestamp": BEGAN + 1},
            {"role": "assistant", "content": "running", "tool_calls": CALL, "reasoning": "think", "model": "claude-x-1",
             "input_tokens": 5, "output_tokens": 2, "timestamp": BEGAN + 3, "finish_reason": "tool_calls"},
            {"role": "tool", "content": "a\nb", "tool_call_id": "c1", "timestamp": BEGAN + 7},
            {"role": "assistant", "content": "two \ud800 files", "timestamp": BEGAN + 8},
        ],
    )  # fmt: skip
    db.update_token_counts("s", 100, 20, estimated_cost_usd=0.25)
    return db


def lines(db: SessionDB) -> list[str]:
    out = io.StringIO()
    base.exporter("otlp").write(base.conversations(db, Filter()), out)
    return out.getvalue().splitlines()


def spans(line: str) -> list[dict[str, Any]]:
    found = json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    return [{**span, "attributes": {each["key"]: each["value"] for each in span["attributes"]}} for span in found]


def parsed(line: str) -> ExportTraceServiceRequest:
    """The request as a collector reads it: ids are in hex here and in base64 in the general form of such JSON."""
    document = json.loads(line)
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for name in ("traceId", "spanId", "parentSpanId"):
                    if name in span:
                        span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    return json_format.ParseDict(document, ExportTraceServiceRequest())


def test_the_protocol_takes_every_line(db: SessionDB) -> None:
    (line,) = lines(db)
    found = parsed(line).resource_spans[0].scope_spans[0].spans
    assert [span.name for span in found] == [
        "invoke_agent codex",
        "chat claude-x-1",
        "execute_tool run",
        "chat claude-x",
    ]
    assert all(len(span.trace_id) == 16 and len(span.span_id) == 8 for span in found)


def test_every_span_names_its_conversation(db: SessionDB) -> None:
    found = spans(lines(db)[0])
    assert {span["attributes"]["gen_ai.conversation.id"]["stringValue"] for span in found} == {"s"}
    assert len({span["traceId"] for span in found}) == 1
    assert {span.get("parentSpanId") for span in found} == {None, found[0]["spanId"]}


def test_answers_tell_model_usage_and_what_was_said(db: SessionDB) -> None:
    chat = spans(lines(db)[0])[1]
    facts = chat["attributes"]
    assert facts["gen_ai.operation.name"] == {"stringValue": "chat"}
    assert facts["gen_ai.provider.name"] == {"stringValue": "anthropic"}
    assert facts["gen_ai.response.model"] == {"stringValue": "claude-x-1"}
    assert facts["gen_ai.usage.input_tokens"] == {"intValue": "5"}
    assert facts["gen_ai.response.finish_reasons"] == {"arrayValue": {"values": [{"stringValue": "tool_calls"}]}}
    (heard,) = json.loads(facts["gen_ai.input.messages"]["stringValue"])
    assert heard == {"role": "user", "parts": [{"type": "text", "content": "list files"}]}
    (said,) = json.loads(facts["gen_ai.output.messages"]["stringValue"])
    assert [part["type"] for part in said["parts"]] == ["reasoning", "text", "tool_call"]


def test_tools_last_from_the_call_to_the_result(db: SessionDB) -> None:
    tool = spans(lines(db)[0])[2]
    assert (tool["startTimeUnixNano"], tool["endTimeUnixNano"]) == ("1777626003000000000", "1777626007000000000")
    assert tool["attributes"]["gen_ai.tool.call.id"] == {"stringValue": "c1"}
    assert tool["attributes"]["gen_ai.tool.call.arguments"] == {"stringValue": '{"cmd": "ls"}'}


def test_the_same_session_has_the_same_ids_again(db: SessionDB) -> None:
    assert lines(db) == lines(db)


def test_a_long_session_takes_several_lines(db: SessionDB) -> None:
    db.append_messages("s", [{"role": "assistant", "content": str(number)} for number in range(otlp.SPANS_PER_LINE)])
    found = [span for line in lines(db) for span in spans(line)]
    assert len(lines(db)) == 2
    assert len({span["spanId"] for span in found}) == len(found) == otlp.SPANS_PER_LINE + 4


def test_the_end_of_a_name_means_it(tmp_path: Path) -> None:
    assert base.for_file(str(tmp_path / "x.otlp.json")) == "otlp"
