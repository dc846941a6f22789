"""A model on a port of this machine, in the dialects that the agents speak.

The prompt says what it answers: `[[CALL tool {json}]]` calls that tool of the server `reviewer`,
`[[RUN command]]` the agent's own shell, once for each mark, and then it says what it is set to.
Every request is kept: tests see what an agent sent.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

_CALL = re.compile(r"\[\[CALL (\w+) (\{.*?\})\]\]", re.DOTALL)
_RUN = re.compile(r"\[\[RUN ([^\]]+)\]\]")
_SHELLS = ("Bash", "bash", "run_shell_command", "exec_command", "shell", "shell_command")
_WRITERS = {
    "Write": ("file_path", "content"), "write_file": ("file_path", "content"),
    "write": ("filePath", "content"), "create": ("path", "file_text"),
}  # fmt: skip
_RESULTS = {
    "tool_result", "function_call_output", "custom_tool_call_output", "mcp_tool_call_output",
}  # fmt: skip

MADE_UP = "made-up error"
"""The message of every error."""


class Answer(NamedTuple):
    """A text, or a call of a tool, with a text if it takes no JSON."""

    text: str = ""
    tool: str = ""
    namespace: str = ""
    arguments: dict[str, Any] = {}  # noqa: RUF012


class FakeModel:
    """What the agents sent so far, newest last."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.requests: list[dict[str, Any]] = []
        self.status = 200
        """Another one makes it answer with an error."""
        self.says = "OK"
        """What it says where no tool is to be called."""
        self.runs: list[str] = []
        """What the agent's shell is to run where no prompt may name it."""
        self.writes: list[Path] = []
        """The new files that the agent's own tool is to write where no prompt may name them."""

    def sent(self) -> str:
        """All requests as one text, with the escapes of JSON undone."""
        return "\n".join(text for body in self.requests for text in _texts(body))


@contextmanager
def fake_model() -> Iterator[FakeModel]:
    """A running model."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    model = FakeModel(server.server_address[1])
    server.model = model  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)


def _results(value: Any) -> int:
    """How many results of tools a conversation has."""
    if isinstance(value, list):
        return sum(map(_results, value))
    if not isinstance(value, dict):
        return 0
    own = (
        value.get("type") in _RESULTS or value.get("role") == "tool" or "functionResponse" in value
    )
    return 1 if own else sum(_results(each) for each in value.values())


def _tools(body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The names of the tools that are offered, each with its namespace."""
    # Codex tells some models its tools at the beginning of the conversation.
    opening = (body.get("input") or [{}])[0]
    for tool in body.get("tools") or opening.get("tools") or []:
        if "functionDeclarations" in tool:
            yield from (("", each["name"]) for each in tool["functionDeclarations"])
        elif tool.get("type") == "namespace":
            yield from ((tool["name"], each["name"]) for each in tool.get("tools", []))
        else:
            own = tool if "name" in tool else tool.get("function") or tool.get("custom") or {}
            if "name" in own:
                yield "", own["name"]


def _answer(body: dict[str, Any], model: FakeModel) -> Answer:
    says = model.says
    talk = body.get("messages") or body.get("input") or body.get("contents") or []
    said = "\n".join(_texts(talk))
    calls = list(dict.fromkeys(_CALL.findall(said)))
    done = _results(talk)
    if model.writes:
        return _write(body, model.writes[done]) if done < len(model.writes) else Answer(says)
    if runs := _RUN.findall(said)[: said.count("[[RUN ")] or model.runs:
        return _run(body, runs[done]) if done < len(runs) else Answer(says)
    if done >= len(calls):
        return Answer(says)
    wanted, arguments = calls[done]
    if arguments.startswith('{\\"'):
        arguments = arguments.replace('\\"', '"')  # OpenCode quotes the words of its command line
    for namespace, name in _tools(body):
        if "reviewer" in namespace + name and name.endswith(wanted):
            return Answer(tool=name, namespace=namespace, arguments=json.loads(arguments))
    return Answer(f"There is no tool {wanted}.")


def _run(body: dict[str, Any], line: str) -> Answer:
    """A call of the agent's shell."""
    for namespace, name in _tools(body):
        if name in _SHELLS:
            given = {"cmd" if name == "exec_command" else "command": line, "description": "a call"}
            if name == "exec_command":
                del given["description"]
            return Answer(tool=name, namespace=namespace, arguments=given)
    return Answer("There is no shell.")


def _write(body: dict[str, Any], path: Path) -> Answer:
    """A call of the agent's own tool for a new file."""
    for namespace, name in _tools(body):
        if name in _WRITERS:
            of_path, of_text = _WRITERS[name]
            return Answer(tool=name, arguments={of_path: str(path), of_text: "new\n"})
        patch = f"*** Begin Patch\n*** Add File: {path}\n+new\n*** End Patch\n"
        if name == "exec":  # it runs a script that may call the tools
            return Answer(f"await tools.apply_patch({json.dumps(patch)})", name, namespace)
        if name == "apply_patch":
            if any(tool["type"] == "custom" for tool in body["tools"]):
                return Answer(patch, name)
            return Answer(tool=name, arguments={"patchText": patch})
    return Answer("There is no tool that writes.")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""

    def do_HEAD(self) -> None:
        self._send(b"", "text/plain")

    def do_GET(self) -> None:
        models = [{"id": "fake-1", "object": "model", "type": "model", "display_name": "fake"}]
        self._json({"object": "list", "data": models, "has_more": False})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or b"{}")
        model: FakeModel = self.server.model  # type: ignore[attr-defined]
        model.requests.append(body)
        path = self.path.partition("?")[0]
        if path.endswith(("count_tokens", ":countTokens")):
            self._json({"input_tokens": 100, "totalTokens": 100})
            return
        if model.status != 200:
            self._json(_error(path, model.status), model.status)
            return
        answer = _answer(body, model)
        name = f"n{time.time_ns()}"
        if path.endswith("/messages"):
            self._answered(_anthropic(answer, name), stream=bool(body.get("stream")))
        elif path.endswith("/responses"):
            self._answered(_responses(answer, name), stream=bool(body.get("stream")))
        elif path.endswith("/chat/completions"):
            self._answered(_chat(answer, name), stream=bool(body.get("stream")))
        elif "enerateContent" in path:
            self._answered(_gemini(answer), stream="stream" in path)
        else:
            self.send_error(404)

    def _answered(self, made: tuple[Any, list[Any]], *, stream: bool) -> None:
        whole, events = made
        if not stream:
            self._json(whole)
            return
        lines = []
        for event in events:
            if isinstance(event, dict) and isinstance(event.get("type"), str):
                lines.append(f"event: {event['type']}\n")
            shown = event if isinstance(event, str) else json.dumps(event)
            lines.append(f"data: {shown}\n\n")
        self._send("".join(lines).encode(), "text/event-stream")

    def _json(self, value: Any, status: int = 200) -> None:
        self._send(json.dumps(value).encode(), "application/json", status)

    def _send(self, data: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.send_header("connection", "close")
        if status == 429:
            self.send_header("retry-after", "0")
            self.send_header("retry-after-ms", "10")
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = True


def _error(path: str, status: int) -> dict[str, Any]:
    """An error in the shape of the dialect that was spoken."""
    if "enerateContent" in path:
        names = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED"}
        name = names.get(status, "INTERNAL")
        return {"error": {"code": status, "message": MADE_UP, "status": name}}
    names = {
        400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error",
    }  # fmt: skip
    error = {"type": names.get(status, "api_error"), "message": MADE_UP, "code": status}
    return {"type": "error", "error": error} if path.endswith("/messages") else {"error": error}


def _anthropic(answer: Answer, name: str) -> tuple[Any, list[Any]]:
    if answer.tool:
        block = {"type": "tool_use", "id": name, "name": answer.tool, "input": answer.arguments}
        opening = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(answer.arguments)}
    else:
        block = opening = {"type": "text", "text": answer.text}
        opening = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": answer.text}
    stop = "tool_use" if answer.tool else "end_turn"
    usage = {"input_tokens": 100, "output_tokens": 10}
    message = {
        "id": name, "type": "message", "role": "assistant", "model": "fake", "content": [block],
        "stop_reason": stop, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    return message, [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": opening},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": 10},
        },
        {"type": "message_stop"},
    ]


def _responses(answer: Answer, name: str) -> tuple[Any, list[Any]]:
    item: dict[str, Any]
    if answer.tool and answer.text:
        item = {
            "type": "custom_tool_call", "id": f"fc_{name}", "call_id": name, "name": answer.tool,
            "input": answer.text, "status": "completed",
        }  # fmt: skip
    elif answer.tool:
        item = {
            "type": "function_call", "id": f"fc_{name}", "call_id": name, "name": answer.tool,
            "arguments": json.dumps(answer.arguments), "status": "completed",
        }  # fmt: skip
    else:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        item = {
            "type": "message", "id": name, "role": "assistant", "status": "completed",
            "content": [part],
        }  # fmt: skip
    if answer.namespace:
        item["namespace"] = answer.namespace
    usage = {
        "input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110,
    }  # fmt: skip
    whole = {
        "id": name, "object": "response", "status": "completed", "model": "fake",
        "output": [item], "usage": usage,
    }  # fmt: skip
    return whole, [
        {"type": "response.created", "response": {**whole, "output": [], "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]


def _chat(answer: Answer, name: str) -> tuple[Any, list[Any]]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.tool:
        kind, given = "function", {"arguments": json.dumps(answer.arguments)}
        if answer.text:
            kind, given = "custom", {"input": answer.text}
        call = {"index": 0, "id": name, "type": kind, kind: {"name": answer.tool, **given}}
        message |= {"content": None, "tool_calls": [call]}
    end = "tool_calls" if answer.tool else "stop"
    base = {"id": name, "created": int(time.time()), "model": "fake"}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    whole = {
        **base, "object": "chat.completion", "usage": usage,
        "choices": [{"index": 0, "message": message, "finish_reason": end}],
    }  # fmt: skip
    chunk = {**base, "object": "chat.completion.chunk"}
    return whole, [
        {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {
            **chunk,
            "choices": [{"index": 0, "delta": {}, "finish_reason": end}],
            "usage": usage,
        },
        "[DONE]",
    ]


def _gemini(answer: Answer) -> tuple[Any, list[Any]]:
    part: dict[str, Any] = {"text": answer.text}
    if answer.tool:
        part = {"functionCall": {"name": answer.tool, "args": answer.arguments}}
    whole = {
        "candidates": [
            {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {
            "promptTokenCount": 100,
            "candidatesTokenCount": 10,
            "totalTokenCount": 110,
        },
        "modelVersion": "fake",
    }
    return whole, [whole]
