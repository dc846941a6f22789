"""Updates what agents read after acts of the store: moments, memory folders, hooks at calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewer.errors import ReviewerError
from reviewer.files import read_own
from reviewer.sharing import personal

if TYPE_CHECKING:
    from reviewer.agents.connections import Tell
    from reviewer.engine import Engine


def bring_up_to_date(engine: Engine) -> list[str]:
    """Derive moments and rewrite the memory files of changed projects, after an act; returns
    sentences about failures.

    Called after every act, so the record of connections is not even parsed without such a folder.
    """
    try:
        engine.recall.derive()  # a hook does not: until then a changed memory is not recalled
        if b'"memory"' in read_own(personal(engine.path, "-agents") / "connections.json"):
            return _rewritten(engine)
    except FileNotFoundError:
        pass  # no agent was ever connected
    except (ReviewerError, OSError) as problem:
        return [str(problem)]
    return []


def update_call_hooks(engine: Engine, tell: Tell) -> list[str]:
    """Write guards and the other triggers of hooks at calls into the settings of connected agents;
    returns sentences about failures. `tell`: see `Connections.follow_triggers`.
    """
    if not (personal(engine.path, "-agents") / "connections.json").exists():
        return []
    from reviewer.agents.connections import Connections  # late: most stores have no agent

    try:
        connections = Connections(engine.path.absolute(), clock=engine.clock)
        return connections.follow_triggers(engine.recall.call_triggers, tell)
    except (ReviewerError, OSError) as problem:
        return [str(problem)]


def _rewritten(engine: Engine) -> list[str]:
    # late: most acts have no memory folder to update
    from reviewer.agents.agent_files import AgentFiles
    from reviewer.agents.connections import Connections
    from reviewer.agents.memory_folders import facts_of, memory_wiring
    from reviewer.agents.wiring import FileKind, WiringScope

    store = engine.path.absolute()
    problems: list[str] = []
    with AgentFiles(store).lock("memory", wait=True):  # the last to read is the last to write
        connections = Connections(store, clock=engine.clock)
        for connection in connections.all():
            if connection.scope is WiringScope.MEMORY and connection.project:
                agent, project = connection.agent, connection.project
                try:
                    facts = facts_of(engine, project)
                    wiring = memory_wiring(agent, connection.place, project, facts)
                    own = [part.text for part in wiring.parts if part.kind is FileKind.OWN]
                    problems += connections.rewrite(connection, own)
                except (OSError, ReviewerError) as problem:
                    problems.append(f"The memory folder of {agent}: {problem}")
    return problems
