"""`reviewer share`, `decisions` and `sync`: several people or machines that decide."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from msgspec.structs import asdict

from reviewer import sharing
from reviewer.cli.inputs import FILE, flag, option
from reviewer.cli.output import count, json_option, narrate, print_json, print_text
from reviewer.cli.session import FAILED, Session, Verb, VerbSection, leave, pass_session
from reviewer.errors import SourceError, StoreError
from reviewer.files import login_name, reason_of
from reviewer.promotion.exchange.decision_lines import (
    DecisionFile,
    read_decisions,
    write_decisions,
)
from reviewer.promotion.exchange.signatures import signature_of, signer
from reviewer.promotion.exchange.signed_decisions import ImportedDecisions
from reviewer.settings import load_settings


@click.command(cls=Verb, example="share staff --db /srv/reviewer/team.db")
@click.argument("group", required=False, metavar="[GROUP]")
@flag("--stop", "Make the store private again.")
@pass_session
def share(session: Session, group: str | None, stop: bool) -> None:
    """Everybody's decisions carry their login name. Drafts, runs and backups stay each person's
    own. Without GROUP it says who may open the store.
    """
    store = session.store_path()
    if stop and group:
        raise click.UsageError("give a group, or --stop")
    if group:
        with session.whole_store():  # it is a store, and of this version
            found = sharing.share(store, group)
    else:
        found = sharing.stop_sharing(store) if stop else sharing.sharing(store)
    for path in found.left_alone:
        narrate(f"{path} belongs to another member and keeps its rights.")
    if found.group:
        print_text(f"Members of {found.group} can open {store}.")
    else:
        print_text(f"Only {found.owner} can open {store}.")


@click.command(cls=Verb, example="sync ~/Dropbox/reviewer")
@click.argument("folder", type=FILE, metavar="DIR")
@json_option("One JSON object.")
@pass_session
def sync(session: Session, folder: Path, as_json: bool) -> None:
    """DIR is a folder that git, Dropbox or a network share keeps in sync. Each machine has its own
    file in it, with what you promoted, rejected and took back in this project: no sessions, and no
    quotes of them. Conflicting decisions wait at the top of the queue. The settings `key`
    and `signers` of [sync] sign it.
    """
    settings = load_settings().sync
    with session.changing(create=True) as engine:
        done = engine.syncing.sync(
            folder,
            session.target(engine),
            key=settings.key,
            signers=settings.signers,
        )
    if as_json:
        print_json(asdict(done))
    narrate(*done.problems)
    if not as_json:
        back = f" - reviewer undo {done.act} takes it back" if done.act else ""
        narrate(f"{count(done.sent, 'decision')} sent, {done.taken:,} taken{back}")
    if done.conflicts:
        narrate(
            "Decided differently elsewhere, so decide again: "
            f"{', '.join(f'#{each}' for each in done.conflicts[:10])}"
        )
    if done.unwritten:
        narrate(f"{done.unwritten}. Decisions made here are sent with the next sync.")
        leave(FAILED)


@click.group(cls=VerbSection)
def decisions() -> None:
    """A decision is found again by project, kind, type and wording, so it applies to any store."""


@decisions.command(example="decisions export --sign ~/.ssh/id_ed25519 --out anna.jsonl")
@option(
    "--sign KEY",
    "The SSH key to sign with; the signature goes to FILE.sig.",
    into="key",
    required=True,
    type=FILE,
)
@option("--out FILE", "The new file.", required=True, type=FILE)
@pass_session
def export(session: Session, key: Path, out: Path) -> None:
    """Write what you have promoted and rejected in this project to a file, and sign it.

    Of promoted memories it has up to three passages, with the names of their files.
    """
    for path in (out, signature_of(out)):
        if path.exists():
            raise StoreError(f"{path} exists: name another file.")
    with session.reading() as engine:
        if engine.project is None:
            raise click.UsageError("name the project with --project NAME")
        actor = session.actor or login_name()
        header, lines = engine.signed_decisions.export(engine.project, actor)
    try:
        write_decisions(out, header, lines, str(key))
    except OSError as problem:
        raise StoreError(f"{out} cannot be written: {reason_of(problem)}.") from problem
    number = count(len(lines), "decision")
    narrate(f"{number} of {actor} in {out}, signed in {signature_of(out)}.")


@decisions.command("import", example="decisions import anna.jsonl --allowed signers")
@click.argument("file", type=FILE, metavar="FILE")
@option(
    "--allowed SIGNERS",
    "Whose signatures count: a name and a public key a line, as ssh-keygen(1) describes.",
    required=True,
    type=FILE,
)
@option("--from-project NAME", "The project of the decisions, where it is another one than this.")
@json_option("One JSON object.")
@pass_session
def import_(
    session: Session,
    file: Path,
    allowed: Path,
    from_project: str | None,
    as_json: bool,
) -> None:
    """Apply the signed decisions of somebody else, as one act in their name.

    FILE.sig is the signature. Decisions that conflict with yours are refused and listed. Promoted
    memories that this store does not have are added, with their line of FILE as evidence.
    """
    found = read_decisions(file)
    session.actor = signer(file, found.data, allowed)
    with session.changing(create=True) as engine:
        project = session.target(engine)
        _require_project(found, project, from_project)
        done = engine.signed_decisions.apply(found, project)
    _report(done, as_json, session.actor)


def _require_project(found: DecisionFile, project: str, named: str | None) -> None:
    """Raise SourceError for decisions of another project, unless that one was named."""
    header = found.header
    if named is not None and named != header.project:
        raise SourceError(f"These are decisions of project {header.project}, not of {named}.")
    if named is None and header.project != project:
        raise SourceError(
            f"These are decisions of project {header.project}, and this is {project}. To apply "
            f"them all the same, name it: --from-project {shlex.quote(header.project)}"
        )


def _report(done: ImportedDecisions, as_json: bool, actor: str) -> None:
    if as_json:
        print_json({**asdict(done), "actor": actor})
        return
    for each in done.refused:
        print_text(f"refused  {each.why}; {actor} {each.verdict}: {each.content}")
    if done.same:
        narrate(f"{count(done.same, 'decision')} agreed with this store already.")
    if done.act:
        narrate(f"{done.title} - reviewer undo {done.act} takes all of it back")
    else:
        narrate("Nothing was changed.")
