"""The engine that asks a model: level templates, anchors and retention in the prompt, retries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from reviewer.compression.full_text import cut_text, full_text
from reviewer.compression.model_faults import fault
from reviewer.compression.retention import (
    Asked,
    build_summarize_prompt,
    diagnosis,
    instructions,
    steering,
    validate_retention,
)
from reviewer.compression.values import Level
from reviewer.compression.writing import WritingTask, Written
from reviewer.llm.model import CancelledError, ChatMessage, ChatModel, Completion, ModelError
from reviewer.llm.retry import retry_with_steering
from reviewer.llm.templates import load_template, render

TEMPLATES = Path(__file__).parent / "templates"
FIELDS: dict[str, Sequence[str]] = {
    "messages": (),
    "anchors": ("type", "content"),
    "segment_id": (),
    "topic": (),
    "max_tokens": (),
}
"""What a level template may name."""
ROOM = 1.5
"""An answer may be so many times as long as asked before it is cut off."""
LEAST_ROOM = 64
MARGIN = 64
"""Tokens of the model's context that stay free: encodings differ."""


class ModelWriter:
    """Abstractive. One answer of the model a level, and retries that name only what is missing."""

    rewrites = False

    def __init__(
        self,
        model: ChatModel,
        count: Callable[[str], int],
        *,
        context_tokens: int,
        templates: Path | None = None,
    ) -> None:
        """`context_tokens`: what prompt and answer may have together. `templates`: a folder whose
        templates stand in for the built-in ones of the same name.
        """
        self._model = model
        self._count = count
        self._context_tokens = context_tokens
        self._templates = templates
        self.name = model.name

    def write(self, task: WritingTask) -> Written:
        """The model's summary, checked against faults and retention.

        Raises ModelError when the endpoint fails, CancelledError, TemplateError, and
        RetryExhaustedError when no attempt passes.
        """
        prompt = self._prompt(task)
        asked_first = prompt[-1]
        room = self._room(task)
        source = full_text(task.segment.turns)
        notes: list[ChatMessage] = []
        last = ""
        used = attempts = 0

        def attempt() -> Completion:
            nonlocal last, used, attempts
            if task.cancelled is not None and task.cancelled():
                raise CancelledError("Stopped before the model was asked.")
            attempts += 1
            if task.on_attempt is not None:
                task.on_attempt(attempts)
            answer = self._model.complete(
                [*prompt, *notes],
                max_tokens=room,
                temperature=task.options.temperature,
                cancelled=task.cancelled,
                on_text=task.on_text,
            )
            used += answer.prompt_tokens + answer.completion_tokens
            last = answer.text
            return answer

        def validate(answer: Completion) -> tuple[bool, str | None]:
            problem = fault(answer, source, task.segment.tokens, task.options.ceiling)
            if problem is not None:
                notes[:] = []  # what is no summary is no beginning for a better one
            elif failures := validate_retention(answer.text, task.asked):
                problem = diagnosis(failures)
                notes[:] = [ChatMessage("assistant", self._cut(last, room))]
            return problem is None, problem

        def steer(problem: str) -> None:
            if notes:
                notes.append(ChatMessage("user", steering(problem)))
            else:
                prompt[-1] = ChatMessage("user", f"{asked_first.content}\n\n{steering(problem)}")

        result = retry_with_steering(attempt, validate, steer, task.options.max_retries)
        return Written(result.value.text.strip(), self.name, used, result.attempts)

    def _prompt(self, task: WritingTask) -> list[ChatMessage]:
        """The level's messages, with as much of the segment as the model's context holds."""
        custom = task.options.custom_prompt_template_id
        template = load_template(
            custom or f"compression-{task.level.name.lower()}", TEMPLATES, self._templates, FIELDS
        )
        data = {
            "anchors": [{"type": str(a.type), "content": a.content} for a in task.anchors],
            "segment_id": task.segment.id,
            "topic": task.segment.topic or "all",
            "max_tokens": task.max_tokens,
        }

        def messages(text: str) -> list[ChatMessage]:
            return _with_retention(render(template, {**data, "messages": text}), task.asked, task)

        frame = sum(self._count(one.content) for one in messages(""))
        free = self._context_tokens - frame - 2 * self._room(task) - MARGIN
        if free < LEAST_ROOM and task.level is not Level.TAGS and task.anchors:
            # Anchors are put back after the answer where a small model's context cannot hold them.
            data["anchors"] = []
            frame = sum(self._count(one.content) for one in messages(""))
            free = self._context_tokens - frame - 2 * self._room(task) - MARGIN
        if free < LEAST_ROOM:
            raise ModelError(
                f"The model's context of {self._context_tokens:,} tokens does not hold the prompt "
                f"of {template.template_id}. Raise context_tokens under [model], or use the "
                "offline engine."
            )
        return messages(cut_text(task.segment.turns, free, self._count))

    def _room(self, task: WritingTask) -> int:
        """Tokens that the answer may have before the model is cut off."""
        if task.options.max_output_tokens is not None:
            wanted = task.options.max_output_tokens
        else:
            wanted = max(round(task.max_tokens * ROOM), LEAST_ROOM)
        if task.options.ceiling is not None:
            wanted = min(wanted, task.options.ceiling)
        return max(1, min(wanted, self._context_tokens // 4))

    def _cut(self, text: str, tokens: int) -> str:
        """The beginning of a previous answer, in as much room as the next one has."""
        while self._count(text) > tokens + MARGIN:
            text = text[: len(text) * 2 // 3]
        return text


def _with_retention(
    messages: list[ChatMessage], asked: Sequence[Asked], task: WritingTask
) -> list[ChatMessage]:
    *before, prompt = messages
    content = build_summarize_prompt(
        prompt.content,
        retention_instructions=instructions(asked),
        patterns=[pattern for each in asked for pattern in each.criteria.patterns],
        care=task.care,
    )
    return [*before, ChatMessage("user", content)]
