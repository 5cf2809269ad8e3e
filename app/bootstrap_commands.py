"""The part of the composition root that puts the commands together, for the bot and for the terminal."""

from dataclasses import dataclass

from app import __version__
from app.access.actor import ChannelFacts, PersonFacts
from app.access.authority import TableAuthority
from app.access.grants import Grants, check_commands
from app.clock import Clock
from app.errors import ConfigurationError
from app.http.bearer import Bearers
from commands.builtin import Records, builtin_commands
from commands.ports import Authority, Receipts, Status, StatusSource
from commands.registry import Registry
from commands.spec import Surface
from config.settings import Settings
from memory.store import MemoryStore


def grants_of(settings: Settings, bearers: Bearers) -> Grants:
    access = settings.access
    return Grants(
        admins=tuple(access.admins),
        workspace_admins=access.workspace_admins,
        guests_may_talk=access.guests == "talk",
        external_may_talk=access.external == "talk",
        agents={name: frozenset(ids) for name, ids in access.restrict.agents.items()},
        commands={name: frozenset(ids) for name, ids in access.restrict.commands.items()},
        subjects=bearers.actions(),
    )


@dataclass(frozen=True, slots=True)
class CommandPorts:
    """What commands work with beside memory, and where it is written down that they were given."""

    receipts: Receipts
    records: Records | None = None


def registry_of(
    settings: Settings,
    store: MemoryStore,
    authority: Authority,
    status: StatusSource,
    clock: Clock,
    ports: CommandPorts,
) -> Registry:
    """Every command over ``store``, which counts only while memory is on. Raises ``ConfigurationError``."""
    memory = store if settings.memory.enabled else None
    organization = organization_of(settings)
    commands = builtin_commands(memory, organization, authority, status, ports.records)
    check_commands(grants_of(settings, Bearers({})), [command.id for command in commands])
    return Registry(commands, authority, now=clock.now, receipts=ports.receipts)


def organization_of(settings: Settings) -> str:
    """Raises ``ConfigurationError``."""
    if settings.organization is None:
        raise ConfigurationError("organization is not set: it names whose memory the bot keeps")
    return settings.organization


def unopened_registry() -> Registry:
    """Every command over nothing: what they are called, and what they say about themselves."""
    nobody = TableAuthority("nobody", Grants(), people=Strangers(), places=Elsewhere())
    return Registry(builtin_commands(None, "nobody", nobody, TerminalStatus(Settings())), nobody)


def groups() -> frozenset[str]:
    """First words of every command; nothing is opened for them."""
    return frozenset(command.group for command in unopened_registry().commands(Surface.CLI))


class Strangers:
    """People of a workspace that is not asked."""

    async def facts(self, user_id: str) -> PersonFacts:  # noqa: ARG002 - the port's
        return PersonFacts()

    def has_facts(self, user_id: str) -> bool:  # noqa: ARG002 - the port's
        return True


class Elsewhere:
    """Channels of a workspace that is not asked."""

    async def facts(self, channel_id: str) -> ChannelFacts:  # noqa: ARG002 - the port's
        return ChannelFacts()


class TerminalStatus:
    """What a process beside the bot can tell."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def status(self) -> Status:
        memory = self._settings.memory
        return Status(
            (
                ("version", __version__),
                ("memory", memory.store if memory.enabled else "off"),
                ("model", self._settings.defaults.model or "none"),
                ("process", "terminal"),
            )
        )
