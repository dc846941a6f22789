"""A secret in every input of the program never leaves it: not in output, files or requests to a
model."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Reviewer
from tests.cli.test_compress import model_at
from tests.stored import everything_in
from tests.unit.llm.faults import Call, endpoint
from tests.unit.sources.builders import Session

# Made up, and joined here so that no scanner stumbles.
TOKEN = "gh" + "p_" + "w7Kq2Zn9Tb4Xv5Rm8Lc3Pd6Hs1Jf0GyAaBb"
TOKEN_BODY = TOKEN[4:]
PASSWORD = "Quarry71!vz"
KEY = "q3Vn8Tb1Xw6Rm9Lc2Pd7Hs4Jf0GyZk5Aa1Bb2Cc"
VALUES = (TOKEN_BODY, PASSWORD, KEY)
TOLD = (
    f"We decided to deploy the kiosk with the token {TOKEN} because the old one expires. "
    f"The database password is {PASSWORD} and KIOSK_API_KEY={KEY} has to be set."
)


def files(folder: Path) -> None:
    """Everything that can be read, with the secrets in it."""
    (folder / "in").mkdir()
    (folder / "in" / "note.md").write_text(
        f"# Kiosk {TOKEN}\n\n- [Decision] {TOLD}\n\n## Learnings\n\n{TOLD}\n"
    )
    told = Session()
    told.cwd = f"/work/{TOKEN}"
    told.user(TOLD, gitBranch=f"fix/{TOKEN}")
    told.reply(f"I set it. {TOLD}")
    curl = {"command": f"curl -u ann:{PASSWORD} https://x"}
    told.block({"type": "tool_use", "id": "t1", "name": "Bash", "input": curl})
    told.result(TOLD)
    told.reply("The kiosk is deployed.")
    (folder / "in" / "session.jsonl").write_bytes(told.bytes())
    odd = {
        "type": "user",
        "uuid": f"{TOKEN}1",
        "parentUuid": TOKEN,
        "sessionId": TOKEN,
        "timestamp": TOKEN,
        "version": TOKEN,
        "message": {"role": "user", "content": "Hello."},
    }
    (folder / "in" / "odd.jsonl").write_text(json.dumps(odd) + "\n")
    talk = [{"role": "user" if n % 2 else "assistant", "content": f"{n}. {TOLD}"} for n in range(8)]
    talk += [{"role": "user", "content": f"Kiosk {n} printed {n * 3} receipts."} for n in range(20)]
    (folder / "talk.json").write_text(json.dumps(talk))
    (folder / ".context").mkdir()
    (folder / ".context" / "CONSTITUTION.md").write_text(f"# Rules\n\n- [ ] {TOLD}\n")
    (folder / ".context" / "TASKS.md").write_text(f"# Tasks\n\n- [ ] {TOLD} #added:2026-01-02\n")
    (folder / ".context" / "DECISIONS.md").write_text(
        f"# Decisions\n\n## [2026-02-03] {TOKEN}\n\n**Decision**: {TOLD}\n"
    )
    (folder / "words.txt").write_text(f"Changed by hand. {TOLD}")
    said = TOLD.replace('"', "'")
    (folder / "desk.dot").write_text(
        f'digraph desk {{ goal="{said}"\n start [shape=Mdiamond]; done [shape=Msquare]\n'
        f' count [label="{TOKEN}", prompt="{said}"]\n'
        f' tell [prompt="Say what count said. {said}", fidelity=full]\n'
        f" start -> count -> tell -> done }}"
    )
    (folder / "RUN.json").write_text(
        json.dumps({"run_id": "r1", "goal": TOLD, "completed": [
            {"node": "count", "outcome": "success", "notes": TOLD,
             "context_updates": {"key": KEY, "said": TOLD}}],
            "context": {"password": PASSWORD, "said": TOLD}})
    )  # fmt: skip


COMMANDS: list[list[str]] = [
    ["extract", "in/note.md", "--json"],
    ["summarize", "in/session.jsonl", "--level", "all", "--json"],
    ["view", "in/session.jsonl", "--json"],
    ["ingest", "in", "--json"],
    ["queue", "list", "--status", "all", "--json"],
    ["queue", "show", "1", "--json"],
    ["edit", "1", "--content-file", "words.txt", "--promote"],
    ["remember", TOLD, "--type", "decision"],
    ["state", "set", "kiosk", TOLD],
    ["state", "set", TOKEN, "held"],
    ["state", "list", "--json"],
    ["promote", "2"],
    ["graduate", "2", "--as", "decision", "--name", TOKEN],
    ["remember", "The kiosk is rebuilt in May.", "--type", "decision", "--name", TOKEN],
    ["export"],
    ["export", "--into", "AGENTS.md", "--write"],
    ["context", "create", TOKEN],
    ["context", "import", "talk.json", "--json"],
    ["commit", "list", "talk", "--json"],
    ["commit", "add", "talk", "--text", TOLD, "--json"],
    ["commit", "show", "1", "--json"],
    ["annotate", "2", "--priority", "important", "--retain", TOLD],
    ["annotate", "3", "--retain-match", TOKEN],
    ["compile", "talk", "--format", "json"],
    ["context", "export", "talk"],
    ["compress", "talk", "--level", "all", "--json"],
    ["compress", "talk", "--level", "brief", "--engine", "model", "--json"],
    ["compress", "talk", "--level", "brief", "--apply"],
    ["packet", "--format", "json", "--task", TOLD],
    ["packet", "--context-dir", ".context", "--explain"],
    ["packet", "--context-dir", ".context"],
    ["pipeline", "check", "desk.dot", "--json"],
    ["pipeline", "preamble", "desk.dot", "--node", "tell", "--history", "RUN.json", "--json"],
    ["pipeline", "run", "desk.dot", "--json", "--set", f"said={TOLD}"],
    ["pipeline", "run", "desk.dot", "--engine", "model"],
    ["pipeline", "runs", "--json"],
    ["history", "--json"],
    ["stats", "--json"],
    ["--actor", TOKEN, "remember", "The drawer is oiled in May.", "--type", "knowledge"],
    ["remember", f"The old token {TOKEN} expires soon.", "--at", "in/note.md:3"],
    ["propose", "in/session.jsonl", "--yes"],
    ["brief", "in/session.jsonl"],
    ["keep", "in/session.jsonl"],
    ["connect", "--json"],
    ["sources", "--json"],
    ["undo"],
    ["verify"],
]
MAY_REFUSE = {"annotate", "graduate", "compress", "remember", "propose"}
"""A retention pattern that is a secret is refused, and so on; a refusal must not tell it either."""


def leaks(text: bytes) -> list[str]:
    return [value for value in VALUES if value.encode() in text]


def test_a_planted_secret_comes_out_nowhere(reviewer: Reviewer) -> None:
    files(reviewer.folder)
    given = {path for path in reviewer.folder.rglob("*") if path.is_file()}

    def answer(call: Call) -> None:
        call.streams(f"The model repeats what it was never told: {TOLD}")

    with endpoint(answer) as server:
        environment = model_at(server, reviewer)
        for arguments in COMMANDS:
            done = reviewer("--project", "kiosk", *arguments, env=environment)
            assert done.returncode == 0 or arguments[0] in MAY_REFUSE, (arguments, done.stderr)
            said = (done.stdout + done.stderr).encode("utf-8", "surrogateescape")
            assert leaks(said) == [], (arguments, said)
        assert len(server.calls) >= 2
        for call in server.calls:
            assert leaks(json.dumps(call.body).encode()) == []
    written = [path for path in reviewer.folder.rglob("*") if path.is_file() and path not in given]
    assert {"store.db", "AGENTS.md"} <= {path.name for path in written}
    told = {str(path): leaks(path.read_bytes()) for path in written}
    told["unpacked"] = leaks(everything_in(reviewer.db))
    assert {path: found for path, found in told.items() if found} == {}
    assert not [path for path in reviewer.folder.rglob("*") if leaks(path.name.encode())]
    found = reviewer("queue", "list", "--status", "all", "--filter", "masked", "--json").stdout
    assert "[masked " in found


def test_names_with_a_secret_are_refused_without_telling_it(reviewer: Reviewer) -> None:
    def dot(name: str, node: str) -> Path:
        path = reviewer.folder / f"{len(list(reviewer.folder.iterdir()))}.dot"
        path.write_text(
            f"digraph {name} {{ start [shape=Mdiamond]; done [shape=Msquare];"
            f' {node} [prompt="count"]; start -> {node} -> done }}'
        )
        return path

    for arguments in (
        ["--project", TOKEN, "remember", "Tabs are used in all files", "--type", "preference"],
        ["pipeline", "run", dot(TOKEN, "count")],
        ["pipeline", "run", dot("desk", TOKEN)],
        ["pipeline", "run", dot("desk", "count"), "--set", f"{TOKEN}=1"],
    ):
        line = reviewer.fails(*arguments)
        assert "has a secret in it" in line
        assert leaks(line.encode()) == []
    written = [path for path in reviewer.folder.rglob("*") if path.suffix != ".dot"]
    written = [path for path in written if path.is_file()]
    assert [path.name for path in written if leaks(path.read_bytes())] == []


def test_a_context_from_a_file_with_a_secret_in_its_name_is_named_without_it(
    reviewer: Reviewer,
) -> None:
    talk = reviewer.folder / f"{TOKEN}.json"
    talk.write_text('[{"role": "user", "content": "Count the trays."}]')
    (row,) = reviewer.rows("--project", "p", "context", "import", talk)
    assert leaks(row["context"]["name"].encode()) == []
    assert leaks(reviewer("--project", "p", "history").stdout.encode()) == []
