"""What `switchboard doctor` looks at, as the settings name it."""

from app.doctor import ModelProbe
from app.slack.health import SlackAccess
from config.settings import Effort, Settings

_PROBE_WAIT_S = 60.0


def slack_access(settings: Settings) -> SlackAccess:
    slack = settings.slack
    return SlackAccess(
        mode=slack.mode,
        api_url=slack.api_url,
        bot_token=slack.bot_token.get_secret_value() if slack.bot_token else "",
        app_token=slack.app_token.get_secret_value() if slack.app_token else None,
        signing_secret=slack.signing_secret.get_secret_value() if slack.signing_secret else None,
        timeout_s=slack.timeout_s,
    )


def probes(settings: Settings) -> list[ModelProbe]:
    """Every model an answer may be made with, once."""
    wanted: dict[str | None, Effort | None] = {settings.defaults.model: settings.defaults.effort}
    for agent in settings.agents.values():
        wanted.setdefault(agent.model, agent.effort or settings.defaults.effort)
    wait_s = settings.limits.model_connect_s + min(settings.limits.model_idle_s, _PROBE_WAIT_S)
    return [
        ModelProbe(model, effort, settings.providers[model.split("/", 1)[0]].api_key_env, wait_s)
        for model, effort in wanted.items()
        if model is not None
    ]
