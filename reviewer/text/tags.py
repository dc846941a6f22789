"""The tags around text that an agent is given. The readers of transcripts leave out what stands
between them.
"""

OPENING = '<recalled-memory source="reviewer">'
CLOSING = "</recalled-memory>"
