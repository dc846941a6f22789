"""A person's own agent, called on its command line: no key, no shell, no tools.

The command runs in an empty private folder and in its own process group, so that everything it
starts can be ended with it. It inherits the person's environment, which has the login, plus one
variable that tells hooks of `reviewer` to do nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from reviewer.llm.agents import (
    AGENTS,
    Agent,
    AgentAnswer,
    AgentRequest,
    CommandOutput,
    Invocation,
    agent_of,
    last_words,
)
from reviewer.llm.chat import POLL, STOPPED, Chat, Question, quoted
from reviewer.llm.model import (
    CancelledError,
    ChatMessage,
    Completion,
    EmptyAnswerError,
    ModelError,
)
from reviewer.settings import ModelSettings
from reviewer.system import KILL, end_group
from reviewer.text.controls import ESCAPES, well_formed
from reviewer.text.secrets import mask

CHILD = "REVIEWER_CHILD"
"""Set to 1 for the command, so that hooks of `reviewer` do nothing."""
NO_FILES = "CLAUDE_CODE_DISABLE_ATTACHMENTS"
"""Set to 1, Claude Code sends `@path` in a prompt as text instead of the file."""
NOT_INHERITED = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT")
"""Variables that make an agent refuse to run inside another one."""
LARGEST_OUTPUT = 8 << 20
"""Bytes on standard output; an answer with its events takes a hundredth of that."""
LARGEST_ERRORS = 64 << 10
"""Bytes kept of the end of standard error."""
GRACE = 1.0
"""Seconds for a command to end by itself before it is killed."""
SHORT_GRACE = 0.2
"""The same after a cancellation, because somebody waits."""


def agents_found(path: str | None = None) -> tuple[Agent, ...]:
    """The known agents on the PATH, without starting them."""
    return tuple(agent for agent in AGENTS.values() if shutil.which(agent.program, path=path))


def check_command(settings: ModelSettings) -> None:
    """Raise ModelError for settings without a usable command; does not look for the program."""
    if settings.base_url.strip():
        raise ModelError("Both base_url and command are set under [model]. Keep one of them.")
    if not settings.command[0].strip() or any("\0" in part for part in settings.command):
        raise ModelError(
            'command under [model] must begin with a program, such as ["claude"] or '
            '["/opt/ask", "--plain"].'
        )


class CommandChat(Chat):
    """A `ChatModel` behind a command. Nothing is started before the first call.

    Raises ModelError if the settings have no usable command, or it is not installed.
    """

    def __init__(
        self, settings: ModelSettings, *, environment: Mapping[str, str] = os.environ
    ) -> None:
        check_command(settings)
        self.agent = agent_of(settings.command)
        self._program = _program(settings.command[0], environment)
        self._model = settings.name.strip()
        short = Path(self.agent.program).name
        self.name = f"{short}/{self._model}" if self._model else short
        self._environment = environment
        self._seconds = settings.timeout

    def _answer(self, asked: Question) -> Completion:
        """Agents choose length and temperature themselves; some accept a schema."""
        system = "\n\n".join(one.content for one in asked.messages if one.role == "system")
        prompt = _conversation([one for one in asked.messages if one.role != "system"])
        with _private_folder() as folder:
            invocation = self.agent.prepare(
                AgentRequest(self._program, system, prompt, self._model, asked.schema, folder)
            )
            environment = {
                name: value
                for name, value in self._environment.items()
                if name not in NOT_INHERITED
            }
            environment |= {**invocation.environment, CHILD: "1", "NO_COLOR": "1", NO_FILES: "1"}
            try:
                ended = self._run(invocation, environment, folder, asked.stop)
            finally:
                if self.agent.tidy is not None:
                    self.agent.tidy(folder, environment)
            answer = self.agent.read(ended)
        try:
            self._require(answer, ended)
        except ModelError as problem:
            problem.sent = 1
            raise
        text = mask(well_formed(answer.text).strip()).text
        return asked.answered(text, well_formed(answer.model) or self.name, answer.usage)

    def _run(
        self,
        called: Invocation,
        environment: Mapping[str, str],
        folder: Path,
        stop: Callable[[], bool],
    ) -> CommandOutput:
        """Run the command until it ends, and end everything that it started. Raises ModelError if
        it takes too long, prints too much, or cannot be started.
        """
        if stop():
            raise CancelledError(STOPPED)
        with TemporaryFile() as typed, TemporaryFile() as out, TemporaryFile() as err:
            typed.write(called.prompt.encode("utf-8", "replace"))
            typed.seek(0)
            try:
                process = subprocess.Popen(  # noqa: S603
                    called.argv, cwd=folder, env=dict(environment), start_new_session=True,
                    stdin=typed, stdout=out, stderr=err,
                )  # fmt: skip
            except OSError as problem:
                raise ModelError(
                    f"{called.argv[0]} could not be started: {problem.strerror or problem}. Check "
                    "command under [model]."
                ) from problem
            try:
                self._wait(process, out, err, stop)
            except ModelError as problem:
                problem.sent = 1
                raise
            finally:
                _end(process, SHORT_GRACE if stop() else GRACE)
            return CommandOutput(
                _end_of(out, LARGEST_OUTPUT),
                _end_of(err, LARGEST_ERRORS),
                process.returncode,
                folder,
            )

    def _wait(
        self,
        process: subprocess.Popen[bytes],
        out: IO[bytes],
        err: IO[bytes],
        stop: Callable[[], bool],
    ) -> None:
        end = time.monotonic() + self._seconds
        while True:
            ended = process.poll() is not None
            if os.fstat(out.fileno()).st_size > LARGEST_OUTPUT:
                raise ModelError(
                    f"{self.agent.title} printed more than {LARGEST_OUTPUT >> 20} MB instead of an "
                    "answer, and was stopped. Check command under [model]."
                )
            if ended:
                return
            if stop():
                raise CancelledError(STOPPED)
            if time.monotonic() > end:
                words = quoted(
                    last_words(CommandOutput("", _end_of(err, LARGEST_ERRORS), 0, Path()))
                )
                last = f" Its last line: {words}." if words else ""
                raise ModelError(
                    f"{self.agent.title} did not answer within {self._seconds:g} seconds, and was "
                    f"stopped.{last} Try again, or raise timeout under [model]."
                )
            with suppress(subprocess.TimeoutExpired):
                process.wait(POLL)

    def _require(self, answer: AgentAnswer, ended: CommandOutput) -> None:
        """Raise ModelError for a missing answer."""
        title = self.agent.title
        if ended.code == 0 and not answer.problem:
            if answer.text.strip():
                return
            raise EmptyAnswerError(f"{title} gave an empty answer. Try it by itself in a terminal.")
        problem = quoted(answer.problem or last_words(ended)) or "it does not say why"
        how = f"exit code {ended.code}" if ended.code >= 0 else f"signal {-ended.code}"
        raise ModelError(
            f"{title} gave no answer ({how}): {problem}. Try it by itself in a terminal. To log in:"
            f" {self.agent.login}."
        )


COLOURS = re.compile(rf"{ESCAPES.pattern}|[\x00-\x08\x0b-\x1f\x7f]")
"""Escape sequences, and control characters other than tab and line end."""


def _program(name: str, environment: Mapping[str, str]) -> str:
    found = shutil.which(name, path=environment.get("PATH"))
    if found is None:
        others = [agent.program for agent in agents_found(environment.get("PATH"))]
        offer = f" Installed here: {', '.join(others)}." if others else ""
        raise ModelError(
            f"The command {name} was not found, or is not a program. Install it, or correct "
            f"command under [model].{offer}"
        )
    return os.path.abspath(found)


def _conversation(messages: Sequence[ChatMessage]) -> str:
    if len(messages) == 1:
        return messages[0].content
    return "\n\n".join(f"## {one.role}\n\n{one.content}" for one in messages)


@contextmanager
def _private_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="reviewer-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _end_of(file: IO[bytes], most: int) -> str:
    """The end of a command's output, without colour codes."""
    file.seek(max(0, os.fstat(file.fileno()).st_size - most))
    return COLOURS.sub("", file.read().decode("utf-8", "replace").replace("\r\n", "\n"))


def _end(process: subprocess.Popen[bytes], grace: float) -> None:
    """End the command and everything that it started, after `grace` seconds to end by itself."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(grace)
    _signal(process, KILL)  # and its leftovers
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        end_group(process.pid, number)
