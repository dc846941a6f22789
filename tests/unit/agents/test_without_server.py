"""Where the package of the MCP server is not installed, an agent gets its hooks only."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.agents.connections import Connections
from reviewer.agents.wiring import CONNECTABLE, WiringPlace, WiringScope


@pytest.mark.parametrize("agent", CONNECTABLE)
def test_the_settings_of_an_agent_name_the_server_only_where_it_works(
    agent: str, tmp_path: Path
) -> None:
    made = Connections(tmp_path / "store.db")

    def connected(server: bool, *triggers: str) -> str:
        """The settings that connecting writes."""
        place = WiringPlace(
            scope=WiringScope.PROJECT,
            root=tmp_path / "shop",
            command=("reviewer",),
            environment={},
            server=server,
            triggers=triggers,
        )
        made.connect(made.plan_connect(agent, place))
        return settings()

    def settings() -> str:
        files = (path for path in (tmp_path / "shop").rglob("*") if path.is_file())
        return "\n".join(path.read_text() for path in files)

    (tmp_path / "shop").mkdir()
    alone = connected(server=False)
    assert "mcp" not in alone
    assert "hook" in alone
    assert made.follow_triggers(lambda: ("guard git push",), lambda *_: None) == []
    assert "mcp" not in settings()
    assert "mcp" in connected(True, "guard git push")
    assert made.follow_triggers(lambda: (), lambda *_: None) == []
    assert "mcp" in settings()
