"""The Agents screen: agents in a list; beside it, their settings, last packet and proposals."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from msgspec import Struct
from rich.cells import set_cell_size
from textual import on

from reviewer.agents.agent_files import AgentFiles, GivenPacket
from reviewer.agents.connections import Connection, Connections, Planned
from reviewer.agents.installed import AgentRow, agent_rows
from reviewer.agents.memory_folders import HAVE_MEMORY, facts_of
from reviewer.agents.program import missing_mcp, place_for
from reviewer.agents.wiring import WiringScope, home
from reviewer.engine import Engine
from reviewer.errors import ReviewerError
from reviewer.projects import tree_root, work_tree
from reviewer.text.display import display_line
from reviewer.tui.agents import keys
from reviewer.tui.kit.action import Action
from reviewer.tui.kit.actor import unless
from reviewer.tui.kit.line import Part, apart
from reviewer.tui.kit.list_screen import ListScreen
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.row_list import LoadedList, RowList
from reviewer.tui.kit.text import MARGIN, Run, TextBlock, count, diff_blocks, moment
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.queue.keys import READ_SESSIONS
from reviewer.tui.theme import Glyphs, RowStyles, glyphs

NAME_CELLS = 13
SCOPE_WORDS = {
    WiringScope.USER: "for all projects",
    WiringScope.PROJECT: "for this folder's project",
    WiringScope.MEMORY: "by its memory folder",
}
_MEMORY_FOLDER = "as files that it reads by itself, without hooks"
DEMO = (
    "The demo's store is removed when you quit: run reviewer in one of your projects to connect an"
    " agent."
)
_SPECIFIC = (WiringScope.MEMORY, WiringScope.PROJECT, WiringScope.USER)
GIVES = (
    "Connected, it starts each session with what you promoted for that project.",
    "When a session ends, it is read, and new candidates wait for you in the queue.",
    "During a session it can search your memories and propose new ones, which you also decide on.",
)

NOT_IN_HISTORY = (
    "Connecting changes the agent's files, not the store: it is shown here, not in History, and"
    f" {keys.DISCONNECT.key} takes it back."
)


class AgentState(Struct, frozen=True):
    """An agent as shown, with the latest packet it got."""

    row: AgentRow
    given: GivenPacket | None


class AgentsScreen(ListScreen, pane=keys.AGENTS):
    """Agents on the left; on the right the current one, or the changes of connecting it."""

    tab = "agents"

    def __init__(self, engine: Engine, project: str | None = None) -> None:
        self.agents = AgentList(id="agents")
        self.about = TextPane(title="Agent", id="agent")
        super().__init__(engine, project, self.agents, [self.about], title="Agents")
        self._store = engine.path.absolute()
        self._connections = Connections(self._store)

    def come_back(self) -> None:
        self.reload()

    def reload(self) -> None:
        self.read(self._read_agents, self._show_agents, group="rows")
        self.show_counts()

    def _read_agents(self) -> list[AgentState]:
        files = AgentFiles(self._store)
        rows = agent_rows(self._store, self.engine.why_agents_get_nothing)
        return [AgentState(row, files.given(row.agent)) for row in rows]

    def _show_agents(self, found: list[AgentState]) -> None:
        self.agents.show(found)
        if self.question is None:
            self.follow()

    def follow(self) -> None:
        state = self.agents.current
        if state is not None:
            blocks = agent_blocks(state, glyphs(self.app))
            if not state.row.connected:
                blocks += [TextBlock(""), *self._offer(state.row.title)]
            else:
                blocks += [TextBlock(""), TextBlock(NOT_IN_HISTORY, first=MARGIN)]
            self.about.show(blocks, title=state.row.title)
        self.show_footer()

    def _offer(self, agent: str) -> list[TextBlock]:
        """The benefit of connecting an agent, and the key."""
        if self.host.is_demo:
            return [TextBlock(each, first=MARGIN) for each in (*GIVES, DEMO)]
        key, undo = keys.CONNECT.key, keys.DISCONNECT.key
        how = (
            f"{key} shows the changes to the settings of {agent} before writing them."
            f" {undo} reverts them."
        )
        words = [*GIVES, how, *filter(None, [missing_mcp()])]
        return [TextBlock(each, first=MARGIN) for each in words]

    def _connection(self, agent: str) -> Connection | None:
        """The connection to remove next: of the memory folder, else the project, else the user."""
        root, known = tree_root(), self._connections.all()
        own = [each for each in known if each.agent == agent and each.is_for(root)]
        return min(own, key=lambda each: _SPECIFIC.index(each.scope), default=None)

    def _unless_connected(self, scope: WiringScope) -> str | None:
        """Why an agent cannot be connected in a scope."""
        state = self.agents.current
        if state is None:
            return self.no_rows()
        if self.host.is_demo:
            return DEMO
        if scope is not WiringScope.USER and work_tree() is None:
            return "This folder is not in a git work tree: there is no project to connect."
        if scope is WiringScope.MEMORY and state.row.agent not in HAVE_MEMORY:
            return f"{state.row.title} has no memory folder for others to write to."
        scopes = [each.partition(" ")[0] for each in state.row.connected]
        if scope in scopes and not (state.row.missing or state.row.gets_nothing):
            return f"{state.row.title} is already connected ({SCOPE_WORDS[scope]})."
        return None

    def _not_connected(self) -> str | None:
        state = self.agents.current
        if state is not None and not state.row.connected:
            return f"{state.row.title} is not connected."
        return self.no_rows()

    def offers(self, action: Action) -> bool:
        return action is not keys.DISCONNECT or not self._not_connected()

    def left_question(self) -> None:
        """Show the agent again in place of the difference."""
        self.follow()

    @unless(ListScreen.no_rows)
    async def action_connect_agent(self) -> None:
        reasons = {each: self._unless_connected(each) for each in SCOPE_WORDS}
        if all(reasons.values()):
            raise ReviewerError(reasons[WiringScope.USER] or "")

        async def then(option: Option) -> None:
            scope = WiringScope(option.key)
            if reason := reasons[scope]:
                raise ReviewerError(reason)
            await self._connect(scope)

        about = {WiringScope.MEMORY: _MEMORY_FOLDER}
        options = [
            Option(str(each), words, reasons[each] or about.get(each, ""))
            for each, words in SCOPE_WORDS.items()
        ]
        await self.choose("Connect", options, then)

    async def _connect(self, scope: WiringScope) -> None:
        state = self.agents.current
        if state is None:
            return
        row = state.row
        root = home() if scope is WiringScope.USER else Path(tree_root())
        planned = await to_thread(self._plan, row.agent, scope, root)

        async def write() -> str:
            if scope is WiringScope.PROJECT:
                # Not to a project that is only looked at: its memories would go to agents here.
                await to_thread(self.engine.bind_folder)
                self.status.remark = display_line(self.engine.say_binding())
            await to_thread(self._connections.connect, planned)
            lacking = [] if scope is WiringScope.MEMORY else filter(None, [missing_mcp()])
            done = (
                f"Connected {row.title} {SCOPE_WORDS[scope]} - {keys.DISCONNECT.key} takes it back."
            )
            return " ".join((done, *lacking, *planned.afterwards))

        await self._agree(f"Connect {row.title} {SCOPE_WORDS[scope]}", planned, write)

    async def _agree(
        self, title: str, planned: Planned, write: Callable[[], Awaitable[str]]
    ) -> None:
        lines = [line for each in planned.changed for line in self._connections.diff(each)]
        blocks = diff_blocks(lines)
        blocks += [TextBlock(sentence, "warm") for sentence in planned.left]
        self.zoomed = None  # the question would cover the changes
        self.about.show(blocks or [TextBlock("No file changes.", "dim")], title=title)

        async def yes() -> None:
            done = await write()
            self.reload()
            if planned.left:
                self.say(" ".join(planned.left), bad=True)
            else:
                self.say(done)

        change = f"change {count(len(planned.changed), 'file')} as shown (page down: the rest)"
        # The files are not ours: enter alone changes none.
        await self.confirm(title, change, "change nothing", yes, self.about, current="no")

    def _plan(self, agent: str, scope: WiringScope, root: Path) -> Planned:
        triggers = self.engine.recall.call_triggers()
        place = place_for(scope, root, self._store, triggers=triggers)
        if scope is not WiringScope.MEMORY:
            return self._connections.plan_connect(agent, place)
        chosen = self.engine.choose_project(None, root)
        project = chosen.project
        if project is None:
            raise ReviewerError(f"Nothing is stored for {root} yet.")
        facts = facts_of(self.engine, project)
        return self._connections.plan_memory(agent, place, project, facts)

    @unless(_not_connected)
    async def action_disconnect_agent(self) -> None:
        state = self.agents.current
        connection = self._connection(state.row.agent) if state is not None else None
        if state is None or connection is None:
            return
        title, where = state.row.title, SCOPE_WORDS[connection.scope]
        planned = await to_thread(self._connections.plan_disconnect, connection)

        async def write() -> str:
            await to_thread(self._connections.disconnect, planned)
            return f"Disconnected {title} {where} - {keys.CONNECT.key} connects it again."

        await self._agree(f"Disconnect {title} {where}", planned, write)

    @on(RowList.Opened)
    def action_read_agent(self) -> None:
        self.read_pane(self.about)


class AgentList(LoadedList[AgentState]):
    def show(self, states: Sequence[AgentState]) -> None:
        self.rows = states
        self.rows_changed()

    def row_parts(self, at: int, width: int, style: RowStyles, sign: Glyphs) -> list[Part]:
        text, _, dim, _, _ = style
        row = self.rows[at].row
        parts: list[Part] = [
            (f"{set_cell_size(row.title, NAME_CELLS)} ", text),
            (state_word(row), text if row.connected else dim),
        ]
        end = "found" if row.program else "not found"
        return apart(parts, [(f" {end}", dim)], width, dim, sign.ellipsis)


def state_word(row: AgentRow) -> str:
    """Whether an agent is connected, in a few words."""
    if not row.connected:
        return "not connected"
    if row.missing:
        return "something is missing"
    return "gives nothing here" if row.gets_nothing else "connected"


def _for(connected: str) -> str:
    return "for all projects" if connected == "user" else f"for {connected}"


def agent_blocks(state: AgentState, signs: Glyphs) -> list[TextBlock]:
    """The facts about an agent, and the latest packet it got."""
    row, given = state.row, state.given
    facts = [
        ("program", row.program or "not on the PATH"),
        *([("tested", "not run: its settings follow its documentation")] if row.never_run else []),
        ("connected", ", ".join(map(_for, row.connected)) or "no"),
        ("last packet", moment(row.last_packet) if row.last_packet else "none yet"),
        (
            "read",
            moment(row.last_read)
            if row.last_read
            else "each session, when it ends"
            if any(not each.startswith("memory") for each in row.connected)
            else f"not automatic: {READ_SESSIONS.key} in the queue reads its sessions",
        ),
    ]
    blocks = [TextBlock(value, first=(Run(f" {name:<12}", "faint"),)) for name, value in facts]
    troubles = filter(None, (*row.missing, row.gets_nothing))
    blocks += [TextBlock(each, "warm", first=(Run(f" {signs.rejected} "),)) for each in troubles]
    blocks.append(TextBlock(""))
    if given is None:
        return [*blocks, TextBlock("No packet sent yet.", "dim", first=MARGIN)]
    about = f"Sent in {given.project} on {moment(given.at)}"
    return [*blocks, TextBlock(about, "strong", first=MARGIN), TextBlock(given.text, first=MARGIN)]
