"""How many planted secrets are masked, and how many harmless texts are left alone."""

from __future__ import annotations

from reviewer.text.secrets import mask
from tests.unit.text.planted_secrets import HARMLESS, PLANTED


def readable(value: str, text: str) -> bool:
    """Whether more than a third of a value still stands in a text, in one piece."""
    piece = max(4, len(value) // 3)
    return any(value[at : at + piece] in text for at in range(len(value) - piece + 1))


def test_nearly_every_planted_secret_is_masked() -> None:
    missed = [each for each in PLANTED if readable(each.value, mask(each.text).text)]
    assert len(missed) <= 0.03 * len(PLANTED), "\n".join(f"{x.where}: {x.text}" for x in missed)


def test_nearly_nothing_harmless_is_masked() -> None:
    wrong = [text for text in HARMLESS if mask(text).kinds]
    assert len(wrong) <= 0.02 * len(HARMLESS), "\n".join(wrong)


if __name__ == "__main__":
    missed = [each for each in PLANTED if readable(each.value, mask(each.text).text)]
    wrong = [text for text in HARMLESS if mask(text).kinds]
    for each in missed:
        print("missed:", each.where, "|", each.text[:150].replace("\n", "⏎"))
    for text in wrong:
        print("wrong:", text[:120].replace("\n", "⏎"), "->", mask(text).kinds)
    found = len(PLANTED) - len(missed)
    print(f"recall {found}/{len(PLANTED)} = {found / len(PLANTED):.3f}, ", end="")
    print(f"precision {found / (found + len(wrong)):.3f}, {len(wrong)} of {len(HARMLESS)} harmless")
