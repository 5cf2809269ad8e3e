"""What an operator reads about a copy."""

from collections import Counter

from app.moving_report import by_status, lines_of, not_copied, troubles, verdict
from memory.comparison import Compared, Outcome
from memory.moving import Copied
from memory.record import Status
from memory.verification import Verified
from memory.walking import Trouble

SOURCE = Counter({Status.ACTIVE: 3, Status.FORGOTTEN: 1})


def test_a_whole_copy_is_figures_and_a_sentence() -> None:
    compared = Compared(Counter({Outcome.SAME: 4}), SOURCE, SOURCE)
    assert lines_of(Copied(copied=3, present=1), Verified(2, compared)) == [
        "scopes: 2",
        "records: 4 (3 active, 1 forgotten)",
        "copied: 3",
        "already there: 1",
        "different: 0",
        "missing: 0",
        "only in the target: 0",
        "verified: the target has every record of the source",
    ]


def test_what_is_not_the_same_is_named_with_its_scope() -> None:
    unlike = Counter({Outcome.SAME: 2, Outcome.MISSING: 1, Outcome.DIFFERENT: 1, Outcome.EXTRA: 1})
    compared = Compared(unlike, SOURCE, Counter({Status.ACTIVE: 4}))
    examples = {"mem:org:acme:1": Outcome.MISSING, "mem:org:acme:9": Outcome.EXTRA}
    trouble = Trouble("org:acme", "the file cannot be used")
    lines = lines_of(Copied(troubles=(trouble,)), Verified(1, compared, troubles=(trouble,), examples=examples))
    assert lines[4:] == [
        "different: 1",
        "missing: 1",
        "only in the target: 1",
        "records of the target: 4 (4 active)",
        "missing: mem:org:acme:1",
        "only in the target: mem:org:acme:9",
        "scope org:acme: the file cannot be used",
        "not whole: what is named above is not in the target as it is in the source",
    ]


def test_a_source_that_changed_is_told_from_a_failure() -> None:
    changed = Compared(Counter({Outcome.DIFFERENT: 1}))
    assert "the source changed" in verdict(Verified(compared=changed, moved=changed))
    assert "the source changed" not in verdict(Verified(compared=changed + changed, moved=changed))
    assert "the source changed" not in verdict(
        Verified(compared=changed, moved=changed, troubles=(Trouble("org:acme", "no"),))
    )


def test_only_the_first_scopes_in_trouble_are_named() -> None:
    lines = troubles([Trouble(f"org:{number}", "no") for number in range(25)])
    assert (len(lines), lines[0], lines[-1]) == (21, "scope org:0: no", "and 5 more")


def test_a_file_is_named_once_with_its_scope_where_that_is_known() -> None:
    known, unknown = Trouble("org:acme", "file 1 is damaged"), Trouble("", "file 2 is damaged")
    lines = troubles([known, unknown], [Trouble("", "file 1 is damaged"), unknown])
    assert lines == ["scope org:acme: file 1 is damaged", "file 2 is damaged"]


def test_nothing_has_no_statuses() -> None:
    assert by_status(Counter()) == "0"


def test_a_backup_lacks_what_failed_and_not_what_changed() -> None:
    changed = Compared(Counter({Outcome.SAME: 3, Outcome.DIFFERENT: 1}), SOURCE, SOURCE)
    trouble = Trouble("org:acme", "no")
    assert not_copied(Copied(), Verified(compared=changed, moved=changed), SOURCE) == []
    assert not_copied(Copied(), Verified(compared=changed, moved=changed), Counter()) == [
        "the files have not the records that were copied"
    ]
    lacking = not_copied(Copied(troubles=(trouble,)), Verified(compared=changed, troubles=(trouble,)), SOURCE)
    assert lacking[0] == "scope org:acme: no"
    assert lacking[1].startswith("not whole: ")
