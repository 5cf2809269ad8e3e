"""Which memory that others share a turn reads, and which it may teach, beside its channel's and its author's own."""

from dataclasses import dataclass
from typing import Protocol

from app.access.authority import Asker
from commands.ports import Decision


@dataclass(frozen=True, slots=True)
class Shared:
    """The organisation's, and a repository's."""

    org: bool = False
    repo: str | None = None


NOTHING = Shared()


class Access(Protocol):
    """What is needed of ``app.dispatch.ports.Access``."""

    def may_recall_org(self, asker: Asker) -> Decision:
        """Whether the organisation's memory may go before an answer that everybody in the place reads."""
        ...

    def may_recall_repo(self, asker: Asker, repo: str) -> Decision:
        """Likewise, a repository's."""
        ...

    def may_reflect_org(self, asker: Asker) -> Decision:
        """Whether the organisation may remember what is said here."""
        ...

    def may_reflect_repo(self, asker: Asker, repo: str) -> Decision:
        """Whether all who work in the repository may."""
        ...


def readable(access: Access, asker: Asker, repo: str | None) -> Shared:
    """``repo``: the one the turn is about, if any. No other can be read."""
    may_read_repo = repo is not None and access.may_recall_repo(asker, repo).is_allowed
    return Shared(access.may_recall_org(asker).is_allowed, repo if may_read_repo else None)


def teachable(access: Access, asker: Asker, repo: str | None) -> Shared:
    """``repo``: the one the turn is about, if any."""
    may_teach_repo = repo is not None and access.may_reflect_repo(asker, repo).is_allowed
    return Shared(access.may_reflect_org(asker).is_allowed, repo if may_teach_repo else None)
