"""The settings that make each agent start the MCP server and run the hooks.

None of them grants a permission: approving hooks, trusting folders and allowing tools is left to
the person, as listed in `afterwards`.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct, structs

from reviewer.agents.events import AGENT_TIMEOUTS, EVENTS, agent_timeout
from reviewer.agents.json_text import Addition
from reviewer.recall.event_kinds import GUARD, START
from reviewer.text.for_agents import NOTHING, AgentText

MAX_RULES = 40
"""The most rules per tool for Claude Code; beyond that, the hook runs at its every call."""

SERVER = "reviewer"


class WiringScope(StrEnum):
    """USER: all projects; PROJECT: one project, in files that may be shared; MEMORY: the memory
    folder of an agent for one project.
    """

    USER = "user"
    PROJECT = "project"
    MEMORY = "memory"


class FileKind(StrEnum):
    """How a file is changed."""

    JSON = "json"  # additions to an object
    TOML = "toml"  # a table at its end
    OWN = "own"  # a file of its own
    BLOCK = "block"  # a marked block
    LINE = "line"  # a line at its end


class WiringFile(Struct, frozen=True, kw_only=True):
    path: Path
    kind: FileKind
    additions: tuple[Addition, ...] = ()
    table: tuple[str, ...] = ()
    values: dict[str, str | list[str]] = {}
    text: AgentText = NOTHING


class Wiring(Struct, frozen=True, kw_only=True):
    """The files of an agent. `afterwards`: sentences about the person's next steps;
    `about_server`: those about the MCP server.
    """

    parts: tuple[WiringFile, ...]
    afterwards: tuple[str, ...] = ()
    about_server: tuple[str, ...] = ()


class WiringPlace(Struct, frozen=True, kw_only=True):
    """The target of a connection. `command`: `reviewer` with its global options."""

    scope: WiringScope
    root: Path
    """The project's folder, or the user's home."""
    command: tuple[str, ...]
    """Empty for a memory folder, which starts no process."""
    environment: Mapping[str, str]
    triggers: tuple[str, ...] = ()
    """`guard git push`: the first such call of a session is denied. `command make check`: its
    output is read even if a pipe hides a failure. `edit src/pay/`: an edit brings its memory.
    `tool WebFetch`: its failures are read."""
    server: bool = True
    """Whether the MCP server's package is installed."""

    def named(self, kind: str) -> tuple[str, ...]:
        """What the triggers of a kind (`guard`, `command`, `edit`, `tool`) name."""
        pairs = (each.partition(" ") for each in self.triggers)
        return tuple(what for of, _, what in pairs if of == kind)

    def failing(self, shell: str) -> str:
        """A pattern of the tools whose failures are read: the shell, and those of memories."""
        tools = self.named("tool")
        return f"^({'|'.join((shell, *tools))})$" if tools else shell

    def folder(self, variable: str, default: Path) -> Path:
        """An agent's folder, unless a variable moves it."""
        moved = self.environment.get(variable)
        return Path(moved).expanduser() if moved else default

    def mcp(self, agent: str) -> list[str]:
        return [*self.command, "mcp", "--agent", agent]

    def hook(self, agent: str, event: str) -> str:
        """The command of a hook, for a shell."""
        return shlex.join([*self.command, "hook", agent, event])


class AgentKind(Struct, frozen=True):
    """A supported agent. `block`: its instruction file in a project."""

    title: str
    programs: tuple[str, ...]
    wire: Callable[[WiringPlace], Wiring]
    block: str
    never_run: bool = False
    """Whether its settings follow its documentation only, never tried with the program."""


def without_server(wiring: Wiring) -> Wiring:
    """The same without the MCP server."""
    parts = [
        structs.replace(part, additions=tuple(e for e in part.additions if e.name != SERVER))
        for part in wiring.parts
        if part.kind is not FileKind.TOML
    ]
    kept = tuple(part for part in parts if part.additions or part.kind is not FileKind.JSON)
    return Wiring(parts=kept, afterwards=wiring.afterwards)


def _claude(place: WiringPlace) -> Wiring:
    moved = place.environment.get("CLAUDE_CONFIG_DIR")
    folder = place.folder("CLAUDE_CONFIG_DIR", place.root / ".claude")
    if place.scope is WiringScope.PROJECT:
        servers, settings = place.root / ".mcp.json", place.root / ".claude" / "settings.json"
    else:
        servers = (folder if moved else place.root) / ".claude.json"
        settings = folder / "settings.json"
    agent = "claude-code"
    command, *arguments = place.mcp(agent)
    entry = {"type": "stdio", "command": command, "args": arguments, "env": {}}
    guards = place.named("guard")
    files = [each for each in guards if "/" in each or " " not in each]  # also `guard README.md`
    hooks = (
        _hook(place, agent, "SessionStart", "startup|resume|clear|compact"),
        _hook(place, agent, "PreCompact"),
        _hook(place, agent, "SessionEnd"),
        _hook(place, agent, "UserPromptSubmit"),
        _hook(place, agent, "PostToolUseFailure", place.failing("Bash")),
        *_claude_rules(place, "PreToolUse", [each for each in guards if "/" not in each], files),
        *_claude_rules(place, "PostToolUse", place.named("command"), place.named("edit")),
    )
    return Wiring(
        parts=(
            _json(servers, Addition(("mcpServers",), entry, SERVER)),
            _json(settings, *hooks),
        ),
        about_server=(
            "Claude Code asks you before it hands in a proposal. If you do not want to be asked, "
            "open /permissions in it and allow mcp__reviewer__propose.",
        ),
    )


def _claude_rules(
    place: WiringPlace, event: str, commands: Sequence[str], files: Sequence[str]
) -> Iterator[Addition]:
    """Hooks with a rule for each command or path, so that other calls start no process."""
    # Stars allow `sudo` before it and options within it; the hook decides, also on flags.
    shell = [f"*{'*'.join(call.partition(' -')[0].split())}*" for call in commands]
    # In any folder: a relative rule counts from the one in which the agent was started.
    edited = [f"//**/{file}{'**' if file.endswith('/') else ''}" for file in files]
    edited = [file.replace("[", "?").replace("]", "?") for file in edited]
    hook = _command_hook(place, "claude-code", event)
    for tool, patterns in (
        ("Bash", shell),
        *((editor, edited) for editor in ("Edit", "Write", "NotebookEdit")),
    ):
        ruled = [{**hook, "if": f"{tool}({pattern})"} for pattern in patterns]
        if ruled:
            hooks = ruled if len(ruled) <= MAX_RULES else [hook]
            yield Addition(("hooks", event), {"matcher": tool, "hooks": hooks})


def _codex(place: WiringPlace) -> Wiring:
    folder = place.folder("CODEX_HOME", place.root / ".codex")
    if place.scope is WiringScope.PROJECT:
        folder = place.root / ".codex"
    command, *arguments = place.mcp("codex")
    afterwards = [
        "Codex skips new hooks until you approve them, including that of your first guard or edit: "
        "start codex and open /hooks.",
    ]
    about_server = (
        "In codex exec only the reading tools run; proposals need an approval, so they come from "
        "interactive sessions. It may begin before the server has started: required = true under "
        "[mcp_servers.reviewer] makes it wait.",
    )
    if place.scope is WiringScope.PROJECT:
        afterwards.append("Codex reads .codex of a project only once you trust the folder.")
    return Wiring(
        parts=(
            WiringFile(
                path=folder / "config.toml",
                kind=FileKind.TOML,
                table=("mcp_servers", SERVER),
                values={"command": command, "args": arguments},
            ),
            _json(
                folder / "hooks.json",
                *_hooks(
                    place, "codex", {"PostToolUse": "^Bash$", "PreToolUse": "^(Bash|apply_patch)$"}
                ),
                *_edit_hooks(place, "codex", "PostToolUse", "^apply_patch$"),
            ),
        ),
        afterwards=tuple(afterwards),
        about_server=about_server,
    )


def _gemini(place: WiringPlace) -> Wiring:
    base = place.root
    if place.scope is WiringScope.USER:
        base = place.folder("GEMINI_CLI_HOME", base)
    command, *arguments = place.mcp("gemini")
    matchers = {
        "AfterTool": place.failing("run_shell_command"),
        "BeforeTool": "run_shell_command|write_file|replace",
    }
    return Wiring(
        parts=(
            _json(
                base / ".gemini" / "settings.json",
                Addition(("mcpServers",), {"command": command, "args": arguments}, SERVER),
                *_hooks(place, "gemini", matchers),
                *_edit_hooks(place, "gemini", "AfterTool", "write_file|replace"),
            ),
        ),
        about_server=(
            "Gemini CLI uses MCP servers only in folders that you trust, and with gemini -p only "
            'those with "trust": true, which is yours to set.',
        ),
    )


def _opencode(place: WiringPlace) -> Wiring:
    if place.scope is WiringScope.PROJECT:
        folder, plugins = place.root, place.root / ".opencode" / "plugin"
    else:
        folder = place.folder("XDG_CONFIG_HOME", place.root / ".config") / "opencode"
        plugins = folder / "plugin"
    settings = folder / "opencode.json"
    if not settings.exists() and (folder / "opencode.jsonc").exists():
        settings = folder / "opencode.jsonc"
    entry = {"type": "local", "command": place.mcp("opencode"), "enabled": True}
    return Wiring(
        parts=(
            _json(settings, Addition(("mcp",), entry, SERVER)),
            WiringFile(
                path=plugins / "reviewer.js",
                kind=FileKind.OWN,
                text=AgentText(plugin(place.command, place.named("guard"), place.named("edit"))),
            ),
        )
    )


def _copilot(place: WiringPlace) -> Wiring:
    if place.scope is WiringScope.PROJECT:
        folder = place.root / ".github"
        servers = folder / "mcp.json"
    else:
        folder = place.folder("COPILOT_HOME", place.root / ".copilot")
        servers = folder / "mcp-config.json"
    command, *arguments = place.mcp("copilot")
    entry = {"type": "local", "command": command, "args": arguments, "env": {}, "tools": ["*"]}
    edits = "edit|create|apply_patch"  # the last one for models of OpenAI
    matchers = {
        "postToolUse": f"bash|{edits}" if place.named("edit") else "bash",
        "postToolUseFailure": "|".join(place.named("tool")),
        "preToolUse": f"bash|{edits}",
    }
    hooks = {
        event: [
            {
                "type": "command",
                **({"matcher": matchers[event]} if event in matchers else {}),
                # Copilot denies a call whose hook is missing or fails.
                "bash": f"{place.hook('copilot', event)} || true",
                "timeoutSec": agent_timeout("copilot", event),
            }
        ]
        for event in _events(place, "copilot")
        if event != "postToolUseFailure" or place.named("tool")
    }
    text = AgentText(json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n")
    return Wiring(
        parts=(
            _json(servers, Addition(("mcpServers",), entry, SERVER)),
            WiringFile(path=folder / "hooks" / "reviewer.json", kind=FileKind.OWN, text=text),
        ),
        about_server=("Copilot asks before it uses the tools; --allow-tool=reviewer allows them.",),
    )


def _cursor(place: WiringPlace) -> Wiring:
    folder = place.root / ".cursor"
    command, *arguments = place.mcp("cursor")
    hooks = tuple(
        Addition(
            ("hooks", event),
            {"command": place.hook("cursor", event), "timeout": agent_timeout("cursor", event)},
        )
        for event in _events(place, "cursor")
    )
    entry = {"command": command, "args": arguments}
    return Wiring(
        parts=(
            _json(folder / "mcp.json", Addition(("mcpServers",), entry, SERVER)),
            _json(folder / "hooks.json", Addition((), 1, "version"), *hooks),
        ),
        afterwards=(NEVER_RUN.format(title="Cursor"),),
        about_server=("Cursor asks for an approval of the MCP server in its settings.",),
    )


NEVER_RUN = (
    "The settings for {title} follow its documentation and were never tried with the program: "
    "check that its next session starts with the packet."
)

CONNECTABLE: dict[str, AgentKind] = {
    "claude-code": AgentKind("Claude Code", ("claude",), _claude, "CLAUDE.md"),
    "codex": AgentKind("Codex", ("codex",), _codex, "AGENTS.md"),
    "gemini": AgentKind("Gemini CLI", ("gemini",), _gemini, "GEMINI.md"),
    "opencode": AgentKind("OpenCode", ("opencode",), _opencode, "AGENTS.md"),
    "copilot": AgentKind("Copilot CLI", ("copilot",), _copilot, "AGENTS.md"),
    "cursor": AgentKind("Cursor", ("cursor-agent", "cursor"), _cursor, "AGENTS.md", never_run=True),
}


def _json(path: Path, *additions: Addition) -> WiringFile:
    return WiringFile(path=path, kind=FileKind.JSON, additions=additions)


def _events(place: WiringPlace, agent: str) -> Iterator[str]:
    """The events of an agent that have hooks: those of guarded calls only if there is a guard."""
    guarded = place.named("guard")
    return (event for event, moment in EVENTS[agent].items() if moment != GUARD or guarded)


def _hooks(place: WiringPlace, agent: str, matchers: Mapping[str, str]) -> Iterator[Addition]:
    """The hooks of Codex or Gemini CLI."""
    for event in _events(place, agent):
        yield _hook(place, agent, event, matchers.get(event, ""))


def _edit_hooks(place: WiringPlace, agent: str, event: str, matcher: str) -> Iterator[Addition]:
    """A hook of its own: Codex asks for another approval of one that is changed."""
    if place.named("edit"):
        yield _hook(place, agent, event, matcher)


def _hook(place: WiringPlace, agent: str, event: str, matcher: str = "") -> Addition:
    """A hook of Claude Code, Codex or Gemini CLI."""
    group: dict[str, object] = {"matcher": matcher} if matcher else {}
    return Addition(("hooks", event), {**group, "hooks": [_command_hook(place, agent, event)]})


def _command_hook(place: WiringPlace, agent: str, event: str) -> dict[str, object]:
    command, timeout = place.hook(agent, event), agent_timeout(agent, event)
    if agent == "gemini":
        timeout *= 1000
        return {"name": SERVER, "type": "command", "command": command, "timeout": timeout}
    return {"type": "command", "command": command, "timeout": timeout}


_PLUGIN = """\
// `reviewer connect opencode` wrote this file; `reviewer disconnect opencode` takes it away.
import { spawn } from "node:child_process"

const COMMAND = %(command)s
// The words of each guarded call: its first time in a session is denied.
const GUARDS = %(guards)s
// The files and folders whose edit brings a memory.
const EDITS = %(edits)s
const MAX_MILLISECONDS = %(milliseconds)d

// The answer of `reviewer hook`; empty on failure, so that it never blocks.
function ask(event, payload) {
  return new Promise((resolve) => {
    let out = ""
    const child = spawn(COMMAND[0], [...COMMAND.slice(1), "hook", "opencode", event], {
      stdio: ["pipe", "pipe", "ignore"],
      timeout: MAX_MILLISECONDS,
    })
    child.on("error", () => resolve(""))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => { out += data })
    child.on("close", () => {
      try { const said = JSON.parse(out); resolve(said.additionalContext ?? said.deny ?? "") }
      catch { resolve("") }
    })
    child.stdin.end(JSON.stringify(payload))
  })
}

export const Reviewer = async ({ directory, worktree }) => {
  if (process.env.REVIEWER_CHILD) return {}
  const cwd = worktree && worktree !== "/" ? worktree : directory
  const callOf = ({ tool, sessionID }, args) => {
    const { command = "", patchText = "", filePath = "" } = args ?? {}
    return { sessionID, cwd, tool_name: tool, command: command || patchText, path: filePath }
  }
  const given = new Map()
  const named = new Map()
  let latest
  return {
    "chat.message": async (input, output) => {
      latest = input.sessionID
      const prompt = (output.parts ?? []).map((part) => part.text ?? "").join("\\n")
      named.set(latest, ask("prompt", { sessionID: latest, cwd, prompt }))
      if (given.has(latest)) return
      given.set(latest, ask("start", { sessionID: latest, cwd, prompt }))
    },
    "experimental.chat.system.transform": async (input, output) => {
      const session = input?.sessionID ?? latest
      for (const text of [await given.get(session), await named.get(session)]) {
        if (text) output.system.push(text)
      }
    },
    "tool.execute.before": async (input, output) => {
      const call = callOf(input, output.args)
      const said = call.command + "\\n" + call.path
      if (!GUARDS.some((words) => words.every((word) => said.includes(word)))) return
      const reason = await ask("guard", call)
      if (reason) throw new Error(reason)
    },
    "tool.execute.after": async (input, output) => {
      try {
        const call = callOf(input, input.args)
        const edited = { edit: call.path, write: call.path, apply_patch: call.command }[input.tool]
        const failed = input.tool === "bash" && output.metadata?.exit
        if (!failed && !EDITS.some((file) => edited?.includes(file))) return
        const text = await ask("failure", { ...call, output: failed ? output.output : "" })
        if (text) output.output += "\\n" + text
      } catch {}
    },
    "experimental.session.compacting": async (input, output) => {
      const text = await ask("compact", { sessionID: input.sessionID, cwd })
      if (text) output.context.push(text)
    },
    event: async ({ event }) => {
      if (event.type !== "session.idle") return
      await ask("end", { sessionID: event.properties?.sessionID ?? latest, cwd })
    },
  }
}
"""


def plugin(command: Sequence[str], guards: Sequence[str], edits: Sequence[str]) -> str:
    """The plugin of OpenCode, which cannot run a command as a hook."""
    return _PLUGIN % {
        "command": json.dumps(list(command)),
        "guards": json.dumps([guard.split() for guard in guards]),
        "edits": json.dumps(edits),
        "milliseconds": AGENT_TIMEOUTS[START] * 1000,
    }


def home() -> Path:
    return Path(os.path.expanduser("~"))
