"""Plans and lists of findings that the agent wrote out, item by item, and what became of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from reviewer.compression.offline.events import PLAN, Event, Kind, Message, Moment, Voice
from reviewer.compression.offline.items import Fate, Item, fates, items_of, names_in
from reviewer.compression.offline.line import is_edit, is_person, shortened
from reviewer.compression.offline.state import DONE_ITEMS
from reviewer.compression.offline.statements import is_announcement, plain, statements

LEAST_STEPS = 3
MOST_STEPS = 40
TITLE_CHARS = 160
DETAIL_CHARS = 150
FIX_CHARS = 130


class Titled(Struct, frozen=True):
    """A numbered title with the heading it is under, and how its text begins."""

    number: str
    title: str
    heading: str = ""
    detail: str = ""

    @property
    def where(self) -> str:
        """The file of its text, where that begins with one."""
        return found[1] if (found := _WHERE.match(self.detail)) else ""


_WHERE = re.compile(r"([\w./-]+\.\w{1,8}(?::\d+(?:-\d+)?)?)(?=$|[:;])")


class Plan(Struct, frozen=True):
    """Steps that were agreed on, with what became of each."""

    turn: int
    steps: list[Item]

    @property
    def open(self) -> list[Item]:
        return [each for each in self.steps if each.is_open]


_HEADING = re.compile(r"^#{1,6}[ \t]++(?P<title>\S.*?)(?:(?<![ \t])[ \t]++#*+|(?<!#)#++)?$")
_TITLE = re.compile(
    r"^(?:[-*+][ \t]+)?(?:#{1,6}[ \t]+(?:\*\*)?|\*\*)"
    r"(?:(?P<kind>Phase|Step|Stage|Part|Milestone|Task)[ \t]+)?"
    r"(?P<number>\d{1,2}(?:\.\d{1,2})?)(?(kind)\b\**+[ \t]*+[.):\u2013\u2014-]?|[.):])\**+[ \t]*+"
    r"(?P<title>(?:(?!\*\*)[^\n])*[^\s*:])[*:]*+(?P<rest>.*)$"
)
_ROW = re.compile(
    r"^\|[ \t]*\**(?P<kind>Phase|Step|Stage|Milestone)[ \t]+(?P<number>\d{1,2})\b[^|]*\|"
    r"(?P<title>[^|]{3,})\|"
)
"""A row of a table whose first cell numbers a step."""
_PATH = re.compile(r"`([\w./-]+\.\w{1,8}(?::\d+(?:-\d+)?)?)`")
_FIX = re.compile(r"\**+(?:Fix|Suggestion|Recommendation|Solution)\**+:?\**+:?[ \t]++(.+)")


def titled_items(text: str) -> list[Titled]:
    """The numbered titles of a text; nothing where there are only a few."""
    found: list[Titled] = []
    heading, open_title = "", False
    for line in text.split("\n"):
        line = line.strip()
        if row := _ROW.match(line):
            kind = f"{row['kind']} " if row["kind"] else ""
            title_of_row = plain(row["title"]).strip(" .")[:TITLE_CHARS]
            found.append(Titled(f"{kind}{row['number']}", title_of_row, heading))
            open_title = False
        elif title := _TITLE.match(line):
            kind = f"{title['kind']} " if title["kind"] else ""
            words = plain(title["title"]).strip(" .")
            rest = plain(title["rest"]).lstrip(" :\u2013\u2014-")
            found.append(Titled(f"{kind}{title['number']}", words[:TITLE_CHARS], heading, rest))
            open_title = True
        elif marked := _HEADING.match(line):
            heading, open_title = plain(marked["title"]).rstrip(" :"), False
        elif found and open_title and line and not line.startswith(("```", "|", "---")):
            found[-1] = _with_detail(found[-1], line)
    return found if LEAST_STEPS <= len(found) <= MOST_STEPS else []


def is_title(line: str) -> bool:
    """Whether a line is a numbered title."""
    return bool(_TITLE.match(line.strip()) or _ROW.match(line.strip()))


def _with_detail(item: Titled, line: str) -> Titled:
    """A title with one more line of its text, as far as it says where, what, or how to fix it."""
    path = _PATH.match(line)
    fix = _FIX.match(line)
    if path and not item.detail:
        detail = path[1]
    elif fix and "fix: " not in item.detail:
        detail = f"{item.detail}; fix: {shortened(plain(fix[1]), FIX_CHARS)}".lstrip("; ")
    elif not item.detail or (item.detail.count(": ") == 0 and _is_path(item.detail)):
        words = shortened(plain(line.lstrip("-*+ ")), DETAIL_CHARS)
        detail = f"{item.detail}: {words}" if item.detail else words
    else:
        return item
    return Titled(item.number, item.title, item.heading, detail)


def _is_path(text: str) -> bool:
    return " " not in text and "." in text


_AGREES = re.compile(
    r"\W*(?:y(?:es|eah|ep|up)?|ok(?:ay)?|sure|go|do|let'?s|sounds|looks|please|start|begin|continue"
    r"|proceed|implement|perfect|great|good|agreed?|fine|all|both|approved?|lgtm|ship|ja|gut|weiter"
    r"|oui|si|sí|vale|好|是|可以|はい)\b",
    re.IGNORECASE,
)
"""How the person takes up a plan."""


def agreed_plan(moments: Sequence[Moment]) -> Plan | None:
    """The latest plan that the agent wrote out and that is worked on.

    A plan counts where the person agreed to it, or where it was handed in as one and not refused;
    not where a to-do list was written after it, which says the same in its own way.
    """
    listed = False
    for at in range(len(moments) - 1, -1, -1):
        each = moments[at]
        if isinstance(each, Event):
            listed = listed or (each.kind is Kind.TODO and len(each.items) >= LEAST_STEPS)
            continue
        given = each.voice is Voice.PERSON and _GIVEN.match(each.text) is not None
        if not given and (each.voice is not Voice.AGENT or not _is_agreed(moments, at)):
            continue
        steps = _steps(each.text, sure=given or each.name == PLAN)
        if len(steps) < LEAST_STEPS or (listed and each.name != PLAN):
            continue
        after = moments[at + 1 :]
        known = fates(steps, after)
        if given:
            _mark_edited(known, after)
        reported = given and _is_reported(after) and not any(step.named for step in known)
        if reported or _is_past(known, after):
            return None
        begun = any(step.fate is not Fate.NOTHING for step in known)
        return Plan(each.turn, known) if begun or given or each.name == PLAN else None
    return None


def _mark_edited(steps: Sequence[Item], after: Sequence[Moment]) -> None:
    """Note the files that were edited and that one step alone names."""
    named = Counter(name for step in steps for name in set(names_in(step.text)))
    edited = dict.fromkeys(each.what for each in after if isinstance(each, Event) and is_edit(each))
    for step in steps:
        own = [name for name in names_in(step.text) if named[name] == 1]
        files = [path for path in edited if any(f"/{path}".endswith(f"/{name}") for name in own)]
        if files and step.is_open:
            step.fate, step.files = Fate.EDITED, tuple(files)


def _is_reported(after: Sequence[Moment]) -> bool:
    """Whether the agent has edited files and then ended its turn with a report."""
    edited = False
    for at, each in enumerate(after):
        if isinstance(each, Event):
            edited = edited or is_edit(each)
        elif each.voice is Voice.AGENT and edited:
            ends = at + 1 == len(after) or is_person(after[at + 1])
            said = statements(each, closing=True) if ends else []
            if said and not is_announcement(said[-1].text):
                return True
    return False


def _is_past(steps: Sequence[Item], after: Sequence[Moment]) -> bool:
    """Whether most of a plan is done, committed, and the person has gone on to other things."""
    spoken = sum(isinstance(each, Message) and each.voice is Voice.PERSON for each in after)
    committed = any(isinstance(each, Event) and each.kind is Kind.COMMIT for each in after)
    few_open = 2 * sum(each.is_open for each in steps) <= len(steps)
    return few_open and committed and spoken > SEVERAL_ROUNDS


SEVERAL_ROUNDS = 2


_GIVEN = re.compile(
    r"\W*(?:please )?(?:implement|execute|carry out|follow|work through|do|start with)\b"
    r".{0,40}\bplan\b",
    re.IGNORECASE,
)
"""How the person hands over a plan."""
_PLAN_HEADING = re.compile(
    r"^(?:#{1,6} |\*\*).{0,40}\b(?:plan|steps|phases|roadmap)\b", re.I | re.M
)


def _steps(text: str, *, sure: bool = False) -> list[Item]:
    """The steps that a text lists. `sure`: the text is known to be a plan."""
    titled = titled_items(text)
    if titled:
        orders = sum(bool(_TASK.match(each.title)) for each in titled)
        staged = any(not each.number[:1].isdigit() for each in titled)
        if sure or staged or 2 * orders >= len(titled) or _PLAN_HEADING.search(text):
            return [Item(each.number, each.title) for each in titled]
        return []
    items = [each for each in items_of(text) if each.number and "```" not in each.text]
    orders = sum(bool(_TASK.match(each.text)) for each in items)
    return items if 2 * orders >= len(items) else []


_TASK = re.compile(
    r"\W*(?:add|build|change|check|clean|commit|configure|convert|create|define|delete|deploy"
    r"|document|drop|enable|ensure|expose|extend|extract|fix|handle|implement|improve|inline"
    r"|install|integrate|introduce|make|merge|migrate|move|pass|port|publish|push|refactor|release"
    r"|remove|rename|replace|resolve|rewrite|run|set up|simplify|split|support|switch|test|update"
    r"|upgrade|use|validate|verify|wire|write)\b",
    re.IGNORECASE,
)
"""How a step begins that somebody has to do."""


def _is_agreed(moments: Sequence[Moment], at: int) -> bool:
    plan, after = moments[at], moments[at + 1] if at + 1 < len(moments) else None
    if not isinstance(plan, Message):
        return False
    if plan.name == PLAN:
        return not (isinstance(after, Event) and after.kind is Kind.REFUSED)
    agrees = isinstance(after, Message) and after.voice is Voice.PERSON
    return agrees and isinstance(after, Message) and bool(_AGREES.match(after.text))


def settled(
    todo: tuple[tuple[str, str], ...], moments: Sequence[Moment]
) -> tuple[tuple[str, str], ...]:
    """A to-do list, in which items that were dealt with since it was written say so."""
    listed = max((at for at, each in enumerate(moments) if _is_list(each)), default=-1)
    after = moments[listed + 1 :]
    ahead = [text for status, text in todo if status not in DONE_ITEMS]
    if not ahead or not any(isinstance(e, Event) and e.kind is Kind.COMMIT for e in after):
        return todo
    known = fates([Item("", text) for text in ahead], after)
    notes = {item.text: f" ({item.fate} since)" for item in known if item.fate in _SETTLED}
    return tuple((status, f"{text}{notes.get(text, '')}") for status, text in todo)


_SETTLED = frozenset({Fate.COMMITTED, Fate.REPORTED, Fate.FINE})


def _is_list(moment: Moment) -> bool:
    return isinstance(moment, Event) and moment.kind is Kind.TODO and bool(moment.items)


_REPORTED = re.compile(
    r"\W*(?:\w+ed\b|wrote|built|made|ran|new\b|now\b|done\b|what (?:i|was)\b)", re.IGNORECASE
)
"""How a title begins that reports what was done."""


_DONE_HEADING = re.compile(
    r"\W*(?:(?:\w+ )?changes?(?: made)?$|(?:files? )?(?:modified|changed|created)"
    r"|what (?:i|was|changed)"
    r"|completed|done\b|summary of (?:the )?(?:changes|work)|implemented|implementation)",
    re.IGNORECASE,
)
"""A heading under which an agent reports what it did."""


def findings_in(text: str) -> list[Titled]:
    """The titles of a text that lists what was found, not what was done."""
    titled = [each for each in titled_items(text) if not _DONE_HEADING.match(each.heading)]
    reports = sum(
        bool(_REPORTED.match(each.title) or _REPORTED.match(each.detail)) for each in titled
    )
    return titled if 2 * reports < len(titled) else []


def latest_findings(moments: Sequence[Moment]) -> tuple[int, list[tuple[Titled, Item]]]:
    """The findings that the agent listed last under headings, with what became of each.

    The turn of the list comes first.
    """
    for at in range(len(moments) - 1, -1, -1):
        each = moments[at]
        if isinstance(each, Message) and each.voice is Voice.AGENT and each.name != PLAN:
            titled = findings_in(each.text)
            if titled and not _is_agreed(moments, at):
                items = [Item(found.number, found.title) for found in titled]
                known = fates(items, moments[at + 1 :])
                return each.turn, list(zip(titled, known, strict=True))
    return -1, []
