"""A password that is told in a sentence: the fact around it is learned, the password is in no record and in no file."""

from pathlib import Path

from app.playground.server import Playground
from tests.e2e.conftest import MENTION
from tests.e2e.test_learning import Talk, learning, settings_of


def held(folder: Path) -> bytes:
    return b"".join(each.read_bytes() for each in sorted(folder.rglob("*")) if each.is_file())


async def test_a_password_told_in_a_sentence_is_not_remembered(playground: Playground) -> None:
    settings = settings_of(playground, store="sqlite")
    async with learning(settings) as application:
        talk = Talk(playground, application)
        await talk.says(f"{MENTION} We use Swordfish as the root password of the Jenkins host in Berlin")
        await talk.says(f"{MENTION} We run the printer in Berlin with user deploy, password Sommerwind")
        answer = await talk.says(f"{MENTION} what do you know about Jenkins and Berlin?")
    kept = held(Path(settings.data_dir) / "memory")
    assert "Jenkins" in answer
    assert b"Jenkins" in kept
    for secret in ("swordfish", "sommerwind"):
        assert secret not in answer.lower()
        assert secret.encode() not in kept.lower()
