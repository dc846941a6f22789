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
        prompt, remark = self._prompt(task)
        key = self._key(task, prompt)
        kept = None
        if self._answers is not None and not task.options.fresh:
            kept = self._answers.find(key)
        if kept is not None and (kept := self._read(kept)) and not self._wrong(task, kept):
            text = self._finished(task, kept.text)
            return EngineText(text, self.name, note=remark, answered_before=True)
        attempts = _Attempts(self, task, prompt)
        result = retry_with_steering(
            attempts.ask, attempts.check, attempts.steer, task.options.max_retries
        )
        answer = result.value
        if refused := find_inventions(task, answer.text):
            raise RetryExhaustedError(refused, result.attempts, answer)
        if self._answers is not None:
            with suppress(OSError):  # the question is asked again
                self._answers.keep(key, answer)
        text = self._finished(task, answer.text)
        return EngineText(text, self.name, attempts.tokens, result.attempts, note=remark)

    def ask(self, task: SummaryTask, messages: Sequence[ChatMessage]) -> Completion:
        """An answer of the model, possibly empty."""
        try:
            answer = self.model.complete(
                messages,
                max_tokens=self._room(task),
                temperature=task.options.temperature,
                cancelled=task.cancelled,
            )
        except EmptyAnswerError:
            answer = Completion("", self.name, 0, 0)
        return self._read(answer)

    def _read(self, answer: Completion) -> Completion:
        """An answer without the model's wrapping, and with the tokens of the rest."""
        text = cleaned(answer.text)
        if text == answer.text:
            return answer
        return structs.replace(answer, text=text, completion_tokens=self._count(text))

    def fault(self, task: SummaryTask, answer: Completion) -> str | None:
        """Why an answer is not usable at all."""
        if self._is_handover(task) and answer.text:  # an overlong one is shortened
            answer = structs.replace(answer, finish="stop", completion_tokens=0)
        return find_fault(answer, task.segment.tokens, task.options.ceiling)

    def _wrong(self, task: SummaryTask, kept: Completion) -> bool:
        """Whether a cached answer fails the checks."""
        failures = validate_retention(kept.text, task.criteria.patterns)
        return bool(self.fault(task, kept) or failures or find_inventions(task, kept.text))

    def _is_handover(self, task: SummaryTask) -> bool:
        """Whether there is room for a hand-over in the text, and for its source in the context."""
        return (
            task.level is not Level.TAGS
            and task.max_tokens >= HANDOVER_FROM
            and self._context_tokens >= MIN_CONTEXT
            and task.max_tokens * HANDOVER_RATIO <= task.segment.tokens
        )

    def _finished(self, task: SummaryTask, text: str) -> str:
        """The summary; a hand-over within its limit."""
        return trimmed(text, task.max_tokens, self._count) if self._is_handover(task) else text

    def _key(self, task: SummaryTask, prompt: Sequence[ChatMessage]) -> str:
        """The key of a question in the cache."""
        options = task.options
        about = (self.name, self._room(task), options.temperature, options.ceiling)
        return question_key(prompt, KIND, *self._asked, *about)

    def _prompt(self, task: SummaryTask) -> tuple[list[ChatMessage], str]:
        """The messages of the template, with as much of the segment as fits the model's context;
        and a remark for a person if words of the conversation did not fit.
        """
        name = HANDOVER if self._is_handover(task) else f"compression-{task.level.name.lower()}"
        template = load_template(name, TEMPLATES, self._templates, FIELDS)
        room = min(task.max_tokens, self._room(task))
        quoted = "\n".join(f'- [{a.type}]: "{a.content}"' for a in task.anchors)
        tags = "\n".join(f"- {a.type}: {a.content[:TAG_CHARACTERS]}" for a in task.anchors)
        data: dict[str, object] = {
            "anchors": tags if task.level is Level.TAGS else quoted,
            "quoted": quoted,
            "segment_id": task.segment.id,
            "topic": task.segment.topic or "all",
            "max_tokens": room,
            "max_characters": round(room * CHARACTERS / 100) * 100,
        }

        def messages(text: str) -> list[ChatMessage]:
            fence = fence_for("conversation", text)
            return _with_retention(
                render(template, {**data, "messages": text, "fence": fence}), task
            )

        frame = sum(self._count(one.content) for one in messages(""))
        free = self._context_tokens - frame - 2 * self._room(task) - MARGIN
        if free < MIN_ROOM:
            raise ModelError(
                f"The model's context of {self._context_tokens:,} tokens is too small for the "
                f"prompt of {template.template_id}. Raise context_tokens under [model], or use the "
                "offline engine."
            )
        view = session_view(task.analysis, free, self._count)
        remark = ""
        if view.left_out:
            remark = (
                f"{view.left_out:,} characters of what was said were left out, so that the model "
                f"reads at most {min(free, LONGEST_VIEW):,} tokens"
            )
        return messages(view.text), remark

    def _room(self, task: SummaryTask) -> int:
        """Tokens after which the answer is cut off."""
        options = task.options
        if self._is_handover(task):
            # An overlong one is shortened, and some models count their thoughts.
            wanted = round(task.max_tokens * ROOM) + THOUGHTS
        else:
            wanted = options.max_output_tokens or max(round(task.max_tokens * ROOM), MIN_ROOM)
            wanted = min(wanted, options.ceiling or wanted)
        return max(1, min(wanted, self._context_tokens // 4))


class _Attempts:
    """The attempts at a summary; each gets the diagnosis of the previous one."""

    def __init__(self, engine: ModelEngine, task: SummaryTask, prompt: list[ChatMessage]) -> None:
        self._engine = engine
        self._task = task
        self._prompt = prompt
        self._question = prompt[-1].content
        self._more: list[ChatMessage] = []
        """The answer to revise, if it is worth that, and the changes to make."""
        self.tokens = 0
        """Tokens of prompts and answers together."""

    def ask(self) -> Completion:
        """The next answer. Raises CancelledError, and ModelError if there is no usable one."""
        task = self._task
        if task.cancelled is not None and task.cancelled():
            raise CancelledError("Stopped before the model was asked.")
        answer = self._engine.ask(task, [*self._prompt, *self._more])
        self.tokens += answer.prompt_tokens + answer.completion_tokens
        return answer

    def check(self, answer: Completion) -> tuple[bool, str | None]:
        """Whether an answer passes, and the diagnosis if not."""
        self._more = []
        if problem := self._engine.fault(self._task, answer):
            return False, problem
        failures = validate_retention(answer.text, self._task.criteria.patterns)
        if not failures:
            return True, None
        self._more = [ChatMessage("assistant", answer.text)]
        return False, diagnosis(failures)

    def steer(self, problem: str) -> None:
        """Pass a diagnosis to the next attempt."""
        if self._more:
            self._more.append(ChatMessage("user", steering(problem)))
        else:
            self._prompt[-1] = ChatMessage("user", f"{self._question}\n\n{steering(problem)}")


CARE = (
    "Some of what follows was marked as important. Be conservative with it: keep its statements, "
    "names and figures."
)
"""Added to the prompt for IMPORTANT turns without criteria."""


def _with_retention(messages: list[ChatMessage], task: SummaryTask) -> list[ChatMessage]:
    """The messages with the retention criteria of the task in the prompt."""
    *before, prompt = messages
    parts = [prompt.content.rstrip()]
    details = [*task.criteria.instructions]
    details += [
        f'the exact text "{each.text}"'
        if each.mode == "substring"
        else f"text that matches the regular expression {each.text}"
        for each in task.criteria.patterns
    ]
    if details:
        listed = "\n".join(f"- {detail}" for detail in details)
        parts.append(
            "IMPORTANT: The following content was marked as important. You MUST\n"
            f"preserve these specific details in your summary:\n{listed}"
        )
    if task.care:
        parts.append(CARE)
    return [*before, ChatMessage("user", "\n\n".join(parts))]


def steering(diagnosis: str) -> str:
    """The message after a summary that failed, for the next attempt."""
    return (
        f"Previous summary failed validation: {diagnosis}\n"
        "Revise to include the missing details while keeping the summary concise."
    )
