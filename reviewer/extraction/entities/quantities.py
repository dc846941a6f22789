"""Amounts with units: finding them in text, and comparing them exactly."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from msgspec import Struct

_DIMENSIONS = {
    "time": "1e-9 ns nanosecond nanoseconds, 1e-6 µs us microsecond microseconds,"
    " 1e-3 ms msec millisecond milliseconds, 1 s sec secs second seconds,"
    " 60 min mins minute minutes, 3600 h hr hrs hour hours, 86400 d day days, 604800 week weeks",
    "calendar": "1 month months, 12 year years",
    "bytes": "1 B byte bytes, 1e3 kB KB kb, 1e6 MB mb, 1e9 GB gb, 1e12 TB tb,"
    " 1024 KiB, 1048576 MiB, 1073741824 GiB, 1099511627776 TiB",
    "bytes per second": "1e3 kB/s KB/s, 1e6 MB/s, 1e9 GB/s",
    "bits per second": "1e3 kbit/s kbps, 1e6 Mbit/s Mbps, 1e9 Gbit/s Gbps",
    "mass": "1e-3 mg, 1 g gram grams, 1e3 kg kilogram kilograms, 1e6 t tonne tonnes",
    "length": "1e-6 µm um, 1e-3 mm, 1e-2 cm, 1 m metre metres meter meters, 1e3 km",
    "force": "1 N, 1e3 kN",
    "pressure": "1 Pa, 1e3 kPa, 1e5 bar, 1e6 MPa, 1e9 GPa",
    "frequency": "1 Hz, 1e3 kHz, 1e6 MHz, 1e9 GHz",
    "voltage": "1e-3 mV, 1 V, 1e3 kV",
    "current": "1e-3 mA, 1 A",
    "charge": "3.6 mAh, 3600 Ah",
    "resistance": "1 Ω ohm ohms, 1e3 kΩ",
    "capacitance": "1e-12 pF, 1e-9 nF, 1e-6 µF uF",
    "volume": "1e-3 ml mL, 1 L litre litres liter liters",
    "power": "1e-3 mW, 1 W, 1e3 kW, 1e6 MW",
    "energy": "1 J, 1e3 kJ, 1e6 MJ, 3.6 mWh, 3600 Wh, 3600000 kWh, 3600000000 MWh",
    "torque": "1 Nm",
    "level": "1 dB",
    "share": "1 % percent",
    "celsius": "1 °C",
    "fahrenheit": "1 °F",
    "dollar": "1 $ USD usd",
    "euro": "1 € EUR eur",
    "pound": "1 £ GBP gbp",
}
"""Units of each dimension after their factor. Months and years have no exact length."""
_UNITS = {
    unit: (dimension, Decimal(factor))
    for dimension, rows in _DIMENSIONS.items()
    for factor, *units in map(str.split, rows.split(", "))
    for unit in units
}
_COUNTED = (
    r"requests?|connections?|rows?|lines?|files?|items?|entries|entry|records?|users?|tokens?"
    r"|characters?|chars?|pixels?|px|fps|threads?|workers?|processes|retries|attempts?|times"
    r"|messages?|events?|jobs?|nodes?|replicas?|instances?|cores?|shards?|partitions?|versions?"
    r"|queries|calls?|bits?|cycles?|rpm"
)
_KNOWN = "|".join(
    re.escape(unit) for unit in sorted(_UNITS, key=lambda unit: (-len(unit), unit)) if unit != "$"
)
UNIT = rf"{_KNOWN}|{_COUNTED}"
"""A unit directly after a number."""
QUANTITY = (
    r"(?:(?P<currency>[$€£])\s?)?(?P<value>[-+]?\d{1,15}(?:[.,]\d{1,15}){0,5})"
    rf"(?:\s?(?P<unit>(?:{UNIT})(?:\s?(?:per|/)\s?[A-Za-z]{{1,20}}"
    r"(?:\s(?:and|per)\s[A-Za-z]{1,20})?)?)(?![\w/]))?"
)
"""A number with its unit or currency; groups `currency`, `value`, `unit`."""

_QUANTITY = re.compile(QUANTITY)
_CLOCK = re.compile(
    r"(?<![\w:.])(?P<clock>[0-2]?\d:[0-5]\d)(?![:\w])(?: ?(?P<zone>UTC|GMT|CES?T|am|pm)\b)?"
)
_INSIDE = re.compile(r"[\w.:#-]")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")


class Quantity(Struct, frozen=True):
    """An amount at `start:end` of a text, as written."""

    value: str
    unit: str
    start: int
    end: int


def quantities(text: str) -> tuple[Quantity, ...]:
    """The amounts with a unit or currency, and times of day, in text order."""
    clocks = [
        Quantity(match["clock"], match["zone"] or "", match.start(), match.end())
        for match in _CLOCK.finditer(text)
    ]
    amounts = [
        Quantity(match["value"], match["unit"] or match["currency"], match.start(), match.end())
        for match in _QUANTITY.finditer(text)
        if (match["unit"] or match["currency"])
        and not _INSIDE.match(text[max(match.start() - 1, 0) : match.start()])
    ]
    return tuple(sorted(clocks + amounts, key=lambda amount: amount.start))


def same_amount(value: str, unit: str, other: str, other_unit: str) -> bool:
    """Whether two amounts are exactly equal: `90 days` and `90 d`, `4.8 MB` and `4800 kB`.

    If one has no unit, only the numbers are compared. Non-numeric values are compared as text.
    """
    first, second = _number(value), _number(other)
    if first is None or second is None:
        return _plain(value) == _plain(other) and _plain(unit) == _plain(other_unit)
    if not unit or not other_unit:
        return first == second
    (dimension, factor), (other_dimension, other_factor) = _scale(unit), _scale(other_unit)
    return dimension == other_dimension and first * factor == second * other_factor


def _number(text: str) -> Decimal | None:
    text = text.strip().replace(" ", "")
    text = text.replace(",", "") if _THOUSANDS.fullmatch(text) else text.replace(",", ".")
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _scale(unit: str) -> tuple[str, Decimal]:
    """Dimension and factor of a unit; an unknown unit is its own dimension, in the singular."""
    unit = unit.strip()
    if known := _UNITS.get(unit) or _UNITS.get(unit.lower()):
        return known
    words = _plain(unit.replace("/", " per ")).split()
    return " ".join(
        word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words
    ), (Decimal(1))


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
