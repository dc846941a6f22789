"""Bringing a store up to the version of this program."""

from __future__ import annotations

import sqlite3

from sqlite_utils import Database

from reviewer.store.schema import migrations


def migrate(connection: sqlite3.Connection, version: int, application: int) -> None:
    """Apply the migrations that a store lacks and mark it as of `version` and as a store of this
    `application`.

    Several processes may arrive here at once: the write lock is taken first, and who comes second
    finds nothing left to do.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        migrations.apply(Database(connection))
        connection.execute(f"PRAGMA user_version = {int(version)}")
        connection.execute(f"PRAGMA application_id = {int(application)}")
    except BaseException:
        if connection.in_transaction:  # a full disk ends it
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
