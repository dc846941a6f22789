"""Whether the person has asked for commits and pushes, and which commands they do not want run."""

from __future__ import annotations

import re

from msgspec import Struct

from reviewer.compression.offline.events import Event, Kind, Message, Voice

OFFER_CHARS = 400
"""Characters at the end of the agent's message that an assent answers."""
ASSENT_CHARS = 60

_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_NO = (
    r"(?:\b(?:do not|don['\u2019]?t|never|no need to|not to|stop|without|avoid|ne|nicht|nunca)\b"
    r"\W+(?:\w+\W+){0,4}?)"
)
_NOT_A_NAME = r"(?<!\bthe )(?<!\ba )(?<!\bthis )(?<!\bthat )(?<!\blast )(?<!\bprevious )(?<!\bper )"
_COMMIT = re.compile(
    rf"{_NOT_A_NAME}\bcommit(?:te[rz]?)?\b(?! (?:message|hash|id|history|[0-9a-f]{{7,}}))|提交",
    re.IGNORECASE,
)
_PUSH = re.compile(
    rf"{_NOT_A_NAME}\bpush\b|推送"
    r"|\b(?:open|create|make|raise|submit|put up) (?:an? |the )?(?:draft )?(?:pr|mr|pull request)\b",
    re.IGNORECASE,
)
_FORBIDDEN = re.compile(
    rf"{_NO}(?:re-?)?(build|test|lint|format|commit|push|deploy|install|run)(?:s|ing|ting)?\b"
    r"(?:\W+(?:the |any |all )?(?:re)?(build|tests?|lint\w*|server|format\w*)\b)?",
    re.IGNORECASE,
)
_STANDING = re.compile(r"\b(?:always|every|each|whenever|as you go|from now on)\b", re.IGNORECASE)
_REFUSES = re.compile(r"\W*(?:no|nope|not|don['\u2019]?t|non|nein|nicht|wait|stop)\b", re.I)
_ASKS_THE_AGENT = re.compile(
    r"\W*(?:\w+\W+){0,3}?(?:can|could|would|will) (?:you|we)\b|\W*(?:please|let['\u2019]?s)\b", re.I
)


class Wishes(Struct):
    """What the person has asked for and not got yet, and what they do not want."""

    commit: bool = False
    push: bool = False
    always_commit: bool = False
    always_push: bool = False
    forbidden: set[str] = set()
    """Words of commands: `build` where nothing is to be built."""
    commits_unasked: int = 0
    """Commits that the agent made by itself."""
    pushes_unasked: int = 0
    offered: str = ""
    """How the agent's last message ends."""
    committed: bool = False
    pushed: bool = False
    """Whether there was a commit or a push since the person spoke."""

    def hear(self, message: Message) -> None:
        """Take note of what the person says, and of what the agent offers."""
        if message.voice is Voice.AGENT:
            self.offered = message.text[-OFFER_CHARS:]
        elif message.voice is Voice.PERSON:
            text = message.text
            self.commit = self.commit and not self.committed
            self.push = self.push and not self.pushed
            self.committed = self.pushed = False
            if len(text) <= ASSENT_CHARS and "?" in self.offered and not _REFUSES.match(text):
                asked = [each for each in _SENTENCES.split(self.offered) if "?" in each]
                self._ask(" ".join(asked))
            for sentence in _SENTENCES.split(text):
                self._obey(sentence)

    def _obey(self, sentence: str) -> None:
        found = _FORBIDDEN.search(sentence)
        if found:
            words = {word.lower().rstrip("s") for word in found.groups() if word}
            self.forbidden |= words - {"run"} or words
            self.commit = self.commit and "commit" not in words
            self.push = self.push and "push" not in words
        elif not sentence.rstrip().endswith("?") or _ASKS_THE_AGENT.match(sentence):
            self._ask(sentence)

    def _ask(self, sentence: str) -> None:
        commit, push = bool(_COMMIT.search(sentence)), bool(_PUSH.search(sentence))
        self.commit |= commit or push
        self.push |= push
        self.forbidden -= {"commit"} if commit or push else set()
        self.forbidden -= {"push"} if push else set()
        if _STANDING.search(sentence):
            self.always_commit |= commit or push
            self.always_push |= push

    def see(self, event: Event) -> None:
        """Take note of a commit or push that was made."""
        if event.failed is not False:
            return
        if event.kind is Kind.COMMIT:
            asked = self.commit or self.always_commit or event.amends
            self.commits_unasked += bool(event.what and not asked)
            self.committed = True
        elif event.kind in (Kind.PUSH, Kind.PULL_REQUEST):
            self.pushes_unasked += not (self.push or self.always_push)
            self.pushed = True

    @property
    def wants_commit(self) -> bool:
        """Whether changes are to be committed without another word of the person."""
        asked = self.commit and not self.committed
        wanted = asked or self.always_commit or self.commits_unasked > 0
        return wanted and "commit" not in self.forbidden

    @property
    def wants_push(self) -> bool:
        asked = self.push and not self.pushed
        wanted = asked or self.always_push or self.pushes_unasked > 0
        return wanted and "push" not in self.forbidden

    def forbids(self, command: str) -> bool:
        """Whether the person does not want a command of this kind to be run."""
        words = re.findall(r"[a-z]+", command.lower())
        return any(word.removeprefix("re").rstrip("s") in self.forbidden for word in words)
