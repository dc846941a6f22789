"""The engine that calls a model: prompt from a template, checked answers, retries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import structs

from reviewer.compression.engine import EngineText, SummaryTask
from reviewer.compression.model_answer import cleaned, find_fault, find_inventions, trimmed
from reviewer.compression.model_view import LONGEST_VIEW, session_view
from reviewer.compression.retention import diagnosis, validate_retention
from reviewer.compression.values import HANDOVER_FROM, Level
from reviewer.llm.answer_cache import AnswerCache, question_key
from reviewer.llm.model import (
    CancelledError,
    ChatMessage,
    ChatModel,
    Completion,
    EmptyAnswerError,
    ModelError,
)
from reviewer.llm.steering import RetryExhaustedError, retry_with_steering
from reviewer.llm.templates import fence_for, load_template, render

TEMPLATES = Path(__file__).parent / "templates"
FIELDS = (
    "messages", "anchors", "segment_id", "topic", "max_tokens", "max_characters", "fence", "quoted",
)  # fmt: skip
"""The fields of a level template."""
KIND = "summary-1"
"""Part of the key of every cached answer; a new number invalidates them all."""
TAG_CHARACTERS = 30
"""Characters of an anchor, in the prompt for tags."""
ROOM = 1.5
"""Cut-off, as a multiple of the requested length."""
MIN_ROOM = 64
MARGIN = 64
"""Tokens of the model's context left free, because encodings differ."""
HANDOVER = "compression-handover"
HANDOVER_RATIO = 4
CHARACTERS = 3.6
"""Characters per token, in a text with many names."""
THOUGHTS = 4_000
"""Tokens that a model may spend on thinking before it writes a hand-over."""
MIN_CONTEXT = 6_000
"""The smallest context, in tokens, with room for a hand-over and its source."""


class ModelEngine:
    """Abstractive: one answer of the model per level; retries name the missing details."""

    deterministic = False

    def __init__(
        self,
        model: ChatModel,
        count: Callable[[str], int],
        *,
        context_tokens: int,
        templates: Path | None = None,
        answers: AnswerCache | None = None,
        asked: Sequence[str] = (),
    ) -> None:
        """`context_tokens`: of prompt and answer together. `templates`: a folder whose templates
        replace the built-in ones of the same name. `answers`: the cache of earlier runs, from which
        an interrupted run resumes; `asked`: identifies the model beside its name, such as its
        address.
        """
        self.model = model
        self._count = count
        self._context_tokens = context_tokens
        self._templates = templates
        self._answers = answers
        self._asked = asked
        self.name = model.name

    def write(self, task: SummaryTask) -> EngineText:
        """The model's summary, checked for faults, retention and invention; or an earlier run's
        answer to the same question.

        Raises ModelError if the endpoint fails, CancelledError, TemplateError, and
        RetryExhaustedError if no attempt passes.
        """
        question = _Question(task, self._count, self._context_tokens, self._templates)
        options, remark = task.options, question.remark
        about = (self.name, question.room, options.temperature, options.ceiling)
        key = question_key(question.prompt, KIND, *self._asked, *about)
        if self._answers is not None and (kept := self._answers.find(key)):
            kept = question.read(kept)
            if not (question.fault(kept) or find_inventions(task, kept.text)):
                text = question.finished(kept.text)
                return EngineText(text, self.name, note=remark, answered_before=True)
        more: list[ChatMessage] = []
        tokens = 0

        def ask() -> Completion:
            nonlocal tokens
            answer = question.ask(self.model, more)
            tokens += answer.prompt_tokens + answer.completion_tokens
            return answer

        def check(answer: Completion) -> tuple[bool, str | None]:
            fits = answer.completion_tokens <= question.room  # not every model heeds its limit
            shown = answer.text if fits else "(too long)"
            more[:] = [ChatMessage("assistant", shown or "(nothing)")]
            problem = question.fault(answer)
            return problem is None, problem

        def steer(problem: str) -> None:
            more.append(ChatMessage("user", steering(problem)))

        result = retry_with_steering(ask, check, steer, options.max_retries)
        answer = result.value
        if refused := find_inventions(task, answer.text):
            raise RetryExhaustedError(refused, result.attempts, answer)
        if self._answers is not None:
            with suppress(OSError):  # the question is asked again
                self._answers.keep(key, answer)
        text = question.finished(answer.text)
        return EngineText(text, self.name, tokens, result.attempts, note=remark)


class _Question:
    """A request to a model: the prompt, the room for the answer, and how to parse it."""

    def __init__(
        self,
        task: SummaryTask,
        count: Callable[[str], int],
        context_tokens: int,
        templates: Path | None,
    ) -> None:
        self._task, self._count = task, count
        self._is_handover = (
            task.level is not Level.TAGS
            and task.max_tokens >= HANDOVER_FROM
            and context_tokens >= MIN_CONTEXT
            and task.max_tokens * HANDOVER_RATIO <= task.segment.tokens
        )
        """Whether there is room for a hand-over in the text, and for its source in the context."""
        self.room = max(1, min(self._wanted(), context_tokens // 4))
        """Tokens after which the answer is cut off."""
        name = HANDOVER if self._is_handover else f"compression-{task.level.name.lower()}"
        self._template = load_template(name, TEMPLATES, templates, FIELDS)
        self.prompt, self.remark = self._prompt(context_tokens)
        """The messages; and a remark for a person if words of the conversation did not fit."""

    def ask(self, model: ChatModel, more: Sequence[ChatMessage]) -> Completion:
        """The answer, possibly empty; `more`: a previous answer, and the changes to make.

        Raises ModelError if there is none, and CancelledError.
        """
        task = self._task
        if task.cancelled is not None and task.cancelled():
            raise CancelledError("Stopped before the model was asked.")
        try:
            answer = model.complete(
                [*self.prompt, *more],
                max_tokens=self.room,
                temperature=task.options.temperature,
                cancelled=task.cancelled,
            )
        except EmptyAnswerError:
            answer = Completion("", model.name, 0, 0)
        return self.read(answer)

    def read(self, answer: Completion) -> Completion:
        """An answer without the model's wrapping, and with the tokens of the rest."""
        text = cleaned(answer.text)
        if text == answer.text:
            return answer
        return structs.replace(answer, text=text, completion_tokens=self._count(text))

    def fault(self, answer: Completion) -> str | None:
        """Why an answer cannot be used, or what it lacks."""
        task = self._task
        if self._is_handover and answer.text:  # an overlong one is shortened
            answer = structs.replace(answer, finish="stop", completion_tokens=0)
        if problem := find_fault(answer, task.segment.tokens, task.options.ceiling):
            return problem
        failures = validate_retention(answer.text, task.criteria.patterns)
        return diagnosis(failures) if failures else None

    def finished(self, text: str) -> str:
        """The summary; a hand-over within its limit."""
        return trimmed(text, self._task.max_tokens, self._count) if self._is_handover else text

    def _wanted(self) -> int:
        """Tokens that the answer may have, if the model's context has room for them."""
        task, options = self._task, self._task.options
        if self._is_handover:
            # An overlong one is shortened, and some models count their thoughts.
            return round(task.max_tokens * ROOM) + THOUGHTS
        wanted = options.max_output_tokens or max(round(task.max_tokens * ROOM), MIN_ROOM)
        return min(wanted, options.ceiling or wanted)

    def _prompt(self, context_tokens: int) -> tuple[list[ChatMessage], str]:
        """The messages of the template, with as much of the segment as fits the model's context."""
        task = self._task
        frame = sum(self._count(one.content) for one in self._messages(""))
        free = context_tokens - frame - 2 * self.room - MARGIN
        if free < MIN_ROOM:
            raise ModelError(
                f"The model's context of {context_tokens:,} tokens is too small for the prompt of "
                f"{self._template.template_id}. Raise context_tokens under [model], or use the "
                "offline engine."
            )
        text, left_out = session_view(task.analysis, free, self._count)
        remark = ""
        if left_out:
            remark = (
                f"{left_out:,} characters of what was said were left out, so that the model "
                f"reads at most {min(free, LONGEST_VIEW):,} tokens"
            )
        return self._messages(text), remark

    def _messages(self, text: str) -> list[ChatMessage]:
        task = self._task
        room = min(task.max_tokens, self.room)
        quoted = "\n".join(f'- [{a.type}]: "{a.content}"' for a in task.anchors)
        tags = "\n".join(f"- {a.type}: {a.content[:TAG_CHARACTERS]}" for a in task.anchors)
        data = {
            "messages": text,
            "anchors": tags if task.level is Level.TAGS else quoted,
            "segment_id": task.segment.id,
            "topic": task.segment.topic or "all",
            "max_tokens": room,
            "max_characters": round(room * CHARACTERS / 100) * 100,
            "fence": fence_for("conversation", text),
            "quoted": quoted,
        }
        return _with_retention(render(self._template, data), task)


CARE = (
    "Some of what follows was marked as important. Be conservative with it: keep its statements, "
    "names and figures."
)
"""Added to the prompt for IMPORTANT turns without criteria."""


def _with_retention(messages: list[ChatMessage], task: SummaryTask) -> list[ChatMessage]:
    """The messages with the retention criteria of the task in the prompt."""
    *before, prompt = messages
    parts = [prompt.content.rstrip()]
    criteria = task.criteria
    details = (criteria.instructions or "").splitlines()
    details += [
        f'the exact text "{each.text}"'
        if each.mode == "substring"
        else f"text that matches the regular expression {each.text}"
        for each in criteria.patterns
    ]
    if details:
        listed = "\n".join(f"- {detail}" for detail in details)
        parts.append(
            "IMPORTANT: The following content was marked as important. You MUST\n"
            f"preserve these specific details in your summary:\n{listed}"
        )
    if task.needs_care:
        parts.append(CARE)
    return [*before, ChatMessage("user", "\n\n".join(parts))]


def steering(diagnosis: str) -> str:
    """The message after a summary that failed, for the next attempt."""
    return (
        f"Previous summary failed validation: {diagnosis}\n"
        "Revise to include the missing details while keeping the summary concise."
    )
