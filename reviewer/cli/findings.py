"""`reviewer findings`: failures, refusals and corrections in the sessions read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from reviewer.cli.inputs import flag, limit_option
from reviewer.cli.output import count, emit, json_option, narrate, table
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.promotion.rows.finding_rows import FindingView

HOW_TO_PROPOSE = "An installed agent or a model proposes statements: reviewer propose"


def there_are(found: Sequence[FindingView]) -> str:
    """What there is although nothing waits."""
    return f"{count(len(found), 'finding')}: reviewer findings"


@click.command(cls=Verb)
@flag("--again", "Only findings in two sessions or more.")
@limit_option()
@json_option()
@pass_session
def findings(session: Session, again: bool, limit: int | None, as_json: bool) -> None:
    """Findings come from the sessions themselves: failures with the change that made them pass,
    calls that you refused with your words, messages after which the agent's last act was changed,
    and problems of the environment with the way out. Sorted by number of sessions, then by calls
    lost.

    A failure is queued once two sessions show it and a remedy that lasts: the same command in
    both or, for a linter, a complete replacement. So is a command that you refused twice with
    words. Anything else needs a reader: `reviewer propose`.
    """
    with session.listing() as engine:
        found = engine.findings(engine.project)
    shown = [each for each in found if each.sessions > 1 or not again]
    emit(
        shown[:limit],
        as_json,
        lines=_lines,
        empty="Nothing was found." if found else "No findings yet. Read sessions: reviewer ingest",
    )
    if not as_json and limit is not None and limit < len(shown):
        narrate(f"{limit:,} of {len(shown):,}")


def _lines(finding: FindingView) -> Iterator[str]:
    times = f", {finding.times:,} times" if finding.times > finding.sessions else ""
    price = (
        f"{count(finding.sessions, 'session')}, {count(finding.cost, 'call')}{times},"
        f" last {finding.last[:10]}"
    )
    where = f" `{finding.command}`" if finding.command else ""
    yield f"{finding.kind}{where}  ({price})"
    rows = [("", finding.text)]
    if finding.words:
        rows.append(("said", finding.words))
    if finding.fix:
        rows.append(("then" if finding.words else "passed", finding.fix))
    yield from table(("  " + head, " ".join(text.split())) for head, text in rows)
