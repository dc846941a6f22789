"""The candidates of one file, without a store: `reviewer extract`."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import msgspec

from reviewer.clock import iso, utc_now
from reviewer.extraction.confidence import setting_of
from reviewer.extraction.extract import cited_lines
from reviewer.extraction.ranking import CAP, Ranking, best_first
from reviewer.promotion.rows.enqueue import NewRow
from reviewer.promotion.rows.masked_records import mask_record
from reviewer.promotion.views import CandidateView, SourceRef
from reviewer.promotion.waves.candidate_collector import CandidateCollector
from reviewer.sources.stream import read


def extract_file(
    path: Path,
    *,
    project: str,
    line_start: int = 0,
    line_end: int | None = None,
    top: int = CAP,
) -> list[CandidateView]:
    """The best `top` candidates of a file's lines, best first; ids count from 1.

    Raises SourceError.
    """
    now = utc_now()
    stream = read(path, line_start=line_start, line_end=line_end)
    collector = CandidateCollector(lambda _: None)
    collector.take((mask_record(each)[0] for each in stream.records()), setting_of(path, now))
    best = islice(best_first(collector.candidates), top)
    return [
        _view(ranking, number, path, project, iso(now)) for number, ranking in enumerate(best, 1)
    ]


def _view(ranking: Ranking, number: int, path: Path, project: str, now: str) -> CandidateView:
    candidate = ranking.candidate
    first, last = cited_lines(candidate)
    values = {
        **NewRow.of(ranking).columns,
        "id": number,
        "status": "candidate",
        "deferred": False,
        "edited": False,
        "project": project,
        "rank": round(ranking.score, 6),
        "flags": candidate.flags,
        "sessions": len({item.record.session for item in (candidate, *ranking.also)}),
        "refs": 0,
        "members": 0,
        "first_seen": now,
        "last_seen": now,
        "pending_since": now,
        "decided_at": None,
        "leader_id": None,
        "superseded_by": None,
        "source": SourceRef(str(path), first, last, candidate.record.key),
    }
    return msgspec.convert(values, CandidateView)
