"""Secrets told in plain sentences go, and sentences about secrets stay whole (memory, sections 12 and 13)."""

import pytest

from memory.redact import redact

TOLD = [
    # stated
    "our VPN password is §hunter2§",
    "The Jenkins password is §swordfish§",
    "FYI the new VPN password is §Banana§",
    "I think the password is §rosebud§, but ask Ada.",
    "the root password for db-3 is §correct-horse§",
    "The root password for db-3 is §correct horse battery staple§",
    "the password for the staging account is §swordfish§.",
    "the password for ssh on the bastion in Frankfurt is §rosebud§.",
    "the password of the printer is §swordfish§ and the user is admin",
    "The password we use for the demo tenant is §rosebud§.",
    "the password that everyone uses is §rosebud§",
    "the password to the printer is §rosebud§",
    "the admin password is now §swordfish§",
    "the Grafana password is still §admin§",
    "the password is no longer §swordfish§",
    "the password was §swordfish§ until yesterday",
    "the password is: §rosebud§",
    "the password is *§rosebud*§",
    "the password for db-3 is `§blue whale§`",
    'the password for db-3 is "§blue whale§"',
    "we don't say it aloud: 'the password for db-3 is §swordfish§'",
    "the passphrase for the backup is §purple monkey dishwasher§",
    "the passphrase is §purple monkey dishwasher violet comet harbor lantern meadow pebble§ thistle",
    "pw is §swordfish§",
    # with a sign
    "login: admin / pw: §Tr0ub4dor§",
    "the wifi password: §«blue whale»§",
    "the wifi password: §»blue whale«§",
    "das Passwort: „§blauer Wal§“",
    "the wifi password: §blue whale§",
    "Password for wifi = §swordfish§",
    "*Password* for grafana: §rosebud§",
    "password: §swordfish§ user: ada",
    "wifi password - §sunshine§",
    # changed to
    "password has been changed to §swordfish§",
    "The password of our NAS was changed to §dragonfly§ today",
    "the admin password is set to §swordfish§",
    "the password's been changed to §swordfish§",
    "we set the root password to §letmein§",
    "I reset your password to §welcome§ for now",
    'we changed the password to "§blue whale§" yesterday',
    # the other way round, and beside
    "§swordfish§ is the password for the demo tenant",
    "I know that §swordfish§ is our root password.",
    '"§open sesame§" is the password',
    "use §swordfish§ as the admin password",
    "user deploy, password §rosebud§",
    "log in as ada with the password §rosebud§",
    "password §hunter2§",
    "the guest wifi has the password §«blue whale»§",
    "credentials are deploy / §rosebud§",
    "Our Grafana login is admin / §rosebud§",
    "login with ada@example.com:§rosebud§",
    "the door code is §2580§",
    "The PIN for the alarm is §4711§.",
    # other languages
    "das Passwort lautet §Sommer2024!§",
    "das Passwort lautet §Sommer§",
    "Das WLAN-Passwort ist §Sonnenblume§",
    "Das Passwort für den VPN-Zugang ist jetzt §Regenbogen§.",
    "Wir haben das Passwort auf §Sommer§ geändert",
    "Das Passwort wurde auf §Winter§ gesetzt",
    "Verwende §Rosenrot§ als Passwort",
    "Le mot de passe du wifi est §tournesol§",
    "La contraseña del wifi es §girasol§",
    "пароль: §подсолнух§",
]
TOLD_BY_LOOKS = [
    ("the API token for CI is §9f8e7d6c5b4a§", "token"),
    ("we rotated the token to §9f8e7d6c5b4a§", "token"),
    ("the API key for Stripe is §abc123def456§", "key"),
    ("the client secret of the app is §abc123def456§", "secret"),
]
ABOUT = [
    "the password is rotated every 90 days",
    "the password is in 1Password",
    "the password is stored in Vault",
    "password is required",
    "the token is expired",
    "the secret is to ask early",
    "The secret is simple: test early.",
    "The key to success is testing.",
    "The password for the VPN is managed by Okta.",
    "We store the password as a bcrypt hash.",
    "The password policy is strict.",
    "The password manager is Bitwarden.",
    "Bitwarden is our password manager.",
    "Vault is the password store.",
    "The problem is the password.",
    "The password reset link is valid for 20 minutes.",
    "Password authentication is disabled for ssh.",
    "The password is base64 encoded.",
    "The password is SHA-256 hashed before it is sent.",
    "The password is UTF-8.",
    "The password is case-sensitive.",
    "The password is bcrypt-hashed.",
    "The password is 16 characters long.",
    "The password is 16-char.",
    "The password is twelve characters.",
    "The password is at least 12 characters long.",
    "The password is automatically rotated.",
    "The password is company policy.",
    "The admin password is known only to Ada.",
    "The admin password is Ada's responsibility.",
    'the password for staging is kept in 1Password under "db-3"',
    "the password for staging is the same as for production",
    "The root password is on a sticky note.",
    "The root password for db-3 is not needed any more.",
    "The password has been changed to comply with the policy.",
    "We changed the password to be safe.",
    "We changed the password to regain the account.",
    "It takes the password to the proxy as well.",
    "Reset the password to continue.",
    "Set the password to something long.",
    "The password was changed to a longer one.",
    "If the password is wrong, the account is locked.",
    "The API key for Stripe is in Vault.",
    "The token for CI is opaque.",
    "Do not use your birthday as a password.",
    "Use a passphrase as the password.",
    "Enter your username and password, then press enter.",
    "containing username and password entries",
    "Credentials are in Vault / 1Password.",
    "Log in with Google / GitHub.",
    "The exit code is 1234.",
    "The error code 4711 means the disk is full.",
    "The pin on the board is 1712.",
    "Password for prod - ask Ada.",
    "Passwords - a history",
    "The password - swordfish lovers will smile - is long",
    "Password — rotated monthly",
    "The password - Ada chose it - is long",
    "pwd prints the working directory",
    "if password is None: raise ValueError",
    'password = ask("Password for the wiki: ") or "nothing else"',
    "Das Passwort ist abgelaufen.",
    "Das Passwort ist im Tresor.",
    "Das Passwort ist nur Ada bekannt.",
    "Das Passwort lautet wie immer.",
    "Das Passwort wurde auf Wunsch zurückgesetzt.",
    "Le mot de passe est dans le coffre.",
    "Le mot de passe est expiré.",
    "La contraseña es obligatoria.",
]


def split(text: str, kind: str = "password") -> tuple[str, str]:
    """A text with its secret, and what is to be left of it."""
    before, secret, after = text.split("§")
    return f"{before}{secret}{after}", f"{before}«{kind}»{after}"


@pytest.mark.parametrize(("text", "kind"), [*((each, "password") for each in TOLD), *TOLD_BY_LOOKS])
@pytest.mark.parametrize("wrapping", ["{}", "> {}", "One thing. {}\nThat is all.", "İstanbul: {}"])
def test_a_secret_told_in_a_sentence_goes_and_the_sentence_stays(text: str, kind: str, wrapping: str) -> None:
    before, after = split(text, kind)
    assert redact(wrapping.format(before)) == wrapping.format(after)
    assert redact(wrapping.format(after)) == wrapping.format(after)


@pytest.mark.parametrize("text", ABOUT)
def test_what_is_said_about_a_secret_stays(text: str) -> None:
    assert redact(text) == text
    assert redact(f"> {text}\n{text}") == f"> {text}\n{text}"
