"""The agents in a list; beside it what each has, was given last, and proposed."""

from __future__ import annotations

import os
from asyncio import to_thread
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from platformdirs import user_data_path
from rich.cells import set_cell_size
from textual import on
from textual.strip import Strip

from reviewer.agents.agent_files import AgentFiles, Given
from reviewer.agents.connections import Connection, Connections, Planned
from reviewer.agents.found import AgentRow, agent_rows
from reviewer.agents.program import program
from reviewer.agents.wiring import Place, Scope, home
from reviewer.engine import Engine
from reviewer.projects import work_tree
from reviewer.promotion.views import QueueQuery, QueueRow
from reviewer.tui.agents import keys
from reviewer.tui.kit import keys as kit_keys
from reviewer.tui.kit.actor import runs
from reviewer.tui.kit.line import Part, cells_of, line_of
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.screen import ListScreen
from reviewer.tui.kit.text import Block, Run, count, moment
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.theme import Glyphs, Palette, glyphs

PROPOSED_SHOWN = 10
NAME_CELLS = 13
_STYLES = {"+": "added", "-": "removed", "@": "faint"}


class AgentState(Struct, frozen=True):
    """An agent as the screen shows it. `proposed`: the latest of its proposals that wait."""

    row: AgentRow
    given: Given | None
    proposed: tuple[QueueRow, ...]
    proposals: int


class AgentsScreen(ListScreen, pane=keys.AGENTS):
    """Agents on the left; on the right one of them, or what connecting it would change."""

    tab = "agents"

    def __init__(self, engine: Engine, project: str | None = None) -> None:
        self.agents = AgentList(id="agents")
        self.about = TextPane(title="Agent", id="agent")
        super().__init__(engine, project, self.agents, [self.about], title="Agents")
        self._store = engine.path.absolute()
        self._connections = Connections(self._store)
        self._asked: tuple[str, Planned] | None = None
        """The action whose difference is shown, and its plan."""

    @runs(kit_keys.REFRESH)
    def refresh_agents(self) -> None:
        self.reload()

    def reload(self) -> None:
        """Read the agents, their files and their proposals again."""
        self.read(self._read_agents, self._show_agents, group="agents")
        self.show_counts()

    def _read_agents(self) -> list[AgentState]:
        tree = work_tree()
        files = AgentFiles(self._store)
        ids = self.engine.queue.ids(QueueQuery(self.project, "candidate", "proposer:mcp"))
        waiting = self.engine.queue.rows(ids)
        found = []
        for row in agent_rows(self._store, root=Path(tree.root) if tree else None):
            own = [each for each in waiting if each.rule == f"mcp.{row.agent}"]
            latest = tuple(own[:PROPOSED_SHOWN])
            found.append(AgentState(row, files.given(row.agent), latest, len(own)))
        return found

    def _show_agents(self, found: list[AgentState]) -> None:
        self.agents.show(found)
        if self._asked is None:
            self.follow()

    def follow(self) -> None:
        self._asked = None
        state = self.agents.current
        if state is not None:
            self.about.show(agent_blocks(state, glyphs(self.app)), title=state.row.title)

    def _connection(self, agent: str) -> Connection | None:
        """The connection that disconnecting takes back: the project's, else the user's."""
        tree = work_tree()
        own = [
            each
            for each in self._connections.all()
            if each.agent == agent
            and (each.scope is Scope.USER or (tree is not None and each.root == tree.root))
        ]
        return min(own, key=lambda each: each.scope is Scope.USER, default=None)

    def _is_connected(self) -> str | None:
        state = self.agents.current
        if state is not None and "user" in state.row.connected and not state.row.missing:
            return f"{state.row.title} is connected already."
        return self.no_rows()

    def _not_connected(self) -> str | None:
        state = self.agents.current
        if state is not None and not state.row.connected:
            return f"{state.row.title} is not connected."
        return self.no_rows()

    @runs(keys.CONNECT, unless=_is_connected)
    async def connect_agent(self) -> None:
        """Show the difference; the second time write it."""
        state = self.agents.current
        if state is None:
            return
        planned = self._confirmed("connect")
        if planned is None:
            agent = state.row.agent
            planned = await to_thread(lambda: self._connections.plan_connect(agent, self._place()))
            self._ask("connect", planned)
            return
        await to_thread(self._connections.connect, planned)
        self._asked = None
        self.reload()
        self.say(" ".join((f"Connected {state.row.title} - d takes it back.", *planned.afterwards)))

    @runs(keys.DISCONNECT, unless=_not_connected)
    async def disconnect_agent(self) -> None:
        """The same for taking it back."""
        state = self.agents.current
        connection = self._connection(state.row.agent) if state is not None else None
        if state is None or connection is None:
            return
        planned = self._confirmed("disconnect")
        if planned is None:
            place = self._place_of(connection)
            planned = await to_thread(self._connections.plan_disconnect, connection, place)
            self._ask("disconnect", planned)
            return
        await to_thread(self._connections.disconnect, planned)
        self._asked = None
        self.reload()
        if planned.left:
            self.say(" ".join(planned.left), bad=True)
        else:
            self.say(f"Disconnected {state.row.title} - c connects it again.")

    def _confirmed(self, action: str) -> Planned | None:
        """The plan that is shown, if it is this action's for the agent under the cursor."""
        state = self.agents.current
        if self._asked is None or state is None:
            return None
        asked, planned = self._asked
        return planned if (asked, planned.agent) == (action, state.row.agent) else None

    def _ask(self, action: str, planned: Planned) -> None:
        self._asked = (action, planned)
        lines = [line for each in planned.changed for line in self._connections.diff(each)]
        blocks = [
            Block(line, "text" if line[:3] in ("+++", "---") else _STYLES.get(line[:1], "dim"))
            for line in lines
        ]
        key = self.key_of(keys.CONNECT if action == "connect" else keys.DISCONNECT)
        self.about.show(blocks or [Block("No file changes.", "dim")], title=f"To {action}")
        files = count(len(planned.changed), "file")
        self.say(f"{key} again changes {files}; escape leaves all as it is.")

    @runs(kit_keys.BACK)
    def back(self) -> None:
        """Leave the question first."""
        if self._asked is not None:
            self.follow()
            self.say("Nothing was written.")
            return
        super().back()

    @on(RowList.Opened)
    @runs(keys.READ)
    def read_agent(self) -> None:
        self.read_pane(self.about)

    def _place(self) -> Place:
        return self._placed(Scope.USER, home())

    def _place_of(self, connection: Connection) -> Place:
        return self._placed(connection.scope, Path(connection.root))

    def _placed(self, scope: Scope, root: Path) -> Place:
        command = [program(shared=scope is Scope.PROJECT)]
        if self._store != user_data_path("reviewer", appauthor=False) / "reviewer.db":
            command += ["--db", str(self._store)]
        return Place(scope=scope, root=root, command=tuple(command), environment=dict(os.environ))


class AgentList(RowList):
    """One row for each agent."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._states: Sequence[AgentState] = ()
        self._cursor = 0

    def show(self, states: Sequence[AgentState]) -> None:
        self._states = states
        self.rows_changed()

    @property
    def total(self) -> int:
        return len(self._states)

    @property
    def cursor(self) -> int:
        return self._cursor

    def put_cursor(self, index: int) -> None:
        self._cursor = index

    def read_window(self, start: int, stop: int) -> None:
        """All rows are there already."""

    @property
    def current(self) -> AgentState | None:
        return self._states[self._cursor] if self._cursor < len(self._states) else None

    def row_strip(self, at: int, width: int, style: Palette, sign: Glyphs) -> Strip:
        here = at == self._cursor
        dim, text = (style.dim_here, style.text_here) if here else (style.dim, style.text)
        row = self._states[at].row
        parts: list[Part] = [
            (sign.bar if here and self.has_focus else " ", style.accent_here),
            (f"{set_cell_size(row.title, NAME_CELLS)} ", text),
            (state_word(row), text if row.connected else dim),
        ]
        end = f"{row.version or ('found' if row.program else 'not found')} "
        gap = width - cells_of(parts) - len(end)
        if gap > 0:
            parts += [(" " * gap, dim), (end, dim)]
        return line_of(parts, width, text, sign.ellipsis)


def state_word(row: AgentRow) -> str:
    """Whether an agent is connected, in a few words."""
    if not row.connected:
        return "not connected"
    return "something is missing" if row.missing else "connected"


def agent_blocks(state: AgentState, signs: Glyphs) -> list[Block]:
    """What is known of an agent, what it was given last, and what it proposed."""
    row, given = state.row, state.given
    facts = [
        ("program", row.program or "not on the PATH"),
        ("version", row.version or "not known"),
        ("connected", ", ".join(f"for {each}" for each in row.connected) or "no"),
        ("last packet", moment(row.last_packet) if row.last_packet else "none yet"),
        ("last read", moment(row.last_read) if row.last_read else "no session yet"),
    ]
    blocks = [Block(value, first=(Run(f" {name:<12}", "faint"),)) for name, value in facts]
    blocks += [Block(each, "warm", first=(Run(f" {signs.rejected} "),)) for each in row.missing]
    margin = (Run(" "),)
    waiting = count(state.proposals, "proposal")
    verb = "waits" if state.proposals == 1 else "wait"
    blocks += [Block(""), Block(f"{waiting} of it {verb} for you", "strong", first=margin)]
    blocks += [Block(f"#{each.id} {each.content}", first=margin) for each in state.proposed]
    if state.proposals > len(state.proposed):
        blocks.append(Block(f"and {state.proposals - len(state.proposed):,} more", "faint"))
    blocks.append(Block(""))
    if given is None:
        return [*blocks, Block("No packet was given to it yet.", "dim", first=margin)]
    about = f"Given to it in {given.project} on {moment(given.at)}, as it was sent"
    return [*blocks, Block(about, "strong", first=margin), Block(given.text, first=margin)]
