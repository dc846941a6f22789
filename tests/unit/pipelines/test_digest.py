"""Long answers in few tokens: how they begin, and what is found in the rest."""

from __future__ import annotations

import pytest

from reviewer.pipelines.digest import digest
from reviewer.pipelines.dot import parse_dot
from reviewer.pipelines.preamble import build_preamble
from reviewer.pipelines.values import RunHistory, Stage
from reviewer.text.tokens import counter

COUNT = counter().count
ANSWER = """I looked at every place where the till prints a receipt.

## What I read

I opened the driver and the queue first. Then I read the settings page and the two tests beside it.
The driver has not changed since March, and nobody has asked for anything there in the meantime.

```python
def feed(lines):
    for line in lines:
        printer.write(line)
```

## What is wrong

The paper jam comes from `feed_lines()` in `printer/driver.py`, which never waits for the cutter.
Because of that every second receipt is cut in half when the shop is busy.

## What I changed

I added a wait of 80 ms after each cut in `printer/driver.py`, and all 14 tests pass.
I decided against a queue of its own, because the cutter has no buffer.

## What is left

The settings page still shows the old default of 40 ms. It has to say 80 ms before the release.
"""


@pytest.mark.parametrize("room", [90, 140, 200])
def test_it_keeps_the_room_the_beginning_and_what_was_found_further_down(room: int) -> None:
    found = digest(ANSWER, room, COUNT)
    assert COUNT(found) <= room
    assert found.startswith("I looked at every place where the till prints a receipt.")
    assert "80 ms" in found
    assert room < 200 or "feed_lines()" in found
    assert found.endswith(f"[summary of {len(ANSWER):,} characters]")
    assert "```" not in found


@pytest.mark.parametrize(
    "text", ["", "x" * 9_000, "\n".join(f"| {n} | {n * n} |" for n in range(900)), '{"a": 1}' * 900]
)
def test_what_is_no_prose_has_no_summary(text: str) -> None:
    assert digest(text, 120, COUNT) == ""


def test_too_little_room_has_no_summary() -> None:
    assert digest(ANSWER, 30, COUNT) == ""


@pytest.mark.parametrize("mode", ["compact", "summary:medium", "summary:high"])
def test_a_preamble_draws_on_the_summary_of_a_long_answer(mode: str) -> None:
    pipeline = parse_dot(
        "digraph shop { s [shape=Mdiamond]; look [prompt=L]; e [shape=Msquare]; s -> look -> e }"
    )
    stages = tuple(Stage("look", notes=ANSWER) for _ in range(60))
    text = build_preamble(mode, pipeline, RunHistory("r", stages), "e", room=600).text
    assert "80 ms" in text
    assert f"[summary of {len(ANSWER.strip()):,} characters]" in text
