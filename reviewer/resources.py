"""Paths of the style sheets, the documentation and the sample data: inside the wheel, or beside the
package.
"""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def _folder(name: str) -> Path:
    inside = _PACKAGE / f"_{name}"
    return inside if inside.is_dir() else _PACKAGE.parent / name


def styles_folder() -> Path:
    """The folder of the `*.tcss` files."""
    return _folder("styles")


def docs_folder() -> Path:
    """The folder of the documentation's Markdown pages."""
    return _folder("docs")


def sample_data_folder() -> Path:
    """The folder that `reviewer demo` reads."""
    return _folder("sample_data")
