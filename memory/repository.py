"""A repository by its name, ``owner/name``, in the one spelling that its memory is kept under."""

import re

SHAPE = r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}/[A-Za-z0-9._-]{1,100}"
"""What such a name looks like, whoever has it.

As GitHub's sign-up form says it, an owner has 39 letters, digits and hyphens at most and does not begin with a hyphen;
an underscore comes from managed users ("Username considerations for external authentication"). A name has, as the form
for new repositories says, 100 letters, digits, dots, hyphens and underscores at most.
"""
_SHAPE = re.compile(SHAPE)
_NO_NAMES = frozenset({".", ".."})
_TAKEN = (".git", ".wiki")
"""Ends that the form takes off or refuses: with them a name is the address of something else."""
_ADDRESS = re.compile(
    r"(?:(?:https?://)?(?:www\.)?github\.com/|(?:ssh://)?git@github\.com[:/])(?P<name>[^/\s]+/[^/?#\s]+?)(?:\.git)?/?",
    re.IGNORECASE,
)
"""Of its page, which is what a browser and Slack's links give, or of what is cloned."""
NONE = "none"
"""In the place of a name: this is about no repository, whatever is set for more than this."""


def repository_of(text: str) -> str | None:
    """The repository that ``text`` names or is GitHub's address of, ``folded``.

    ``None`` for what GitHub has no repository of, and for addresses of anything else there.
    """
    address = _ADDRESS.fullmatch(text)
    spelt = address["name"] if address else text
    name = folded(spelt)
    is_none = not _SHAPE.fullmatch(spelt) or name.partition("/")[2] in _NO_NAMES or name.endswith(_TAKEN)
    return None if is_none else name


def chosen(text: str) -> str | None:
    """As ``repository_of``, or ``NONE`` for whoever wants none."""
    return NONE if text.lower() == NONE else repository_of(text)


def folded(name: str) -> str:
    """GitHub tells no two names apart by their case, so that two spellings are one repository with one memory."""
    return name.lower()
