"""Candidates by columns, which are checked, masked and flagged many at a time.

Most rows have nothing to mask: patterns that look at whole columns find the few that may have, and
only these are looked at as `candidate_row` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, reduce
from typing import Any, get_type_hints

import msgspec
from msgspec import Struct

from reviewer.extraction.flags import flags_of
from reviewer.fleet.candidate_row import (
    CANDIDATE,
    EMPTY_PROOF,
    NAMES,
    Row,
    checked,
    flagged,
    require_counts,
    require_key,
    require_meaning,
    require_said,
    without_secrets,
)
from reviewer.fleet.values import extra
from reviewer.text.secrets.prefilter import patterns

Columns = dict[str, list[Any]]
"""The values of each of NAMES."""

_REPEATED = frozenset({
    "path", "format", "kind", "type", "leader", "proposer", "rule", "extractor_version", "prior",
    "signal", "freshness", "confidence", "flags", "need", "scope", "proof", "name", "slot",
    "attributes", "relations", "record", "session", "at", "role", "use", "shape", "sidechain",
})  # fmt: skip
"""Columns in which many rows have the same value."""
_MASKED_BY_VALUE = (
    "record", "session", "rule", "extractor_version", "need", "flags", "format",
)  # fmt: skip


class CleanColumns(Struct, frozen=True):
    """Columns without secrets and with their flags: only `clean_columns` makes them."""

    columns: Columns
    masked: dict[int, int]
    """How many secrets a row had, by its position."""


def columns_of(batch: Any) -> Columns:
    """The columns of a batch of Arrow. Values that many rows have are the same objects."""
    return {
        name: _shared(batch.column(name)) if name in _REPEATED else batch.column(name).to_pylist()
        for name in NAMES
    }


def _shared(array: Any) -> list[Any]:
    coded = array.dictionary_encode()
    values = dict(enumerate(coded.dictionary.to_pylist()))  # a missing number is a missing value
    return list(map(values.get, coded.indices.to_pylist()))


def are_right(batch: Any, columns: Columns) -> bool:
    """Whether all rows are what they should be; if not, `checked` says which is not, and why."""
    if any(str(batch.column(name).type) != CANDIDATE[name] for name in NAMES):
        return False
    try:
        _check(columns)
    except ValueError:  # msgspec.ValidationError is one
        return False
    return True


def of_rows(rows: Sequence[Row]) -> tuple[Any, Columns]:
    """The columns of rows, also as a batch of Arrow, whichever types they had in the file."""
    pa = extra("pyarrow")
    columns = {name: [getattr(row, name) for row in rows] for name in NAMES}
    kinds = {"string": pa.string(), "int64": pa.int64(), "double": pa.float64(), "bool": pa.bool_()}
    schema = pa.schema([(name, kinds[CANDIDATE[name]]) for name in NAMES])
    return pa.record_batch(list(columns.values()), schema=schema), columns


def _check(columns: Columns) -> None:
    for name, values in columns.items():
        msgspec.convert(list(set(values)) if name in _REPEATED else values, _types()[name])
    for each in set(zip(*(columns[name] for name in _WITH_MEANING), strict=True)):
        require_meaning(*each)
    if any(map(int.__gt__, columns["span_start"], columns["span_end"])):
        raise ValueError("a span ends before it begins")
    for counts in set(zip(columns["seen"], columns["sessions"], columns["authors"], strict=True)):
        require_counts(*counts)
    texts = zip(
        columns["key"], columns["content"], columns["excerpt"], columns["proof"], strict=True
    )
    for key, content, excerpt, proof in texts:
        if key != content.lower():
            require_key(key, content)
        if content not in excerpt:
            require_said(content, excerpt, proof)


_WITH_MEANING = ("kind", "type", "proof", "attributes", "relations")


@cache
def _types() -> dict[str, Any]:
    hints = get_type_hints(Row, include_extras=True)
    return {name: list[hints[name]] for name in NAMES}  # type: ignore[valid-type]


def clean_columns(batch: Any, columns: Columns) -> CleanColumns:
    """The columns of a batch without secrets and with their flags; takes `columns` over.

    Anybody may have written the file.
    """
    rows = {number: _row(columns, number) for number in _may_have_secrets(batch, columns)}
    without = dict(zip(rows, without_secrets(list(rows.values())), strict=True))
    masked = {number: found for number, (_, found) in without.items() if found}
    changed = {number: each for number, each in without.items() if each[0] is not rows[number]}
    look = changed.keys() | _with_flags(columns) | _with_other_keys(columns)
    seen = {number: changed.get(number) or (_row(columns, number), 0) for number in sorted(look)}
    for number, clean in zip(seen, flagged(list(seen.values())), strict=True):
        for name in NAMES:
            value = getattr(clean.row, name)
            if value != columns[name][number]:
                columns[name][number] = value
    return CleanColumns(columns, masked)


def _row(columns: Columns, number: int) -> Row:
    return checked([columns[name][number] for name in NAMES])


def _with_other_keys(columns: Columns) -> set[int]:
    each = zip(columns["key"], columns["content"], strict=True)
    return {number for number, (key, content) in enumerate(each) if key not in content.lower()}


def _may_have_secrets(batch: Any, columns: Columns) -> list[int]:
    pa, pc = extra("pyarrow"), extra("pyarrow.compute")
    each = zip(columns["content"], columns["excerpt"], strict=True)
    apart = [number for number, (content, excerpt) in enumerate(each) if content not in excerpt]
    contents = batch.column("content").take(pa.array(apart, pa.int64()))
    values = [pc.unique(batch.column(name)).drop_null() for name in _MASKED_BY_VALUE]
    # All together: each call of a pattern has to compile it.
    texts = pa.concat_arrays([batch.column("excerpt"), contents, *values])
    hits = _where_any(texts.cast(pa.binary()), patterns())
    rows, others = batch.num_rows, batch.num_rows + len(apart)
    found = {at for at in hits if at < rows}
    found.update(apart[at - rows] for at in hits if rows <= at < others)
    suspicious = {texts[at].as_py() for at in hits if at >= others}
    for name in _MASKED_BY_VALUE:
        found.update(_having(columns[name], suspicious))
    found.update(_having(columns["kind"], {"entity"}))
    found.update(n for n, proof in enumerate(columns["proof"]) if proof != EMPTY_PROOF)
    return sorted(found)


def _having(values: Sequence[Any], wanted: set[Any]) -> Iterable[int]:
    return (number for number, each in enumerate(values) if each in wanted) if wanted else ()


def _with_flags(columns: Columns) -> set[int]:
    each = zip(columns["content"], columns["role"], strict=True)
    return {number for number, (content, role) in enumerate(each) if flags_of(content, role)}


def _where_any(texts: Any, some: Sequence[str]) -> list[int]:
    """Positions of the texts that one of the patterns finds."""
    pc = extra("pyarrow.compute")
    if not len(texts):
        return []
    found = (pc.match_substring_regex(texts, pattern) for pattern in some)
    return list(pc.indices_nonzero(reduce(pc.or_, found)).to_pylist())
