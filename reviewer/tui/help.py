"""The help: every action by key, of the menu and of other screens, found by typing.

Before typing it lists the keys that work with the current focus, most useful first, and the signs.
An action that cannot run now is grey and shows why, too.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from reviewer.text.signs import MEANINGS
from reviewer.tui.actions import PANES
from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, shown_key
from reviewer.tui.kit.actor import Actor, reachable
from reviewer.tui.kit.list_screen import ListScreen
from reviewer.tui.kit.option import Option

if TYPE_CHECKING:
    from reviewer.tui.kit.screen import KitScreen
    from reviewer.tui.theme import Glyphs


KEY_CELLS, TITLE_CELLS = 11, 18
ONLY_KEYS = (
    *keys.MOVES, *keys.PANE_ACTIONS, keys.NEXT_PLACE, keys.PREVIOUS_PLACE, keys.MARK, keys.BACK,
    keys.MENU,
)  # fmt: skip
"""Actions that mean something only as keys; the menu has none of them."""
LONGEST = 100
"""Maximum length of a query; the rest is ignored."""
_WORD = re.compile(r"\w+")
CALLED = {
    "promote": "accept approve keep yes confirm save",
    "reject": "delete remove decline dismiss no drop",
    "reject_why": "because reason known wrong narrow narration",
    "state_edit": "reword rewrite change when moment trigger recalled recall",
    "dispute": "false untrue incorrect outdated doubt mistake",
    "edit": "reword rewrite change text fix wording rename",
    "defer": "snooze later postpone skip aside wait",
    "restore": "reopen unreject unpromote back requeue",
    "type": "kind category class retype",
    "name": "rename title",
    "merge": "combine join duplicate",
    "read_sessions": "import load ingest scan transcripts start",
    "read_file": "import folder notes open ingest add document path",
    "let_read": "ai llm model reader generate propose",
    "status": "archive deferred rejected accepted deleted promoted merged",
    "filter": "search find type contradictions conflicts",
    "undo": "revert take back",
    "redo": "repeat again",
    "refresh": "reload update",
    "mark": "select tick check",
    "mark_all": "select everything bulk",
    "discard_draft": "throw away drop forget cancel",
    "copy": "clipboard yank",
    "open_session": "open transcript quote evidence",
    "open_source": "file view",
    "open_editor": "vim code file",
    "word_memory": "write new remember",
    "fit_target": "budget shrink limit",
    "pin": "keep verbatim word protect always",
    "retain": "keep criteria verbatim word protect",
    "hand_over": "handover handoff brief resume continue session pass compaction export",
    "make_skip": "skip exclude drop hide",
    "choose_context": "open change switch transcript",
    "quit": "exit close leave",
    "switch_theme": "dark light colours colors night day mode",
    "zoom": "maximise maximize enlarge full screen",
    "help": "keys shortcuts palette commands",
    "show_memory": "memories facts used uses usage promoted active",
    "show_history": "log ledger acts",
    "show_packet": "export context start startup next session gets",
    "show_agents": "connect claude codex gemini mcp hooks",
    "show_context": "compress summary compact commits transcript session",
    "show_pipelines": "workflow graph dot",
}
"""Synonyms for actions."""


class HelpRow(NamedTuple):
    """A line of the help, and what choosing it runs."""

    keys: str
    title: str
    explanation: str
    run: Callable[[], Awaitable[None]] | None = None
    action: Action | None = None
    off: bool = False
    """It cannot run now; the reason follows its explanation."""


def help_rows(below: KitScreen) -> list[HelpRow]:
    """The syntax of a filter while one is typed, the keys that work on a screen, most useful first,
    then the signs.

    An action `beside` another shares its row.
    """
    found, taken = [], set[str]()
    for action, node in reachable(below.question or below):
        if not taken.issuperset(action.bound_keys):  # a custom key may belong to an inner action
            found.append((action, node))
        taken.update(action.bound_keys)
    editing = any(node.pane is keys.EDIT for _, node in found)
    if editing:  # the screen's own keys do not work
        found = [each for each in found if each[1] is not below and each[1].offers(each[0])]
    known = {action.id for action, _ in found}
    first = [*(action for action, _ in below.footer_actions()), *keys.SCREENS]
    found.sort(key=lambda each: first.index(each[0]) if each[0] in first else len(first))
    rows = []
    for action, node in found:
        if action.beside in known:
            continue
        row = _row(action, node, below)
        more = [f"{each.key} {each.title}" for each, _ in found if each.beside == action.id]
        title = "  ".join([row.title, *more])
        fits = not more or len(title) <= TITLE_CELLS
        rows.append(row._replace(title=title, explanation=row.explanation if fits else ""))
    if isinstance(below, ListScreen):
        if below.COLUMN_WORDS:
            rows.append(HelpRow("columns", below.COLUMN_WORDS, ""))
        if below.filter_bar is not None and below.filter_bar.field is below.focused:
            words = below.FILTER_WORDS or (("words", below.FILTER_HINT),)
            rows = [*(HelpRow(word, "", meaning) for word, meaning in words), *rows]
    return [*rows, *legend(below.host.glyphs)]


def every_row(below: KitScreen) -> list[HelpRow]:
    """Every action of this screen, its menu and the other screens, one per row."""
    here = reachable(below.question or below)
    rows = [_row(action, node, below) for action, node in here]
    known = {action.id for action, _ in here}
    app = next(node for action, node in here if action is keys.HELP)
    for screen in keys.SCREENS:
        for action in next(pane for pane in PANES if pane.heading == screen.title).actions:
            if action.id not in known:
                known.add(action.id)
                there = f"{screen.title}: {action.short}"
                run = partial(_go_to, app, screen, action)
                rows.append(HelpRow(screen.key, action.title, there, run, action))
    return rows


def _row(action: Action, node: Actor, below: KitScreen) -> HelpRow:
    key = next(map(shown_key, below.keys_of(action)), "")
    if not action.bound_keys and keys.MENU in node.pane.actions:
        key = keys.MENU.key
    reason = node.why_not(action)
    words = f"{action.short} - {reason}" if reason else action.short
    run = partial(node.perform, action)
    return HelpRow(key, node.title_of(action), words, run, action, off=bool(reason))


async def _go_to(app: Actor, screen: Action, action: Action) -> None:
    """Go to the screen of an action and run it; if it writes or cannot run, only show its key."""
    await app.perform(screen)
    node = dict(reachable(app.screen)).get(action)
    if node is not None and not action.writes and not node.why_not(action):
        await node.perform(action)
    else:
        app.say(f"{action.key}: {action.help}")


def matching(rows: Sequence[HelpRow], typed: str) -> list[HelpRow]:
    """The rows that match a query: by key or title first, then by synonym, then by help text; if
    none does, those that contain it, as its first letter may have moved in the list.
    """
    typed = typed[:LONGEST].strip().casefold()
    ranked: list[list[HelpRow]] = [[], [], [], []]
    for row in rows:
        named = _named(row)
        ways = (
            typed in (row.keys.casefold(), row.title.casefold()),
            row.title.casefold().startswith(typed),
            _has_words(typed, named),
            row.action is not None and _has_words(typed, f"{named} {row.action.help}"),
        )
        if True in ways:
            ranked[ways.index(True)].append(row)
    found = [row for rows in ranked for row in rows]
    return found or [row for row in rows if typed and typed in _named(row).casefold()]


def _named(row: HelpRow) -> str:
    """The title of a row, and its synonyms."""
    return f"{row.title} {CALLED.get(row.action.id, '')}" if row.action else row.title


def _has_words(typed: str, text: str) -> bool:
    """Whether each word of a query is the prefix of a word of a text."""
    words = _WORD.findall(text.casefold())
    asked = _WORD.findall(typed)
    return bool(asked) and all(any(word.startswith(one) for word in words) for one in asked)


def legend(signs: Glyphs) -> list[HelpRow]:
    """The legend of signs, in two rows."""
    words = [f"{getattr(signs, name)} {title}" for name, (title, _) in MEANINGS.items()]
    half = (len(words) + 1) // 2
    return [
        HelpRow(name, "   ".join(some), "")
        for name, some in (("signs", words[:half]), ("", words[half:]))
    ]


async def show_help(below: KitScreen, menu: Sequence[Action] = ()) -> None:
    """Show the help, or a `menu`, and run the chosen row; typing finds any action, those of the
    menu first.
    """
    title = "More" if menu else "What you can do here"
    if below.question is not None and str(below.question.box.border_title) == title:
        return
    hidden = ONLY_KEYS if menu else ()
    every = [row for row in every_row(below) if row.action not in hidden]
    rows_of = {row.action: row for row in every}
    first = [
        rows_of[each]._replace(keys="".join(each.shown_keys[:1]))
        for each in menu
        if each in rows_of
    ] or help_rows(below)
    rows: list[HelpRow] = []

    def options(typed: str) -> list[Option]:
        found = sorted(matching(every, typed), key=lambda row: row.action not in menu)
        rows[:] = found if typed else first
        names = (row.keys.ljust(KEY_CELLS) + row.title.ljust(TITLE_CELLS) for row in rows)
        return [
            Option(str(at), name, row.explanation, off=row.off)
            for at, (name, row) in enumerate(zip(names, rows, strict=True))
        ]

    async def then(option: Option) -> None:
        run = rows[int(option.key)].run
        if run is not None:
            await run()

    hint = "type what you want to do"
    await below.choose(title, options, then, hint=hint, whole=not menu)
