"""What is left of a fact that was nothing but a secret (specification, section 14)."""

import pytest

from memory.learning import is_husk


@pytest.mark.parametrize(
    "text",
    [
        "The password: «password»",
        "Our API key is «key».",
        "API_KEY=«api-key»",
        "It is «token»",
        "«private-key» «aws-key»",
        "This user's new credentials are «secret» and «password».",
        "Das Passwort lautet «password».",
        "Le mot de passe est «password».",
        "La contraseña es «password».",
    ],
)
def test_a_mark_and_words_that_name_a_secret_say_nothing(text: str) -> None:
    assert is_husk(text)


@pytest.mark.parametrize(
    "text",
    [
        "The password",
        "Passwords are rotated every 30 days.",
        "Our staging user is deploy, its password is «password».",
        "The token for the registry is «token».",
        "The key «key» expires in May.",
        "The password is not «password».",
        "",
    ],
)
def test_what_says_more_is_worth_keeping(text: str) -> None:
    assert not is_husk(text)
