"""What a face can do without a store, and without the time that importing the engine takes.

Beside `engine.py`: agents call `reviewer packet --context-dir` in hooks, where start-up counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reviewer.projects import default_project

if TYPE_CHECKING:
    from reviewer.compression.compaction_report import CompactionReport
    from reviewer.compression.file_summary import FileSummary
    from reviewer.llm.local import LocalServer
    from reviewer.llm.model import ChatModel
    from reviewer.packets.prepared import Prepared as Prepared
    from reviewer.packets.values import Packet as Packet
    from reviewer.packets.values import PacketItem as PacketItem
    from reviewer.pipelines.rules import PipelineRules
    from reviewer.promotion.views import CandidateView
    from reviewer.settings import Settings

__all__ = [
    "assemble",
    "check_model",
    "compaction_reports",
    "context_folder",
    "default_project",
    "default_store",
    "explained",
    "extract_file",
    "open_model",
    "open_other_models",
    "packet_json",
    "pipeline_rules",
    "prepare_folder",
    "require_paths",
    "serve_model",
    "summarize_file",
    "write_packet",
]


def prepare_folder(
    folder: Path, *, now: datetime, task: str = "", counting: str, marks: bool = False
) -> Prepared:
    """A context folder, scored for a task and a date. Raises SourceError for what is none."""
    from reviewer.packets import prepared

    return prepared.prepare_folder(folder, now=now, task=task, counting=counting, marks=marks)


def context_folder(path: Path) -> Path | None:
    """The context folder at a path, or None."""
    from reviewer.errors import SourceError
    from reviewer.packets.context_folder import find_folder

    try:
        return find_folder(path)
    except SourceError:
        return None


def assemble(
    prepared: Prepared, budget: int, *, pinned: Collection[str] = (), muted: Collection[str] = ()
) -> Packet:
    """The packet for a budget; see `packets/assembly.py`."""
    from reviewer.packets import assembly

    return assembly.assemble(prepared, budget, pinned=pinned, muted=muted)


def packet_json(packet: Packet) -> dict[str, Any]:
    """A packet as one object."""
    from reviewer.packets.output import to_json

    return to_json(packet)


def explained(packet: Packet) -> Iterator[tuple[str, ...]]:
    """A row for each item of a packet: id, section, state, tokens, score, title, why."""
    from reviewer.packets import output

    return output.explained(packet)


def write_packet(
    text: str, path: Path, *, replace: bool = False, made_from: Path | None = None
) -> None:
    """Write a packet into a file, never over something else, nor, also with `replace`, over what
    it was made from: a context folder or a store. Raises ReviewerError.
    """
    from reviewer.packets import output

    output.write_packet(text, path, replace=replace, made_from=made_from)


def extract_file(
    path: Path,
    *,
    project: str,
    line_start: int = 0,
    line_end: int | None = None,
    top: int = 50,
    now: datetime | None = None,
) -> list[CandidateView]:
    """What a file's lines would propose, best first, with no store touched. Raises SourceError."""
    from reviewer.promotion import preview

    return preview.extract_file(
        path, project=project, line_start=line_start, line_end=line_end, top=top, now=now
    )


def pipeline_rules() -> PipelineRules:
    """What can be said of a pipeline file without a store."""
    from reviewer.pipelines.rules import PipelineRules

    return PipelineRules()


def open_model(settings: Settings) -> ChatModel:
    """The model that the settings name; nothing is sent yet. Raises ModelError for none."""
    from reviewer.llm import door

    return door.open_model(settings)


def open_other_models(settings: Settings) -> dict[str, ChatModel]:
    """The other models that the settings know, by name. Raises ModelError."""
    from reviewer.llm import door

    return door.open_others(settings)


def check_model(settings: Settings) -> None:
    """Raise ModelError for a `[model]` that no request could be sent to."""
    from reviewer.llm import door

    door.check_model(settings)


def serve_model(weights: Path | None, port: int) -> LocalServer:
    """A small model served on this machine until it is closed. Raises ModelError."""
    from reviewer.llm.local import LocalServer

    return LocalServer(weights, port)


def summarize_file(
    path: Path,
    *,
    levels: Iterable[str] = ("detailed", "brief", "tags"),
    line_start: int = 0,
    line_end: int | None = None,
    max_tokens: int | None = None,
) -> list[FileSummary]:
    """A file's lines at each level by the offline engine, with no store touched.

    `max_tokens` is a hard ceiling on each content. Raises SourceError.
    """
    from reviewer.compression import file_summary
    from reviewer.compression.values import Level

    return file_summary.summarize_file(
        path,
        levels=[Level[level.upper()] for level in levels],
        line_start=line_start,
        line_end=line_end,
        max_tokens=max_tokens,
    )


def compaction_reports(paths: Iterable[Path]) -> Iterator[CompactionReport]:
    """What past compactions of transcripts dropped that was needed later. Raises SourceError."""
    from reviewer.compression.compaction_report import report_compactions

    for path in paths:
        yield from report_compactions(path)


def require_paths(paths: Iterable[Path]) -> None:
    """Raise SourceError when one of the paths cannot be read because it is not there.

    For a look before a store is opened, and made, for them.
    """
    from reviewer.sources.walk import walk

    walk([path.absolute() for path in paths])


def default_store() -> Path:
    """The store in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("reviewer", appauthor=False) / "reviewer.db"
