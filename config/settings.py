"""Everything an operator can set, as one frozen tree; `config.loading` fills it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from config.actor_ids import ActorIds, CommandName, SlackIds
from config.fields import (
    CheckedLater,
    Dollars,
    Effort,
    EntryName,
    ModelName,
    ModelReference,
    OrganizationName,
    ProviderKind,
    RepositoryName,
    Text,
    VariableName,
    WebAddress,
)

GENERAL_AGENT = "general"
"""The agent every installation has, whatever the operator sets."""
PLAYGROUND_MODEL = "offline/demo"
BEARER_VARIABLE = "MEMORY_TOKEN"
TOKENS_VARIABLE = "SWITCHBOARD_INGRESS_TOKENS"

BUILT_IN_PROVIDERS: Mapping[str, Mapping[str, str]] = {
    "anthropic": {"kind": "anthropic", "api_key_env": "ANTHROPIC_API_KEY"},
    "openai": {"kind": "openai", "api_key_env": "OPENAI_API_KEY"},
    "offline": {"kind": "offline"},
}


class Section(BaseModel):
    """A part of the tree: frozen, closed to unknown names, and silent about the values it refuses."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False)


class DefaultsSettings(Section):
    """What an answer is made with where nothing closer to the conversation says otherwise."""

    agent: EntryName = GENERAL_AGENT
    model: ModelReference | None = None
    effort: Effort | None = None
    repo: RepositoryName | None = None


class AgentSettings(Section):
    """One agent: who it is, and the model it prefers over the default one."""

    prompt: Text
    model: ModelReference | None = None
    effort: Effort | None = None


class ProviderSettings(Section):
    """One server that answers with a model."""

    kind: ProviderKind
    base_url: WebAddress | None = None
    """None is the vendor's own address."""
    api_key_env: VariableName | None = None
    """The variable that holds the key; None for a server that asks for no key."""
    api_key: SecretStr | None = None
    """What that variable holds, looked up while loading."""


class ModelSettings(Section):
    """What is known of one model. There are no built-in prices: they change, and a wrong sum is worse than none."""

    context_tokens: int | None = Field(default=None, ge=1_000, le=10_000_000)
    """Its window."""
    input_usd: Dollars | None = None
    output_usd: Dollars | None = None
    cache_read_usd: Dollars | None = None
    cache_write_usd: Dollars | None = None
    included: bool = False
    """Whether its tokens are paid for otherwise: by a subscription, or with one's own machine."""

    @property
    def has_price(self) -> bool:
        prices = (self.input_usd, self.output_usd, self.cache_read_usd, self.cache_write_usd)
        return any(price is not None for price in prices)


class SlackSettings(Section):
    """How the bot reaches Slack and how Slack reaches the bot."""

    mode: Literal["socket", "http"] = "socket"
    bot_token: SecretStr | None = None
    app_token: SecretStr | None = None
    signing_secret: SecretStr | None = None
    api_url: WebAddress = "https://slack.com/api/"
    """Always ends with a slash."""
    timeout_s: float = Field(default=15.0, gt=0, le=120)
    reply_in_thread: bool = True
    """Whether what is said at the top of a channel is answered in a thread below it, or in the channel itself."""

    @field_validator("api_url")
    @classmethod
    def _end_with_slash(cls, value: str) -> str:
        return value.rstrip("/") + "/"


class WorkerSettings(Section):
    """The remote memory service, where one is used."""

    base_url: WebAddress | None = None
    token_env: VariableName = BEARER_VARIABLE
    """The variable that holds the bearer token."""
    token: SecretStr | None = None
    """What that variable holds, looked up while loading."""
    ca_file: Path | None = None
    """Certificates (PEM) of the authorities that may vouch for an https:// service; None: whom the machine trusts."""


class PostgresSettings(Section):
    """The database memory is kept in, where it is one; the memory service uses the same."""

    url: SecretStr | None = None
    """``postgresql://user:password@host:port/database``."""


class MemorySettings(Section):
    """What the bot remembers between threads; off until somebody switches it on."""

    enabled: bool = False
    store: Literal["auto", "inprocess", "sqlite", "postgres", "remote"] = "auto"
    worker: WorkerSettings = WorkerSettings()
    postgres: PostgresSettings = PostgresSettings()
    ranker: Literal["relevance", "keyword"] = "relevance"
    limit: int = Field(default=8, ge=1, le=50)
    max_tokens: int = Field(default=800, ge=1, le=100_000)
    max_records_per_scope: CheckedLater = 500
    """Checked where the store is opened: a value out of range is told and replaced by the default, never fatal."""
    embedding: ModelReference | None = None
    model: ModelReference | None = None
    """What looks at finished turns; None is the model that answered."""
    mode: Literal["passive", "tool"] = "passive"
    notice: Literal["off", "quiet", "on"] = "quiet"


class StateSettings(Section):
    """Where conversations, queues and receipts are kept."""

    url: SecretStr | None = None
    """A SQLAlchemy URL, ``sqlite:///…`` or ``postgresql://…``; None is a SQLite file below ``data_dir``."""


class CacheSettings(Section):
    """Conversations kept at hand between their turns."""

    max_size: int = Field(default=128, ge=1, le=100_000)
    idle_ttl_s: float = Field(default=3_600.0, gt=0, le=604_800)
    memory_high_mb: Literal["auto", "off"] | Annotated[int, Field(ge=0)] = "auto"
    """``auto`` is a share of what the machine or its container allows; 0 and ``off`` switch the pass off."""
    max_evictions_per_pass: int = Field(default=16, ge=1, le=1_000)
    protect_recent: int = Field(default=8, ge=0, le=1_000)


class CompressionSettings(Section):
    """What happens when a conversation outgrows its model's window."""

    threshold: float = Field(default=0.85, ge=0.2, le=0.95)
    """The share of the window that a prompt may fill before it is compressed."""
    protect_first: int = Field(default=3, ge=0, le=100)
    protect_last: int = Field(default=20, ge=1, le=1_000)
    context_tokens: int = Field(default=200_000, ge=1_000, le=10_000_000)
    """The window of a model that ``models`` says nothing about."""


class SessionSettings(Section):
    """How conversations are kept apart, lined up, and taken up again."""

    group_sessions_per_user: bool = True
    thread_sessions_per_user: bool = False
    dm_top_level_threads_as_sessions: bool = True
    busy_input: Literal["queue", "steer", "interrupt"] = "queue"
    queue_cap: int = Field(default=32, ge=1, le=1_000)
    resume_freshness_s: float = Field(default=3_600.0, gt=0, le=604_800)
    max_age_days: int = Field(default=0, ge=0, le=36_500)
    """0 keeps the routing of every conversation."""
    cache: CacheSettings = CacheSettings()
    compression: CompressionSettings = CompressionSettings()


class PrivacySettings(Section):
    """What a model is told about people."""

    redact_pii: bool = False


class RestrictSettings(Section):
    """What is kept for some: by name, those who may. Admins always may; everything that is not named is open."""

    agents: dict[EntryName, ActorIds] = {}
    commands: dict[CommandName, ActorIds] = {}


class AccessSettings(Section):
    """Who may do what, beyond what everybody may."""

    admins: SlackIds = ()
    """Those who curate shared memory. Nobody listed means that nobody is one."""
    workspace_admins: bool = False
    """Whether the Slack workspace's admins and owners are admins here, too."""
    restrict: RestrictSettings = RestrictSettings()
    guests: Literal["talk", "none"] = "talk"
    external: Literal["talk", "none"] = "talk"
    """People of other organisations in shared channels."""


class HttpSettings(Section):
    """The bot's one HTTP surface."""

    host: Text = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65_535)
    """0 takes any free port."""
    tokens_env: VariableName = TOKENS_VARIABLE
    """The variable that holds a JSON object: each bearer token and whose it is."""
    tokens: SecretStr | None = None
    """What that variable holds, looked up while loading."""


class LogSettings(Section):
    """``auto`` is pretty on a terminal and JSON anywhere else."""

    format: Literal["auto", "pretty", "json"] = "auto"
    level: Literal["debug", "info", "warning", "error"] = "info"


class LimitSettings(Section):
    """How much and how long, for one process, one turn and one model call."""

    concurrent_turns: int = Field(default=100, ge=1, le=10_000)
    turn_s: float = Field(default=600.0, gt=0, le=86_400)
    model_connect_s: float = Field(default=10.0, gt=0, le=600)
    model_idle_s: float = Field(default=90.0, gt=0, le=3_600)
    message_chars: int = Field(default=50_000, ge=1, le=1_000_000)
    history_messages: int = Field(default=50, ge=1, le=1_000)
    history_chars: int = Field(default=60_000, ge=1, le=10_000_000)
    output_tokens: int = Field(default=8_192, ge=1, le=1_000_000)
    drain_s: float = Field(default=25.0, gt=0, le=600)


class Settings(BaseSettings):
    """The whole tree. Printing or dumping it never shows a secret.

    It reads no source by itself: `config.loading` merges them, because each fault names where it came from.

    What depends on how the bot is started (which tokens a mode needs, what must be set outside the
    playground) is checked by `config.loading.load`, not here.
    """

    model_config = SettingsConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False)

    organization: OrganizationName | None = None
    defaults: DefaultsSettings = DefaultsSettings()
    agents: dict[EntryName, AgentSettings] = {}
    providers: dict[EntryName, ProviderSettings] = Field(default={}, validate_default=True)
    models: dict[ModelName, ModelSettings] = {}
    data_dir: Path = Path("data")
    memory: MemorySettings = MemorySettings()
    access: AccessSettings = AccessSettings()
    state: StateSettings = StateSettings()
    sessions: SessionSettings = SessionSettings()
    privacy: PrivacySettings = PrivacySettings()
    slack: SlackSettings = SlackSettings()
    http: HttpSettings = HttpSettings()
    logs: LogSettings = LogSettings()
    limits: LimitSettings = LimitSettings()

    @field_validator("providers")
    @classmethod
    def _add_built_in_providers(cls, value: dict[str, ProviderSettings]) -> dict[str, ProviderSettings]:
        built_in = {name: ProviderSettings.model_validate(spec) for name, spec in BUILT_IN_PROVIDERS.items()}
        return built_in | value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the library's signature, here and below
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)
