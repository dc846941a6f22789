"""`history`: when things happened, as a person and as a script read it."""

from __future__ import annotations

import re

from tests.cli.conftest import Reviewer


def test_times_are_local_and_say_their_zone(seeded: Reviewer) -> None:
    (act,) = seeded.rows("history")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", act["at"])
    utc = seeded("history", env={"TZ": "UTC0"}).stdout.split("  ")
    assert utc[1] == act["at"][:19].replace("T", " ") + " UTC"
    east = seeded("history", env={"TZ": "EST-5:30"}).stdout.split("  ")
    assert east[1].endswith(" EST")
    hour, minute = (int(part) for part in utc[1][11:16].split(":"))
    later = (hour * 60 + minute + 330) % (24 * 60)
    assert east[1][11:16] == f"{later // 60:02}:{later % 60:02}"


def test_one_act_is_counted_in_the_singular(seeded: Reviewer) -> None:
    assert seeded("verify").stdout.endswith("agree with the ledger of 1 act.\n")
    seeded("promote", seeded.ids()[0])
    assert seeded("verify").stdout.endswith("agree with the ledger of 2 acts.\n")


def test_candidates_and_values_show_times_alike(seeded: Reviewer) -> None:
    east = {"TZ": "EST-5:30"}
    memory = seeded.ids()[0]
    seeded("edit", memory, "--content-file", "-", typed="The kiosk prints in black only.")
    told = seeded("queue", "show", memory, env=east).stdout
    assert re.search(r"^seen .* first [-0-9]{10} [:0-9]{8} EST, last [-0-9]{10} ", told, re.M)
    assert re.search(r"^was +until [-0-9]{10} [:0-9]{8} EST$", told, re.M)
    seeded("state", "set", "port", "8080")
    assert re.search(r"^set .* EST$", seeded("state", "show", "port", env=east).stdout, re.M)
