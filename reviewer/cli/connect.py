"""`reviewer connect` and `disconnect`: changes of agents' settings, previewed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from reviewer.agents.connections import Connections, Planned
from reviewer.agents.installed import agent_rows
from reviewer.agents.program import missing_mcp, place_for
from reviewer.agents.wiring import CONNECTABLE, NEVER_RUN, WiringScope, home
from reviewer.cli.inputs import flag, together
from reviewer.cli.output import emit, json_option, moment, narrate, print_text
from reviewer.cli.session import FAILED, Session, Verb, leave, pass_session, update_agents
from reviewer.engine import Engine
from reviewer.errors import ReviewerError
from reviewer.projects import tree_root
from reviewer.system import working_folder
from reviewer.text.for_agents import AgentText

SCOPE = together(
    click.option(
        "--user", "scope", flag_value="user", default="user", help="For all projects (the default)."
    ),
    click.option(
        "--project", "scope", flag_value="project", help="For this project's folder only."
    ),
    click.option(
        "--memory",
        "scope",
        flag_value="memory",
        help="This project's facts in the agent's own memory folder (claude-code, codex).",
    ),
)
YES = click.option("--yes", "-y", is_flag=True, help="Write without asking.")


@click.command(cls=Verb, own_project=True, example="connect claude-code")
@click.argument("agent", required=False, type=click.Choice(tuple(CONNECTABLE)))
@SCOPE
@flag(
    "--block",
    "Also write promoted memories into a marked block of the project's instruction file.",
)
@YES
@json_option("The table as one JSON object a line.")
@pass_session
def connect(
    session: Session,
    agent: str | None,
    scope: str,
    block: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Writes the MCP server and the hooks (for OpenCode: a plugin). Every change is shown first and
    you are asked once; each file is backed up, and `reviewer disconnect` restores it byte for byte.
    Without AGENT: a table of the agents.

    An agent gets memories when a session starts; its own memory folder is left alone. With
    --memory, this project's promoted memories are also written there and kept up to date.
    """
    if agent is None:
        if block or yes or scope != "user":
            raise click.UsageError("name the agent to connect")
        _show_table(session, as_json)
        return
    if as_json:
        raise click.UsageError("--json is for the table, without an agent")
    if block and scope != "project":
        raise click.UsageError("--block needs --project: a block has one project's memories")
    store = session.store_path().absolute()
    root = _root(session, scope)
    triggers: tuple[str, ...] = ()
    if scope != "memory" and store.exists():
        with session.whole_store(create=True) as engine:
            triggers = engine.recall.call_triggers()
    place = place_for(WiringScope(scope), root, store, session.project, triggers)
    connections = Connections(store)
    if scope == "memory":
        from reviewer.agents.memory_folders import facts_of

        with session.listing() as engine:
            project = engine.project or ""
            facts = facts_of(engine, project)
            planned = connections.plan_memory(agent, place, project, facts)
    else:
        block_text = _memories(session) if block else None
        planned = connections.plan_connect(agent, place, block=block_text)
    old = planned.connection
    if not planned.changed and old is not None and old.command == place.command:
        narrate(f"{agent} is already connected.")
        if scope == "project" and store.exists():
            with session.whole_store() as engine:
                if nothing := _bound(session, engine):
                    narrate(nothing)
        return
    own = [word for word in place.command if Path(word).is_absolute()]
    if own and scope == "project":
        narrate(
            f"The files below are in the project, and {' and '.join(own)} on this machine only:"
            " keep them out of commits, or connect with --user."
        )
    if not _agreed(connections, planned, yes):
        return
    is_new = not store.exists()
    with session.whole_store(create=True) as engine:
        if is_new:
            narrate(
                f"Created the store {session.store_path()}. It is empty: {agent} gets "
                "nothing until you promote something. Begin with: reviewer ingest"
            )
        nothing = _bound(session, engine) if scope == "project" and not is_new else ""
        backups = connections.connect(planned)
        update_agents(engine)
    _report(backups, f"Connected {agent}", f"reviewer disconnect {agent}{_flag(scope)}")
    lacking = "" if scope == "memory" else missing_mcp()
    narrate(*filter(None, (*planned.left, *planned.afterwards, nothing, lacking)))


@click.command(cls=Verb, own_project=True, example="disconnect claude-code")
@click.argument("agent", type=click.Choice(tuple(CONNECTABLE)))
@SCOPE
@YES
@pass_session
def disconnect(session: Session, agent: str, scope: str, yes: bool) -> None:
    """A file that nobody has changed since is restored byte for byte. From any other file only
    reviewer's own lines are removed; a line that was changed stays, and is named.
    """
    root = _root(session, scope)
    connections = Connections(session.store_path().absolute())
    connection = connections.of(agent, WiringScope(scope), root)
    if connection is None:
        raise ReviewerError(
            f"{agent} is not connected for {_words(scope, root)}. See: reviewer connect"
        )
    planned = connections.plan_disconnect(connection)
    if planned.changed and not _agreed(connections, planned, yes):
        return
    backups = connections.disconnect(planned)
    if not planned.left:
        _report(backups, f"Disconnected {agent}", f"reviewer connect {agent}{_flag(scope)}")
        return
    if planned.changed:
        narrate(f"Disconnected {agent}, except for:")
    narrate(*planned.left)
    leave(FAILED)


def _root(session: Session, scope: str) -> Path:
    """The folder to connect an agent in: the user's home, or the root of the work tree here."""
    session.refuse_all_projects()
    if scope == "user":
        if session.project is not None:
            raise click.UsageError(
                "a project's name needs the flag --project after connect: for all projects, each "
                "is known by its folder"
            )
        return home()
    if not (root := tree_root()):
        raise ReviewerError(
            f"{working_folder()} is not in a git work tree: connect in a project's folder, or"
            " --user."
        )
    return Path(root)


def _bound(session: Session, engine: Engine) -> str:
    """Bind the folder to the project; returns why its sessions get nothing all the same."""
    engine.bind_folder(session.project)
    return engine.why_agents_get_nothing(session.project)


def _memories(session: Session) -> AgentText:
    with session.listing() as engine:
        text = engine.exports.markdown(engine.project)
    if not text:
        raise ReviewerError("Nothing is promoted yet, so there is no block to write.")
    return text


def _agreed(connections: Connections, planned: Planned, yes: bool) -> bool:
    """Show every difference, and ask once whether to write."""
    if planned.changed:
        narrate(f"Changes to the settings of {planned.agent}:")
    for change in planned.changed:
        print_text(*connections.diff(change))
    count = len(planned.changed)
    names = ", ".join(
        f"{change.plan.path}{' (removed)' if change.removal else ''}" for change in planned.changed
    )
    if yes or not count:
        return True
    if not sys.stdin.isatty():
        narrate(f"Nothing was written. To write {names}, add --yes")
        leave(FAILED)
    narrate(f"Files: {names}")
    if click.confirm("Write this?" if count == 1 else f"Write these {count} files?", err=True):
        return True
    narrate("Nothing was written.")
    return False


def _report(backups: Sequence[Path], done: str, back: str) -> None:
    narrate(f"{done} - {back} takes it back")
    for backup in backups:
        narrate(f"Backup: {backup}")


def _flag(scope: str) -> str:
    return "" if scope == "user" else f" --{scope}"


def _words(scope: str, root: Path) -> str:
    if scope == "memory":
        return f"the memory folder of {root}"
    return "this user" if scope == "user" else f"the project {root}"


def _show_table(session: Session, as_json: bool) -> None:
    store = session.store_path().absolute()
    if store.exists():
        with session.whole_store() as engine:
            rows = agent_rows(store, engine.why_agents_get_nothing)
    else:
        rows = agent_rows(store, lambda _: "")
    emit(
        rows,
        as_json,
        lambda row: (
            row.agent,
            "yes" if row.program else "no",
            ", ".join(each.partition(" ")[0] for each in row.connected) or "-",
            moment(row.last_packet) if row.last_packet else "-",
            moment(row.last_read) if row.last_read else "-",
        ),
        head=("AGENT", "FOUND", "CONNECTED", "LAST PACKET", "LAST SESSION READ"),
    )
    if as_json:
        return
    for row in rows:
        for sentence in filter(None, (*row.missing, row.gets_nothing)):
            narrate(f"{row.agent}: {sentence}")
        if row.never_run:
            narrate(f"{row.agent}: {NEVER_RUN.format(title=row.title)}")
    if not any(row.connected for row in rows):
        narrate("Connect one: reviewer connect AGENT")
