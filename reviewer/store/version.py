"""The versions of a store, apart from the migrations: a hook at a call of an agent asks for them
alone.
"""

FIRST_VERSION = 10
"""`PRAGMA user_version` of the oldest store that can be opened, which `tables.sql` makes."""

SCHEMA_VERSION = 23
"""`PRAGMA user_version` of an up-to-date store: FIRST_VERSION and one for each later migration."""

APPLICATION_ID = 0x52565752
"""`PRAGMA application_id` of a store ("RVWR"), so that other programs' databases are left alone."""
