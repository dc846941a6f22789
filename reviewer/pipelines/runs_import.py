"""Opens what a run's stages said as a context (issue: conversations in the Commits screen)."""

from __future__ import annotations

from pathlib import Path

import msgspec

from reviewer.clock import Clock
from reviewer.commits.contexts import Contexts
from reviewer.commits.values import Imported
from reviewer.pipelines.run_errors import RunError
from reviewer.pipelines.run_files import plain_name, write_whole
from reviewer.pipelines.runs import Runs
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger


def import_conversation(
    database: Database,
    ledger: Ledger,
    clock: Clock,
    runs: Runs,
    run_id: str,
    thread: str | None,
    name: str | None,
) -> Imported:
    """A thread of a run, or all of its stages, as a context, by way of a chat file in the run's
    folder: that is what its commits come from.

    Raises UnknownIdError, CheckpointError, and RunError when there is nothing to import.
    """
    view = runs.store.get(run_id)
    turns = runs.conversation(view.run_id, thread)
    if not turns:
        raise RunError(f"No stage of the run {view.run_id} has said anything yet.")
    messages = [
        message
        for turn in turns
        for message in (
            {"role": "user", "content": turn.prompt},
            {"role": "assistant", "name": turn.node, "content": turn.answer},
        )
        if message["content"]
    ]
    path = Path(view.folder) / f"conversation-{plain_name(thread or 'all')}.json"
    write_whole(path, msgspec.json.format(msgspec.json.encode(messages)))
    title = f"{view.run_id} {thread}" if thread else view.run_id
    return Contexts(database, ledger, clock).import_file(
        path, project=view.project, name=name or title
    )
