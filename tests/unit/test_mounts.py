"""Which folders may be looked at because a session names them."""

from __future__ import annotations

import pytest

from reviewer.mounts import is_on_local_disk

MOUNTS = """\
22 1 0:20 / / rw,relatime shared:1 - overlay overlay rw
31 22 254:0 / /home rw - ext4 /dev/vda rw
32 22 254:1 / /work\\040space rw - xfs /dev/vdb rw
33 22 0:41 / /net rw - autofs -hosts rw
34 22 0:42 / /team rw - nfs4 server:/team rw
35 22 0:43 / /media/late rw - autofs systemd-1 rw
36 35 254:2 / /media/late rw - ext4 /dev/vdc rw
"""


@pytest.mark.parametrize(
    "folder", ["/srv/shop", "/home/ann/shop", "/work space/shop", "/network", "/media/late/shop"]
)
def test_a_folder_on_a_disk_that_is_mounted_may_be_looked_at(folder: str) -> None:
    assert is_on_local_disk(folder, MOUNTS)


@pytest.mark.parametrize("folder", ["/net", "/net/host/shop", "/team/shop"])
def test_a_folder_that_would_be_mounted_or_lies_on_a_network_may_not(folder: str) -> None:
    assert not is_on_local_disk(folder, MOUNTS)


def test_without_a_list_of_mounts_nothing_is_known() -> None:
    assert not is_on_local_disk("/srv/shop", "")
