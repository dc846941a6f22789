"""What was drawn of a screen is let go when the screen is left."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from inspect import getattr_static

from textual._styles_cache import StylesCache
from textual.dom import DOMNode


def let_go_of_drawn_lines() -> None:
    """Keep Textual from holding every line that the last thousand widgets drew.

    Textual 8.2 remembers the two colours behind a widget by the widget's own cache of lines, where
    the colours alone would do: the cache outlives the widget, some 100 MB after an hour of walking
    between screens, and each collection of the garbage goes through it. Where Textual has no such
    cache (any more) nothing is done.
    """
    kept = getattr_static(StylesCache, "get_inner_outer", None)
    by_widget = getattr(kept, "__wrapped__", None)
    if by_widget is not None:
        StylesCache.get_inner_outer = classmethod(lru_cache(1024)(by_widget))  # type: ignore[method-assign,assignment,arg-type]


def forget_lines(widgets: Iterable[DOMNode]) -> None:
    """Let go of the lines that widgets drew, which are many small objects that nothing refers to.

    The collector of the garbage need not find that out then: it is half of what it would go
    through when a screen was left.
    """
    for widget in widgets:
        kept = getattr(widget, "_styles_cache", None)
        if isinstance(kept, StylesCache):
            kept.clear()
