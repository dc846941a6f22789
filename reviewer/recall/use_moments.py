"""The moments at which a session is handed memories. No imports: hooks load this at every call."""

START = "start"
"""A packet, which contains most memories of a small project."""
PROMPT = "prompt"
ERROR = "error"
GUARD = "guard"

LEFT_OUT = "instr(char(10) || m.moments || char(10), char(10) || 'only' || char(10))"
"""Whether a row `m` of `memory` is left out of packets, in SQL."""
