"""Agents that were installed with npm, each in a home of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from reviewer.agents.agent_files import AgentFiles
from tests.cli.agent_projects import filled
from tests.cli.conftest import Reviewer
from tests.clients.fake_model import FakeModel, fake_model
from tests.waiting import until

FOLDER = "PYTEST_AGENT_CLIENTS"
"""The variable with the folder in which `npm install` put the packages of package.json."""

SECONDS = 240
"""For one run, also beside other work: OpenCode prepares itself when it starts first."""
TRIES, PATIENCE = 5, 300
"""An agent is run again until what is expected is there, at least so often and so many seconds.
Beside other work a hook may give up after five seconds, and an agent may begin to talk before its
MCP servers have started, or not wait for the answer of a tool; all of them go on without.
"""
SOON = 5
"""Seconds within which a hook that an agent has started at its end has done its work."""
PATIENT = 120
"""Seconds for an MCP server to start, where an agent can be told to wait for it."""

PROGRAMS = {
    "claude-code": "@anthropic-ai/claude-code-linux-x64/claude",
    "codex": "@openai/codex/bin/codex.js",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
    "copilot": "@github/copilot",
}


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with fake_model() as running:
        yield running


@pytest.fixture
def program(tmp_path: Path) -> Reviewer:
    """`reviewer` with a home and a store of its own."""
    return Reviewer(tmp_path)


def work_tree(program: Reviewer) -> Path:
    """The work tree of a promoted note, as git itself makes one."""
    tree = filled(program)
    shutil.rmtree(tree / ".git")
    subprocess.run(["git", "init", "-q", tree], check=True)
    return tree


class Client:
    """A real agent, pointed at a fake model, in the home of a `Reviewer`."""

    def __init__(
        self, agent: str, program: Reviewer, model: FakeModel, name: str = "fake-1"
    ) -> None:
        named = os.environ.get(FOLDER, "")
        packages = Path(named) / "node_modules"
        if not named or not packages.is_dir():
            pytest.skip(f"{FOLDER} names no folder with the npm packages of tests/clients")
        self.agent = agent
        self.program = program
        self.model = model
        self.name = name  # by that of a model, some agents choose the tools that they offer it
        self.home = program.folder / "home"
        kept = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}
        self.environment = kept
        short = {"claude-code": "@anthropic-ai/claude-code-linux-x64/claude"}.get(agent)
        self.command = packages / short if short else packages / ".bin" / agent
        if agent == "opencode":
            self.command = packages / "opencode-linux-x64" / "bin" / "opencode"
        if not self.command.exists():
            pytest.skip(f"{agent} is not among the npm packages in {named}")
        getattr(self, f"_prepare_{agent.replace('-', '_')}")()

    def run_until(
        self,
        expected: Callable[[], object],
        prompt: str | Callable[[int], str],
        folder: Path,
        *more: str,
    ) -> None:
        """Run it until what is expected is there. A prompt may differ from try to try.

        Fails with the last output and the log of the hooks if it never comes.
        """
        began = time.monotonic()
        for number in count():
            words = prompt if isinstance(prompt, str) else prompt(number)
            try:
                ran = self.run(words, folder, *more)
            except subprocess.TimeoutExpired:
                output = f"It had not ended after {SECONDS} seconds."
            else:
                output = f"exit code {ran.returncode}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
            with suppress(AssertionError):
                until(expected, SOON)
                return
            if number + 1 >= TRIES and time.monotonic() - began > PATIENCE:
                break
        log = AgentFiles(self.program.db).folder / "hooks.log"
        pytest.fail(
            f"{self.agent}, run {number + 1} times, did not do it; {len(self.model.requests)} "
            f"requests\n{output}\n{log.read_text() if log.exists() else 'No hook has failed.'}"
        )

    def run(self, prompt: str, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
        """One headless run with a prompt."""
        arguments = {
            "claude-code": ["-p", prompt, "--allowedTools", "mcp__reviewer,Bash,Write"],
            "codex": [
                "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust",
                "-c", 'mcp_servers.reviewer.default_tools_approval_mode="approve"',
                "-c", "mcp_servers.reviewer.required=true",
                "-c", f"mcp_servers.reviewer.startup_timeout_sec={PATIENT}", prompt,
            ],
            "gemini": ["-p", prompt, "--approval-mode", "yolo", "-m", "gemini-2.5-flash"],
            "opencode": ["run", "-m", f"fake/{self.name}", prompt],
            "copilot": [
                "-p", prompt, "--no-color", "--allow-tool=reviewer", "--allow-tool=shell",
                "--allow-tool=write",
            ],
        }[self.agent]  # fmt: skip
        return subprocess.run(
            [self.command, *arguments, *more],
            cwd=folder, env=self.environment, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=SECONDS, check=False,
        )  # fmt: skip

    def _prepare_claude_code(self) -> None:
        self.environment |= {
            "ANTHROPIC_BASE_URL": self.model.url, "ANTHROPIC_API_KEY": "sk-ant-fake",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1", "ENABLE_TOOL_SEARCH": "false",
            # It begins to talk while its MCP servers start, unless it is told to wait for them.
            "MCP_CONNECTION_NONBLOCKING": "false", "MCP_CONNECT_TIMEOUT_MS": f"{PATIENT}000",
            "MCP_TIMEOUT": f"{PATIENT}000",
        }  # fmt: skip

    def _prepare_codex(self) -> None:
        folder = self.home / ".codex"
        folder.mkdir()
        (folder / "config.toml").write_text(
            f'model = "{self.name}" # of this test\nmodel_provider = "fake"\n\n'
            f'[model_providers.fake]\nname = "fake"\nbase_url = "{self.model.url}/v1"\n'
            'env_key = "FAKE_KEY"\nwire_api = "responses"\n'
            "request_max_retries = 1\nstream_max_retries = 1\n"
        )
        self.environment["FAKE_KEY"] = "x"

    def _prepare_gemini(self) -> None:
        folder = self.home / ".gemini"
        folder.mkdir()
        settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        (folder / "settings.json").write_text(json.dumps(settings, indent=2))
        self.environment |= {
            "GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": self.model.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }  # fmt: skip

    def _prepare_opencode(self) -> None:
        folder = self.home / ".config" / "opencode"
        folder.mkdir(parents=True)
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{self.model.url}/v1", "apiKey": "x"},
            "models": {self.name: {"limit": {"context": 100_000, "output": 1_000}}},
        }
        settings = {
            "$schema": "https://opencode.ai/config.json",  # else OpenCode adds it
            "provider": {"fake": provider},
            "small_model": f"fake/{self.name}",
        }
        (folder / "opencode.json").write_text(json.dumps(settings, indent=2))
        ready = Path(os.environ[FOLDER]) / "opencode"
        if ready.is_dir():  # else it installs this by itself when it starts, in about a minute
            for each in ready.iterdir():
                (folder / each.name).symlink_to(each)
        self.environment |= {
            "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        }  # fmt: skip

    def _prepare_copilot(self) -> None:
        self.environment |= {
            "COPILOT_PROVIDER_BASE_URL": f"{self.model.url}/v1", "COPILOT_MODEL": self.name,
            "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false",
        }  # fmt: skip
