"""Other keys for actions, from a TOML file that is checked before the screen opens."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.tui.actions import ACTIONS
from reviewer.tui.keymap import KeymapError, load_keymap
from tests.source_code import in_one_process, trees
from tests.tui.conftest import opened


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_key_replaces_the_keys_of_an_action(tmp_path: Path) -> None:
    keymap = load_keymap(
        written(tmp_path, '[keys]\npromote = "K"\nredo = ["ctrl+y", "?"]\nhelp="f1"')
    )
    assert keymap["promote"] == "K"
    assert keymap["redo"] == "ctrl+y,question_mark"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[keys]\npromot = "K"', "Did you mean promote?"),
        ('[keys]\npromote = "x"', "The key x would run both promote and reject"),
        ('[keys]\nundo = "ctrl+q"\nquit = "Q"', None),
        ('[keys]\nshow_queue = "ctrl+q"', "both quit and show_queue"),
        ("[keys]\npromote = 3", 'such as promote = "A"'),
        ("[keys]\npromote = []", "needs a key"),
        ('[keys]\npromote = "ctlr+b"', "There is no key ctlr+b."),
        ('[keys]\npromote = "esc"', 'such as "A", "f5", "escape"'),
        ('[keys]\npromote = "ctrl+"', "There is no key ctrl+."),
        ("keys = 3", "[keys]"),
        ("[keys", "not valid TOML"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_to_do(
    tmp_path: Path, text: str, says: str | None
) -> None:
    path = written(tmp_path, text)
    if says is None:
        says = "both quit and undo"
    with pytest.raises(KeymapError) as caught:
        load_keymap(path)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("written_key", "key"),
    [
        ("+", "plus"),
        (",", "comma"),
        ("Ctrl+B", "ctrl+b"),
        ("shift+y", "Y"),
        ("shift+ctrl+up", "ctrl+shift+up"),
        ("pagedown", "pagedown"),
        ("full_stop", "full_stop"),
    ],
)
def test_a_key_is_named_as_the_keyboard_sends_it(
    tmp_path: Path, written_key: str, key: str
) -> None:
    keymap = load_keymap(written(tmp_path, f'[keys]\nswitch_theme = "{written_key}"'))
    assert keymap["switch_theme"] == key


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(KeymapError, match="cannot be read"):
        load_keymap(tmp_path / "none.toml")


async def test_the_screen_obeys_and_shows_the_other_key(tmp_path: Path, stocked: Engine) -> None:
    path = written(tmp_path, '[keys]\npromote = "K"')
    async with opened(stocked, keymap=path) as screen:
        assert " K promote" in screen.text
        await screen.press("a")
        assert not screen.model.dimmed
        await screen.press("K")
        assert len(screen.model.dimmed) >= 1


async def test_the_help_has_a_key_once_for_the_action_that_it_runs(
    tmp_path: Path, stocked: Engine
) -> None:
    keymap = written(tmp_path, '[keys]\nmark = "f8"\n')
    async with opened(stocked, keymap=keymap, size=(118, 60)) as screen:
        await screen.press("f8")
        assert screen.status == "1 marked"
        await screen.press("f1")
        assert [line.split()[1:3] for line in screen.text.splitlines() if "F8" in line] == [
            ["F8", "mark"]
        ]


async def test_ctrl_q_leaves_whatever_the_keymap_says(tmp_path: Path, stocked: Engine) -> None:
    path = written(tmp_path, '[keys]\nquit = "Q"')
    async with opened(stocked, keymap=path) as screen:
        await screen.pilot.press("ctrl+q")
        assert screen.app.return_code == 0


NAMED = re.compile(
    r"(?<![\w'./<>{(-])(?:ctrl\+[a-z]|F[1-9]|esc|escape|[b-zB-HJ-Z])"
    r"(?= (?!knowledge|project|preference|identity|episodic)[a-z])"
)
"""A key before a word, as hints have it; `a` and `I` are words."""


async def test_no_screen_names_a_key_that_was_changed(tmp_path: Path, stocked: Engine) -> None:
    """Every action gets a Cyrillic letter: a Latin one before a verb is a former key."""
    keys = {action: chr(0x0430 + at) for at, action in enumerate(ACTIONS)}
    lines = "\n".join(f'{action} = "{key}"' for action, key in keys.items())
    seen = {}
    async with opened(stocked, keymap=written(tmp_path, f"[keys]\n{lines}")) as screen:
        await screen.press(keys["promote"])
        for name in ("queue", "context", "packet", "pipelines", "memory", "history"):
            await screen.press(keys[f"show_{name}"])
            shown = re.sub(r"^. +(?:\S )?\.\d+ \S .*?(?=│|$)", "", screen.text, flags=re.MULTILINE)
            seen[name] = NAMED.findall(shown)
            assert f"{keys['help']} help" in screen.text
    assert not any(seen.values()), seen


@in_one_process
def test_no_sentence_has_a_key_written_into_it() -> None:
    """Keys are named by `Action.key`, which follows the keymap. ctrl+q always quits."""
    found = []
    for file, tree in trees().items():
        if file.startswith("tui/"):
            comments = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            found += [
                f"{file}, line {node.lineno}: {node.value}"
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
                if id(node) not in comments and NAMED.search(node.value.replace("ctrl+q", ""))
            ]
    assert found == []
