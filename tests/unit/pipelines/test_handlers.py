"""Templates of prompts, pauses between attempts, durations."""

from __future__ import annotations

import pytest

from reviewer.pipelines.handlers import fill_template, retry_delays, seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("900", 900), ("900s", 900), ("10m", 600), ("2h", 7200), ("250ms", 0.25), ("soon", None)],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert seconds_of(text) == seconds


def test_a_prompt_is_filled_with_the_goal_and_known_keys_and_nothing_else() -> None:
    context = {"task": "parse $goal", "n": 3, "tool.last_line": "ok"}
    filled = "$goal: $task ${n} $tool.last_line. $goal."
    left = " $HOME $$ {{goal}} {print $1}"
    assert fill_template(filled + left, "ship", context) == "ship: parse $goal 3 ok. ship." + left


def test_the_pauses_between_attempts_double_up_to_a_minute() -> None:
    assert list(retry_delays(3, lambda: 1.0)) == [0.2, 0.4, 0.8]
    assert list(retry_delays(12, lambda: 1.0))[-2:] == [60.0, 60.0]
    assert list(retry_delays(0, lambda: 1.0)) == []


def test_jitter_takes_away_half_at_most() -> None:
    assert next(retry_delays(1, lambda: 0.0)) == pytest.approx(0.1)
