"""For the workers of a cluster: `dask worker ADDRESS --preload reviewer.fleet.worker`."""

from __future__ import annotations

from typing import Any

import reviewer.fleet.part  # so that the first part need not wait for it

__all__ = ["dask_setup", "reviewer"]


def dask_setup(worker: Any) -> None:
    """Stop the profiler of Dask, which looks at the stack a hundred times a second: a quarter of
    the time of a part.
    """
    for name in ("profile", "profile-cycle"):
        callback = worker.periodic_callbacks.pop(name, None)
        if callback is not None:
            callback.stop()
