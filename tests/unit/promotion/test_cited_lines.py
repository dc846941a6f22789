"""The records behind quotes in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reviewer.promotion import cited_lines
from reviewer.proposing.values import QuoteProof
from tests.fleet.conftest import FACTS, session_lines


@pytest.mark.parametrize("read_whole", [0, cited_lines.READ_WHOLE])
def test_a_file_is_opened_once_for_all_quotes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_whole: int
) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(session_lines("one", *FACTS))
    opened: list[Any] = []
    real: Any = vars(cited_lines)["read"]

    def counting(*of: Any, **settings: Any) -> Any:
        opened.append(of)
        return real(*of, **settings)

    monkeypatch.setattr(cited_lines, "read", counting)
    monkeypatch.setattr(cited_lines, "READ_WHOLE", read_whole)
    quotes = [QuoteProof(text=FACTS[each], line=each + 1, found=True) for each in (3, 0, 2)]
    found = cited_lines.cite(path, quotes)
    said = [each and each.record.text[each.start : each.end] for each in found]
    assert said == [FACTS[3], FACTS[0], FACTS[2]]
    assert len(opened) == 1
