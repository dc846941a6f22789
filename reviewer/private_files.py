"""The former place of these names; import them from `reviewer.files`."""

from __future__ import annotations

from reviewer.files import FOLDER_MODE as FOLDER_MODE
from reviewer.files import make_folders as make_folders
from reviewer.files import make_private_folder as make_private_folder
from reviewer.files import private_opener as private_opener
