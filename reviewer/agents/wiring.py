"""What is written into each agent's settings so that it starts the MCP server and runs the hooks.

Nothing here grants a permission: approvals of hooks, trust in folders and allowed tools are the
person's, and `afterwards` says which are needed.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from reviewer.agents.json_text import Addition
from reviewer.text.for_agents import NOTHING, AgentText

HOOK_SECONDS = 10
COMPACTION_SECONDS = 20
CALL_SECONDS = 5
"""At a prompt or a call, which a hook is done with long before."""
MAX_RULES = 40
"""Rules of an event that are written for Claude Code; of more, every call is looked at."""

SERVER = "reviewer"


class WiringScope(StrEnum):
    """For all projects of this user; for one project, whose files others may share; or the memory
    folder that an agent of this user keeps for a project.
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
    """One file, and what goes into it, by its kind."""

    path: Path
    kind: FileKind
    additions: tuple[Addition, ...] = ()
    table: tuple[str, ...] = ()
    values: dict[str, str | list[str]] = {}
    text: AgentText = NOTHING


class Wiring(Struct, frozen=True, kw_only=True):
    """The files of an agent. `afterwards`: sentences about what the person still has to do."""

    parts: tuple[WiringFile, ...]
    afterwards: tuple[str, ...] = ()


class WiringPlace(Struct, frozen=True, kw_only=True):
    """Where an agent is connected. `command`: `reviewer` with its global options."""

    scope: WiringScope
    root: Path
    """The project's folder, or the user's home."""
    command: tuple[str, ...]
    """Empty where nothing is started: for a memory folder."""
    environment: Mapping[str, str]
    ties: tuple[str, ...] = ()
    """`guard git push`: the first such call of a session is denied once. `command make check`: its
    output is read, also where a pipe hides that it failed. `tool WebFetch`: so are its failures."""

    @property
    def guards(self) -> tuple[str, ...]:
        return self._tied("guard ")

    @property
    def commands(self) -> tuple[str, ...]:
        return self._tied("command ")

    @property
    def tools(self) -> tuple[str, ...]:
        return self._tied("tool ")

    def failing(self, shell: str) -> str:
        """A pattern of the tools whose failures are read: the shell, and those of memories."""
        return f"^({'|'.join((shell, *self.tools))})$" if self.tools else shell

    def _tied(self, kind: str) -> tuple[str, ...]:
        return tuple(each.removeprefix(kind) for each in self.ties if each.startswith(kind))

    def folder(self, variable: str, default: str) -> Path:
        """A folder of an agent in the home, which a variable can move."""
        named = self.environment.get(variable)
        return Path(named).expanduser() if named else self.root / default

    def mcp(self, agent: str) -> list[str]:
        """The command that starts the server."""
        return [*self.command, "mcp", "--agent", agent]

    def hook(self, agent: str, event: str) -> str:
        """The command of a hook, for a shell."""
        return shlex.join([*self.command, "hook", agent, event])


class AgentKind(Struct, frozen=True):
    """An agent that can be connected. `block`: its instruction file in a project."""

    title: str
    programs: tuple[str, ...]
    wire: Callable[[WiringPlace], Wiring]
    block: str
    never_run: bool = False
    """Whether its settings were written from documentation, without its program ever being run."""


def _claude(place: WiringPlace) -> Wiring:
    moved = place.environment.get("CLAUDE_CONFIG_DIR")
    folder = place.folder("CLAUDE_CONFIG_DIR", ".claude")
    if place.scope is WiringScope.PROJECT:
        servers, settings = place.root / ".mcp.json", place.root / ".claude" / "settings.json"
    else:
        servers = (folder if moved else place.root) / ".claude.json"
        settings = folder / "settings.json"
    command, *arguments = place.mcp("claude-code")
    entry = {"type": "stdio", "command": command, "args": arguments, "env": {}}
    agent = "claude-code"
    hooks = (
        _matched(place.hook(agent, "SessionStart"), "SessionStart", "startup|resume|clear|compact"),
        _matched(place.hook(agent, "PreCompact"), "PreCompact", "", COMPACTION_SECONDS),
        _matched(place.hook(agent, "SessionEnd"), "SessionEnd", ""),
        _matched(place.hook(agent, "UserPromptSubmit"), "UserPromptSubmit", "", CALL_SECONDS),
        _matched(
            place.hook(agent, "PostToolUseFailure"),
            "PostToolUseFailure",
            place.failing("Bash"),
            CALL_SECONDS,
        ),
        *_claude_ruled(place.hook(agent, "PreToolUse"), "PreToolUse", place.guards),
        *_claude_ruled(place.hook(agent, "PostToolUse"), "PostToolUse", place.commands),
    )
    return Wiring(
        parts=(
            _json(servers, Addition(("mcpServers",), entry, SERVER)),
            _json(settings, *hooks),
        ),
        afterwards=(
            "Claude Code asks you before it hands in a proposal. If you do not want to be asked, "
            "open /permissions in it and allow mcp__reviewer__propose.",
        ),
    )


def _claude_ruled(command: str, event: str, calls: Sequence[str]) -> Iterator[Addition]:
    """Hooks with a rule for each command or path, so that no other call starts a process."""
    rules: dict[str, list[str]] = {}
    for call in calls:
        if "/" not in call:
            rules.setdefault("Bash", []).append(f"{call}*")
            continue
        for tool in ("Edit", "Write"):
            rules.setdefault(tool, []).append(f"{call}**" if call.endswith("/") else call)
    hook = {"type": "command", "command": command, "timeout": CALL_SECONDS}
    for tool, patterns in rules.items():
        ruled = [{**hook, "if": f"{tool}({pattern})"} for pattern in patterns]
        hooks = ruled if len(calls) <= MAX_RULES else [hook]
        yield Addition(("hooks", event), {"matcher": tool, "hooks": hooks})


def _codex(place: WiringPlace) -> Wiring:
    folder = place.folder("CODEX_HOME", ".codex")
    if place.scope is WiringScope.PROJECT:
        folder = place.root / ".codex"
    command, *arguments = place.mcp("codex")
    hooks = folder / "hooks.json"
    afterwards = [
        "Codex skips new hooks until you approve them, including the one for your first guard: "
        "start codex and open /hooks.",
        "In codex exec only the reading tools run; proposals need an approval, so they come from "
        "interactive sessions. It may begin before the server has started: required = true under "
        "[mcp_servers.reviewer] makes it wait.",
    ]
    guarding = _matched(
        place.hook("codex", "PreToolUse"), "PreToolUse", "^(Bash|apply_patch)$", CALL_SECONDS
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
                hooks,
                _matched(place.hook("codex", "SessionStart"), "SessionStart", ""),
                _matched(place.hook("codex", "SessionEnd"), "SessionEnd", ""),
                _matched(
                    place.hook("codex", "UserPromptSubmit"), "UserPromptSubmit", "", CALL_SECONDS
                ),
                _matched(place.hook("codex", "PostToolUse"), "PostToolUse", "^Bash$", CALL_SECONDS),
                *([guarding] if place.guards else []),
            ),
        ),
        afterwards=tuple(afterwards),
    )


def _gemini(place: WiringPlace) -> Wiring:
    base = place.root
    if place.scope is WiringScope.USER and place.environment.get("GEMINI_CLI_HOME"):
        base = Path(place.environment["GEMINI_CLI_HOME"]).expanduser()
    command, *arguments = place.mcp("gemini")
    events = [
        ("SessionStart", "", HOOK_SECONDS),
        ("SessionEnd", "", HOOK_SECONDS),
        ("BeforeAgent", "", CALL_SECONDS),
        ("AfterTool", place.failing("run_shell_command"), CALL_SECONDS),
    ]
    if place.guards:
        events.append(("BeforeTool", "run_shell_command|write_file|replace", CALL_SECONDS))
    hooks = tuple(
        Addition(
            ("hooks", event),
            {
                **({"matcher": matcher} if matcher else {}),
                "hooks": [
                    {
                        "name": "reviewer",
                        "type": "command",
                        "command": place.hook("gemini", event),
                        "timeout": seconds * 1000,
                    }
                ],
            },
        )
        for event, matcher, seconds in events
    )
    return Wiring(
        parts=(
            _json(
                base / ".gemini" / "settings.json",
                Addition(("mcpServers",), {"command": command, "args": arguments}, SERVER),
                *hooks,
            ),
        ),
        afterwards=(
            "Gemini CLI uses MCP servers only in folders that you trust, and with gemini -p only "
            'those with "trust": true, which is yours to set.',
        ),
    )


def _opencode(place: WiringPlace) -> Wiring:
    if place.scope is WiringScope.PROJECT:
        folder, plugins = place.root, place.root / ".opencode" / "plugin"
    else:
        base = place.environment.get("XDG_CONFIG_HOME")
        folder = (Path(base).expanduser() if base else place.root / ".config") / "opencode"
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
                text=AgentText(plugin(place.command, place.guards)),
            ),
        )
    )


def _copilot(place: WiringPlace) -> Wiring:
    if place.scope is WiringScope.PROJECT:
        folder = place.root / ".github"
        servers = folder / "mcp.json"
    else:
        folder = place.folder("COPILOT_HOME", ".copilot")
        servers = folder / "mcp-config.json"
    command, *arguments = place.mcp("copilot")
    entry = {"type": "local", "command": command, "args": arguments, "env": {}, "tools": ["*"]}
    events = [
        ("sessionStart", "", HOOK_SECONDS),
        ("sessionEnd", "", HOOK_SECONDS),
        ("userPromptSubmitted", "", CALL_SECONDS),
        ("postToolUse", "bash", CALL_SECONDS),
    ]
    if place.tools:
        events.append(("postToolUseFailure", "|".join(place.tools), CALL_SECONDS))
    if place.guards:
        events.append(("preToolUse", "bash|edit|create", CALL_SECONDS))
    hooks = {
        event: [
            {
                "type": "command",
                **({"matcher": matcher} if matcher else {}),
                # It denies a call whose hook is missing or fails.
                "bash": f"{place.hook('copilot', event)} || true",
                "timeoutSec": seconds,
            }
        ]
        for event, matcher, seconds in events
    }
    text = AgentText(json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n")
    return Wiring(
        parts=(
            _json(servers, Addition(("mcpServers",), entry, SERVER)),
            WiringFile(path=folder / "hooks" / "reviewer.json", kind=FileKind.OWN, text=text),
        ),
        afterwards=("Copilot asks before it uses the tools; --allow-tool=reviewer allows them.",),
    )


def _cursor(place: WiringPlace) -> Wiring:
    folder = place.root / ".cursor"
    command, *arguments = place.mcp("cursor")
    hooks = tuple(
        Addition(
            ("hooks", event),
            {"command": place.hook("cursor", event), "timeout": HOOK_SECONDS},
        )
        for event in ("sessionStart", "sessionEnd")
    )
    entry = {"command": command, "args": arguments}
    return Wiring(
        parts=(
            _json(folder / "mcp.json", Addition(("mcpServers",), entry, SERVER)),
            _json(folder / "hooks.json", Addition((), 1, "version"), *hooks),
        ),
        afterwards=(
            "Cursor asks for an approval of the MCP server in its settings.",
            NEVER_RUN.format(title="Cursor"),
        ),
    )


NEVER_RUN = (
    "The settings for {title} follow its documentation and were never tried with the program: "
    "check that its next session starts with the packet."
)

AGENTS: dict[str, AgentKind] = {
    "claude-code": AgentKind("Claude Code", ("claude",), _claude, "CLAUDE.md"),
    "codex": AgentKind("Codex", ("codex",), _codex, "AGENTS.md"),
    "gemini": AgentKind("Gemini CLI", ("gemini",), _gemini, "GEMINI.md"),
    "opencode": AgentKind("OpenCode", ("opencode",), _opencode, "AGENTS.md"),
    "copilot": AgentKind("Copilot CLI", ("copilot",), _copilot, "AGENTS.md"),
    "cursor": AgentKind("Cursor", ("cursor-agent", "cursor"), _cursor, "AGENTS.md", never_run=True),
}


def _json(path: Path, *additions: Addition) -> WiringFile:
    return WiringFile(path=path, kind=FileKind.JSON, additions=additions)


def _matched(command: str, event: str, matcher: str, seconds: int = HOOK_SECONDS) -> Addition:
    """A hook of Claude Code or Codex."""
    hook = {"type": "command", "command": command, "timeout": seconds}
    group: dict[str, object] = {"matcher": matcher} if matcher else {}
    return Addition(("hooks", event), {**group, "hooks": [hook]})


_PLUGIN = """\
// `reviewer connect opencode` wrote this file; `reviewer disconnect opencode` takes it away.
import { spawn } from "node:child_process"

const COMMAND = %(command)s
// The words of each call whose first time in a session is denied once.
const GUARDS = %(guards)s
const MAX_MILLISECONDS = %(milliseconds)d

// What `reviewer hook` answers; nothing where it fails, so that it is never in the way.
function ask(event, told) {
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
    child.stdin.end(JSON.stringify(told))
  })
}

export const Reviewer = async ({ directory, worktree }) => {
  if (process.env.REVIEWER_CHILD) return {}
  const cwd = worktree && worktree !== "/" ? worktree : directory
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
      const { command = "", filePath = "" } = output.args ?? {}
      const call = command + "\\n" + filePath
      if (!GUARDS.some((words) => words.every((word) => call.includes(word)))) return
      const told = { sessionID: input.sessionID, cwd, command, path: filePath }
      const reason = await ask("guard", told)
      if (reason) throw new Error(reason)
    },
    "tool.execute.after": async (input, output) => {
      try {
        if (input.tool !== "bash" || !output.metadata?.exit) return
        const told = { sessionID: input.sessionID, cwd, command: input.args?.command ?? "" }
        const text = await ask("failure", { ...told, output: output.output ?? "" })
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


def plugin(command: Sequence[str], guards: Sequence[str] = ()) -> str:
    """The plugin of OpenCode, which has no hooks that run a command."""
    return _PLUGIN % {
        "command": json.dumps(list(command)),
        "guards": json.dumps([guard.split() for guard in guards]),
        "milliseconds": HOOK_SECONDS * 1000,
    }


def home() -> Path:
    """The user's home."""
    return Path(os.path.expanduser("~"))
