"""Addresses of memories as an operator writes them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.addresses import AddressError, Database, Folder, Service, is_same, parsed


@pytest.mark.parametrize(
    "text", ["data/memory", "/srv/bot/data/memory", "./x", "C:\\memory", "müll mit leerzeichen", "-"]
)
def test_what_has_no_scheme_is_a_folder(text: str) -> None:
    assert parsed(text) == Folder(Path(text))
    assert str(parsed(text)) == str(Path(text))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://bot:S%40CRET@db.example.com:5432/memory", "postgresql://db.example.com:5432/memory"),
        ("postgres://db/memory?sslmode=require&password=SCRET", "postgresql://db/memory"),
        ("postgresql:///memory?host=/run/pg&user=bot", "postgresql:///memory?host=/run/pg"),
        ("postgresql://[::1]:5433/m", "postgresql://[::1]:5433/m"),
        ("postgresql://", "postgresql:///"),
        ("postgresql://one:1,two:2/m", "postgresql://one:1,two:2/m"),
    ],
)
def test_a_database_is_shown_without_who_asks(text: str, shown: str) -> None:
    address = parsed(text)
    assert isinstance(address, Database)
    assert (address.url, str(address)) == (text, shown)
    assert "CRET" not in repr(address)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://memory.example.com", "https://memory.example.com"),
        ("HTTP://Memory.example.com:8377/", "http://memory.example.com:8377"),
        ("https://example.com/Base/", "https://example.com/Base"),
        ("http://[::1]:8377", "http://[::1]:8377"),
    ],
)
def test_a_service_is_where_it_listens(text: str, url: str) -> None:
    assert parsed(text) == Service(url)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "data\x00memory",
        "https://\nexample.com",
        "ftp://bot:SECRET@example.com",
        "sqlite:///data/memory",
        "postgresql+psycopg://bot:SECRET@db/m",
        "postgresql://bot:SECRE@T@db/m",
        "postgresql://bot:SECRE/T@db/m",
        "postgresql://bot:SECRE?T@db/m",
        "postgresql://bot:SECRE#T@db/m",
        "postgresql://db/m#SECRET",
        "postgresql://[SECRET",
        "https://bot:SECRET@example.com",
        "https://example.com/?token=SECRET",
        "https://example.com/#SECRET",
        "https://",
        "https://example.com:0",
        "https://example.com:70000",
        "https://example.com:SECRET",
        "https://[SECRET",
    ],
)
def test_anything_else_is_refused_in_one_sentence_that_repeats_nothing(text: str) -> None:
    with pytest.raises(AddressError) as refused:
        parsed(text)
    assert "SECRE" not in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
    assert refused.value.__cause__ is None


def test_a_scheme_nobody_knows_is_named() -> None:
    with pytest.raises(AddressError, match=r"^ftp:// is no address"):
        parsed("ftp://example.com")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("postgresql://a:x@db/m", "postgres://b:y@DB/m?sslmode=require", True),
        ("postgresql://db/m", "postgresql://db/other", False),
        ("postgresql:///m?host=/one", "postgresql:///m?host=/two", False),
        ("https://example.com/", "https://EXAMPLE.com", True),
        ("https://example.com", "http://example.com", False),
        ("data/memory", "./data/memory", True),
        ("data/memory", "https://example.com/data/memory", False),
    ],
)
def test_one_place_in_other_words_is_the_same(one: str, other: str, *, same: bool) -> None:
    assert is_same(parsed(one), parsed(other)) is same


@given(st.text(max_size=60), st.sampled_from(["", "postgresql://", "https://", "http://u:", "x://"]))
def test_any_text_is_an_address_or_refused(text: str, before: str) -> None:
    try:
        address = parsed(before + text)
    except AddressError:
        return
    assert str(address)
