"""Projects do not leak into each other: each work tree sees and changes only its own.

The store has the projects p and q, each bound to its work tree. `x` is a work tree that the store
does not know, `other/p` one with the name of p and another root and remote.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from reviewer.agents.agent_tools import AgentTools
from reviewer.cli.root import root
from reviewer.cli.run import run
from reviewer.engine import Engine
from reviewer.errors import ConflictError, ReviewerError
from tests.cli.conftest import Reviewer
from tests.stored import rows_of

pytestmark = pytest.mark.xdist_group("projects")
"""The store is filled once."""

OpenIn = Callable[..., tuple[int, list[str | None]]]

MARKS = {"p": "pelican", "q": "quokka"}
"""A word that occurs in all data of a project."""

NOTE = """# Decisions of the {mark} team

- [Decision] The {mark} prints receipts in the language of the customer.
- [Preference] We prefer thermal {mark} paper for all printers.
- [Constraint] A {mark} receipt has to be printed within two seconds of the payment.
- [Decision] The {mark} drawer stays closed until the terminal has answered.
- [Parameter] {mark} paper width = {width} mm
"""
TEA = """digraph tea {
  start [shape=Mdiamond]; done [shape=Msquare]
  boil [prompt="Boil water."]
  serve [shape=hexagon, label="Serve it?"]
  start -> boil -> serve
  serve -> done [label="[Y] Yes"]
}
"""

LISTING: dict[str, list[list[str]]] = {
    "queue list": [["--status", "all"]],
    "state list": [[]],
    "export": [[]],
    "packet": [[], ["--explain"]],
    "context list": [[]],
    "pipeline runs": [["--json"]],
    "history": [["--json"]],
    "stats": [["--json"]],
}
"""Verbs that show all that a project has, with options."""

NAMING: dict[str, list[list[str]]] = {
    "queue show": [["{waiting}"], ["{waiting}", "--json"]],
    "history show": [["{act}"]],
    "context export": [["{context}"], ["pelican-talk"]],
    "commit list": [["{context}"], ["pelican-talk"]],
    "commit show": [["{commit}"], ["{hash}"]],
    "compile": [["{context}"], ["pelican-talk"]],
    "compress": [["{context}"], ["{context}", "--pin", "{commit}", "pelican"]],
    "packet read": [["m:{active}"]],
    "promote": [["{waiting}"], ["{own}", "{waiting}"]],
    "reject": [["{waiting}"]],
    "defer": [["{waiting}"]],
    "restore": [["{active}"]],
    "retire": [["{active}"]],
    "forget": [["{waiting}", "--yes"]],
    "edit": [["{waiting}", "--content-file", "words.txt"]],
    "merge": [["{waiting}", "--into", "{active}"], ["{own}", "--into", "{active}"]],
    "supersede": [["{active}", "--by", "{waiting}"], ["{own active}", "--by", "{waiting}"]],
    "graduate": [["{active}", "--as", "decision"]],
    "conflict": [["{conflict}", "--dismiss"]],
    "commit add": [["{context}", "--text", "More"]],
    "commit edit": [["{commit}", "--text", "Other"]],
    "annotate": [["{commit}", "--priority", "pinned"]],
    "undo": [["{act}"]],
    "pipeline resume": [["{run}", "--answer", "serve=Y"]],
}
"""Verbs that take ids, with things of p; `own` ones are of the project that is worked in."""

WORDED = (
    '{"statement": "The wallaby is fed at noon.",'
    ' "quotes": [{"line": 0, "text": "The wallaby is fed at noon."}]}'
)
"""What a model says of more.md."""

FILLING: dict[str, list[str]] = {
    "ingest": ["more.md"],
    "propose": ["more.md", "--yes", "--command", f"printf '{WORDED}'"],
    "add": ["knowledge", "The wallaby is fed at noon"],
    "remember": ["The wallaby is fed at noon.", "--at", "more.md:0"],
    "state set": ["wallaby", "yes"],
    "context create": ["wallaby"],
    "context import": ["talk.json"],
    "pipeline run": ["tea.dot", "--answer", "serve=Y"],
}
"""Verbs that write something new."""

OF_THE_PROJECT: dict[str, list[str]] = {
    "state show": ["mascot"],
    "state unset": ["mascot"],
    "queue more": [],
    "redo": [],
}
"""Verbs that take no id and change or show something of the project."""

ELSEWHERE = {
    "findings", "recall",
    # Of these, test_mcp.py and test_hooks.py show that they stay in one project.
    "mcp", "hook", "read-sessions", "connect", "disconnect",
    "demo", "dev-seed", "verify", "doctor", "config show", "config validate", "model check",
    "summarize", "extract", "view", "brief", "keep", "pipeline check",
    "pipeline show", "pipeline preamble",
    "sources", "watch", "serve", "help",
    # test_team.py and test_sync.py show that these keep to one project.
    "share", "decisions export", "decisions import", "sync",
    # tests/fleet shows that an import goes into one project.
    "fleet run", "fleet import",
}  # fmt: skip
"""Verbs that are not about a project, are about the store as a whole, or find their files
themselves (`test_sources.py`)."""

LOOKING = {
    *LISTING, "queue show", "history show", "context export",
    "commit list", "commit show", "compile", "compress", "packet read",
    "pipeline preamble", "state show",
}  # fmt: skip
"""Verbs that take --all-projects."""


def verbs(command: click.Command, *names: str) -> Iterator[str]:
    """Every command that does something, by its words."""
    context = click.Context(command)
    if not isinstance(command, click.Group):
        yield " ".join(names)
        return
    if command.invoke_without_command and names:
        yield " ".join(names)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from verbs(found, *names, name)


def test_every_verb_is_in_a_table() -> None:
    assert {*LISTING, *NAMING, *FILLING, *OF_THE_PROJECT, *ELSEWHERE} == set(verbs(root))


def cases(table: dict[str, list[list[str]]]) -> list[Any]:
    return [
        pytest.param([*verb.split(), *more], id=" ".join([verb, *more]))
        for verb, calls in table.items()
        for more in calls
    ]


class Trees:
    """Calls the program in one work tree or another, on one store."""

    def __init__(self, folder: Path, program: Reviewer) -> None:
        self.folder = folder
        self.program = program
        self.ids: dict[str, dict[str, str]] = {}

    def at(self, tree: str) -> Reviewer:
        """The program in a folder."""
        self.program.folder = self.folder / tree
        return self.program

    def git(self, tree: str, url: str = "") -> Path:
        """A new git work tree with an `origin`."""
        place = self.folder / tree
        (place / ".git").mkdir(parents=True)
        (place / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        remote = f'[remote "origin"]\n\turl = {url}\n' if url else ""
        (place / ".git" / "config").write_text(f"[core]\n\tbare = false\n{remote}")
        (place / "words.txt").write_text("The tills print in blue.")
        (place / "tea.dot").write_text(TEA)
        (place / "more.md").write_text("- [Decision] The wallaby is fed at noon.\n")
        talk = [{"role": "user", "content": "The wallaby jumps."}]
        (place / "talk.json").write_text(json.dumps(talk))
        return place

    def acts(self) -> list[int]:
        """Every act of the store."""
        return [act for (act,) in rows_of(self.program.db, "SELECT id FROM ledger ORDER BY id")]

    def filled_in(self, call: list[str], *, own: str = "q") -> list[str]:
        """A call with the ids of p, and with those of the project that is worked in."""
        known = {**self.ids["p"], **{f"own {k}": v for k, v in self.ids[own].items()}}
        known["own"] = self.ids[own]["waiting"]
        found = []
        for word in call:
            for name, value in known.items():
                word = word.replace("{" + name + "}", value)
            found.append(word)
        return found


def fill(trees: Trees, name: str) -> dict[str, str]:
    """A project with a bit of everything; the ids of what it has."""
    mark, tree = MARKS[name], trees.at(name)
    (tree.folder / "notes.md").write_text(NOTE.format(mark=mark, width=80))
    tree.succeeds("ingest", "notes.md")
    for width in (80, 58):
        tree.succeeds("remember", f"{mark} roll width = {width} mm", "--type", "parameter")
    memories = tree.ids("--filter", "kind:memory")
    left, right = tree.ids("--filter", "roll width kind:entity")
    tree.succeeds("promote", left, right)
    tree.succeeds("remember", f"The {mark} sleeps at night", "--type", "knowledge")
    (slept,) = tree.ids("--filter", "sleeps")
    tree.succeeds("promote", slept)
    for number in range(2):
        tree.succeeds(
            "remember", f"The {mark} number {number} is awake all day", "--type", "knowledge"
        )
    waiting = tree.ids("--filter", "awake")
    assert memories or waiting
    tree.succeeds("state", "set", "mascot", mark)
    talk = tree.folder / f"{mark}-talk.json"
    talk.write_text(
        json.dumps([{"role": "user", "content": f"The {mark} jumps, {n}. {'So. ' * 40}"}
                    for n in range(8)])
    )  # fmt: skip
    tree.succeeds("context", "import", talk.name)
    (context,) = tree.rows("context", "list")
    commit = tree.rows("commit", "list", context["name"])[0]
    tree("pipeline", "run", "tea.dot")
    (run,) = tree.rows("pipeline", "runs")
    conflict = tree.ids("--filter", "kind:conflict")[0]
    tree.succeeds("defer", waiting[1])
    (act,) = tree.rows("history", "--limit", "1")
    return {
        "waiting": str(waiting[0]), "active": str(slept), "left": str(left), "right": str(right),
        "conflict": str(conflict), "context": f"#{context['id']}", "commit": f"#{commit['id']}",
        "hash": commit["hash"], "run": run["run_id"], "act": str(act["id"]),
        "wave": "1" if name == "p" else "2",
    }  # fmt: skip


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Trees:
    folder = tmp_path_factory.mktemp("trees")
    (folder / "nowhere").mkdir()
    trees = Trees(folder, Reviewer(folder))
    trees.git("p", "git@example.org:zoo/p.git")
    trees.git("q", "git@example.org:zoo/q.git")
    trees.git("x", "git@example.org:zoo/x.git")
    trees.git("other/p", "git@example.org:farm/p.git")
    trees.ids = {name: fill(trees, name) for name in MARKS}
    return trees


@pytest.fixture
def trees(template: Trees, tmp_path: Path) -> Trees:
    """The work trees with a store of the test's own."""
    store = tmp_path / "store.db"
    shutil.copy(template.program.db, store)
    found = Trees(template.folder, Reviewer(tmp_path))
    found.program.db = store
    found.ids = template.ids
    return found


def marks_in(text: str) -> set[str]:
    """The projects of which there is something in a text."""
    return {name for name, mark in MARKS.items() if mark in text}


def shows(program: Reviewer, call: list[str], *options: str) -> tuple[set[str], str]:
    """The projects that a call shows, and its stderr."""
    done = program.succeeds(*options, *call)
    if call[0] == "stats":
        found = {json.loads(line).get("project") for line in done.stdout.splitlines()}
        return found & set(MARKS), done.stderr
    if call[:2] == ["pipeline", "runs"]:
        found = {json.loads(line)["project"] for line in done.stdout.splitlines()}
        return found, done.stderr
    return marks_in(done.stdout), done.stderr


class TestLooking:
    @pytest.mark.parametrize("call", cases(LISTING))
    def test_a_tree_shows_its_own_project_and_others_when_asked(
        self, trees: Trees, call: list[str]
    ) -> None:
        for name in MARKS:
            found, said = shows(trees.at(name), call)
            assert found == {name}
            assert marks_in(said) <= {name}
        found, said = shows(trees.at("x"), call)
        assert found == marks_in(said) == set()
        (line,) = [line for line in said.splitlines() if "Nothing" in line or "no" in line.split()]
        assert line.startswith("Nothing is stored for project x yet.")
        found, said = shows(trees.at("nowhere"), call, "--all-projects")
        assert found == set(MARKS)
        assert "This covers all projects." in said

    def test_where_the_project_is_not_plain_it_has_to_be_named(self, trees: Trees) -> None:
        call = ["queue", "list", "--status", "all"]
        said = trees.at("other/p").fails(*call)
        assert f"Project p belongs to {trees.folder / 'p'}, not to this folder" in said
        assert "--project OTHERNAME" in said
        assert "--project p" in said
        assert shows(trees.at("other/p"), call, "--project", "p")[0] == {"p"}
        assert shows(trees.at("other/p"), call, "--all-projects")[0] == set(MARKS)
        said = trees.at("nowhere").fails(*call, code=2)
        assert "--project" in said
        assert "--all-projects" in said
        assert shows(trees.at("nowhere"), call, "--project", "q")[0] == {"q"}

    def test_nothing_is_written_for_an_unknown_tree(self, trees: Trees, tmp_path: Path) -> None:
        target = tmp_path / "AGENTS.md"
        target.write_text("Ours.\n")
        trees.at("x").succeeds("export", "--into", target, "--write")
        assert target.read_text() == "Ours.\n"


class TestNaming:
    @pytest.mark.parametrize("call", cases(NAMING))
    def test_ids_of_another_project_are_refused_until_it_is_named(
        self, trees: Trees, call: list[str]
    ) -> None:
        of_both = any("own" in word for word in call)
        before = trees.acts()
        for tree in ("q",) if of_both else ("q", "x"):  # the unknown project has no data
            said = trees.at(tree).fails(*trees.filled_in(call))
            assert "project p" in said
            assert "--project p" in said
            assert "pelican" not in said.replace("pelican-talk", "")
        assert trees.acts() == before
        if not of_both:
            done = trees.at("q").succeeds("--project", "p", *trees.filled_in(call, own="p"))
            assert "quokka" not in done.stdout + done.stderr

    def test_the_key_of_another_project_is_another_key(self, trees: Trees) -> None:
        (value,) = trees.at("q").rows("state", "show", "mascot")
        assert value["value"] == "quokka"
        assert 'x has no state "mascot"' in trees.at("x").fails("state", "show", "mascot")
        shown = trees.at("x").rows("--all-projects", "state", "show", "mascot")
        assert [row["value"] for row in shown] == ["pelican", "quokka"]
        trees.at("q").succeeds("state", "unset", "mascot")
        assert trees.at("p").rows("state", "list")[0]["value"] == "pelican"

    def test_facts_of_two_projects_are_never_joined(self, trees: Trees) -> None:
        p, q = trees.ids["p"], trees.ids["q"]
        engine = Engine.open(trees.program.db)
        joins: tuple[Callable[[], object], ...] = (
            lambda: engine.triage.merge([int(p["waiting"])], int(q["active"])),
            lambda: engine.triage.supersede(int(p["active"]), int(q["waiting"])),
        )
        for join in joins:
            with pytest.raises(ConflictError, match="different projects"):
                join()
        engine.close()


class TestWriting:
    @pytest.mark.parametrize(
        "verb", sorted({*NAMING, *FILLING, *OF_THE_PROJECT, "dev-seed"} - LOOKING)[::4]
    )
    def test_writing_verbs_refuse_all_projects(self, trees: Trees, verb: str) -> None:
        call = FILLING.get(verb) or NAMING.get(verb, [OF_THE_PROJECT.get(verb, ["3"])])[0]
        words = trees.filled_in([*verb.split(), *call])
        before = trees.acts()
        said = trees.at("p").fails(*words, "--all-projects", code=2)
        assert "--all-projects" in said
        assert trees.acts() == before

    def test_one_project_and_all_exclude_each_other(self, trees: Trees) -> None:
        said = trees.at("p").fails("--all-projects", "--project", "p", "queue", "list", code=2)
        assert "cannot be combined" in said

    @pytest.mark.parametrize("verb", FILLING)
    def test_a_new_tree_gets_a_project_of_its_own(self, trees: Trees, verb: str) -> None:
        call = [*verb.split(), *FILLING[verb]]
        trees.at("x").succeeds(*call)
        kinds = {act["kind"] for act in trees.at("x").rows("history")}
        assert kinds
        counts = trees.at("nowhere").rows("--all-projects", "stats")
        assert {"p", "q", "x"} <= {row.get("project") for row in counts}
        shutil.copytree(trees.folder / "x", trees.program.db.parent / "copy" / "x")
        trees.program.folder = trees.program.db.parent / "copy" / "x"
        assert "--project OTHERNAME" in trees.program.fails("history")

    @pytest.mark.parametrize("verb", list(FILLING)[::3])
    def test_a_tree_of_the_same_name_cannot_write_into_it(self, trees: Trees, verb: str) -> None:
        call = [*verb.split(), *FILLING[verb]]
        before = trees.acts()
        assert "--project OTHERNAME" in trees.at("other/p").fails(*call)
        assert trees.acts() == before
        trees.at("other/p").succeeds("--project", "farm", *call)
        own = {act["id"] for act in trees.at("other/p").rows("history")}
        assert own
        assert own.isdisjoint(before)
        assert {act["id"] for act in trees.at("p").rows("history")} <= set(before)


def latest(trees: Trees, tree: str) -> dict[str, Any]:
    return trees.at(tree).rows("history")[-1]


class TestGoingBack:
    def test_undo_reverts_acts_of_this_project_only(self, trees: Trees) -> None:
        p, q = trees.ids["p"]["waiting"], trees.ids["q"]["waiting"]
        trees.at("p").succeeds("promote", p)
        trees.at("q").succeeds("promote", q)
        assert f"Promoted #{p}" in trees.at("p")("undo").stderr
        assert trees.at("q").rows("queue", "show", q)[0]["status"] == "active"
        assert trees.at("p").rows("queue", "show", p)[0]["status"] == "candidate"
        assert "Nothing to redo" in trees.at("q").fails("redo")
        assert f"Promoted #{p}" in trees.at("p")("redo").stderr
        assert f"Promoted #{q}" in trees.at("q")("undo").stderr
        trees.at("p").succeeds("verify")

    def test_an_act_of_several_projects_is_taken_back_by_its_number_only(
        self, trees: Trees
    ) -> None:
        engine = Engine.open(trees.program.db)
        done = engine.triage.defer([int(trees.ids[name]["waiting"]) for name in MARKS])
        engine.close()
        said = trees.at("p").fails("undo")
        assert "project q" in said
        assert f"reviewer undo {done.act}" in said
        trees.at("p").succeeds("undo", done.act)
        assert latest(trees, "q")["kind"] == "undo"


def said_by(program: Reviewer) -> str:
    return program.succeeds("state", "list").stdout


class TestWhoIsWho:
    """A project is bound to the tree that the person first wrote it from."""

    @pytest.fixture
    def own(self, tmp_path: Path) -> Trees:
        (tmp_path / "nowhere").mkdir()
        return Trees(tmp_path, Reviewer(tmp_path))

    def test_a_remote_decides_nothing(self, own: Trees) -> None:
        own.git("p", "git@example.org:zoo/p.git")
        own.at("p").succeeds("state", "set", "mascot", "pelican")
        own.git("planted", "git@example.org:zoo/p.git")
        assert "are clones of one repository" in own.at("planted").fails("state", "list")
        desk = AgentTools(own.program.db, folder=own.folder / "planted")
        with pytest.raises(ReviewerError, match="not bound"):
            desk.search("pelican")
        own.at("planted").succeeds("--project", "planted", "state", "set", "mascot", "other")
        assert "pelican" not in said_by(own.at("planted"))

    def test_a_second_clone_shares_the_project_once_the_person_says_so(self, own: Trees) -> None:
        own.git("p")
        own.at("p").succeeds("state", "set", "mascot", "pelican")
        own.git("clone")
        done = own.at("clone")("--project", "p", "state", "set", "food", "fish")
        assert f"{own.folder / 'clone'} is now bound to project p" in done.stderr
        binding = next(row for row in own.at("p").rows("history") if row["kind"] == "bind project")
        assert "reviewer undo NUMBER" in done.stderr
        own.at("p").succeeds("undo", binding["id"])
        assert said_by(own.at("clone")) == ""
        own.at("clone").succeeds("--project", "p", "state", "list")
        own.at("p").succeeds("redo")
        assert "pelican" in said_by(own.at("clone"))
        assert "fish" in said_by(own.at("p"))
        assert own.at("p")("state", "set", "food", "squid").stderr.count("bound") == 0
        own.program.succeeds("verify")

    def test_a_linked_work_tree_is_the_same_project(self, own: Trees) -> None:
        main = own.git("p")
        own.at("p").succeeds("state", "set", "mascot", "pelican")
        linked, about = own.folder / "feature", main / ".git" / "worktrees" / "feature"
        linked.mkdir()
        about.mkdir(parents=True)
        (linked / ".git").write_text(f"gitdir: {about}\n")
        (about / "commondir").write_text("../..\n")
        (about / "gitdir").write_text(f"{linked / '.git'}\n")
        assert "pelican" in said_by(own.at("feature"))

    @pytest.mark.skipif(os.name == "nt", reason="such names do not exist there")
    def test_a_tree_with_a_line_end_in_its_path_does_not_claim_another(self, own: Trees) -> None:
        main = own.git("p")
        own.git(f"a\n{main}")
        own.at(f"a\n{main}").succeeds("--project", "evil", "state", "set", "mascot", "vulture")
        assert said_by(own.at("p")) == ""
        assert "vulture" not in own.at("p")("state", "list").stdout

    def test_a_tree_called_default_does_not_get_rows_without_a_tree(self, own: Trees) -> None:
        own.git("default")
        own.at("nowhere").succeeds("state", "set", "mascot", "stray")
        assert "belongs to" in own.at("default").fails("state", "list")


class TestTheScreen:
    """It is opened on the project that the command line would show."""

    @pytest.fixture
    def opened(self, trees: Trees, monkeypatch: pytest.MonkeyPatch) -> OpenIn:
        monkeypatch.setattr("reviewer.cli.session.Session.require_terminal", lambda *_: None)
        monkeypatch.setenv("REVIEWER_CONFIG", str(trees.program.db.with_name("config.toml")))
        trees.program.db.with_name("config.toml").write_text("")

        def open_in(tree: str, *options: str) -> tuple[int, list[str | None]]:
            shown: list[str | None] = []

            def screen(engine: Engine, project: str | None, **_: Any) -> int:
                assert engine.project == project
                shown.append(project)
                return 0

            monkeypatch.chdir(trees.folder / tree)
            code = run(["--db", str(trees.program.db), *options], screen, lambda _: None)
            return code, shown

        return open_in

    def test_it_shows_the_project_of_the_tree(self, opened: OpenIn) -> None:
        assert opened("p") == (0, ["p"])
        assert opened("x") == (0, ["x"])
        assert opened("other/p") == (1, [])
        assert opened("other/p", "--project", "p") == (0, ["p"])
        assert opened("nowhere") == (0, [None])  # the first screen asks
        assert opened("nowhere", "--all-projects") == (0, [None])


class TestAgents:
    """What agents are given and may ask for, in each tree."""

    @pytest.mark.parametrize(
        ("tree", "own"), [("p", {"p"}), ("q", {"q"}), ("x", set()), ("other/p", set())]
    )
    def test_tools_and_hooks_stay_in_the_project_of_their_tree(
        self, trees: Trees, tree: str, own: set[str]
    ) -> None:
        folder = trees.folder / tree
        desk = AgentTools(trees.program.db, folder=folder)
        p = trees.ids["p"]
        calls: list[Callable[[], str]] = [
            lambda: desk.packet("receipts of the pelican and the quokka", 4_000),
            lambda: desk.search("pelican quokka sleeps width", 20),
            lambda: desk.read(f"m:{p['active']}"),
            lambda: desk.read("s:1"),
        ]
        said, refused = "", 0
        for call in calls:
            try:
                said += call()
            except ReviewerError:
                refused += 1
        assert marks_in(said) == own
        assert refused >= (0 if tree == "p" else 2)
        told = json.dumps({"session_id": "one", "cwd": str(folder), "prompt": "print receipts"})
        for event in ("SessionStart", "UserPromptSubmit"):
            done = trees.at(tree).succeeds("hook", "claude-code", event, typed=told)
            assert marks_in(done.stdout) <= own
