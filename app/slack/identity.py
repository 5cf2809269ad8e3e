"""Who the bot is: asked once before anything is listened to."""

from collections.abc import Mapping
from typing import Any

import structlog

from app.clock import Clock
from app.errors import ConfigurationError
from app.slack.calls import SlackCalls, SlackLostError, SlackRefusalError
from app.slack.outcome import Refusal
from app.slack.payloads import Identity

SLACK_UNREACHABLE = "slack_unreachable"
LONGEST_PAUSE_S = 30.0

_log = structlog.stdlib.get_logger(__name__)


async def identify(calls: SlackCalls, clock: Clock) -> Identity:
    """The answer of auth.test; waits for a Slack that cannot be reached, for as long as it takes.

    Raises ``ConfigurationError`` when Slack refuses the token.
    """
    pause_s = 0.5
    while True:
        try:
            answer = await calls.call("auth.test", {})
        except SlackRefusalError as fault:
            if fault.refusal is not Refusal.RATE_LIMITED:
                raise ConfigurationError(
                    f"Slack refuses slack.bot_token ({fault.error}): copy the Bot User OAuth Token of the installed app"
                ) from fault
            pause_s = fault.retry_after_s
        except SlackLostError as fault:
            _log.warning(SLACK_UNREACHABLE, reason=str(fault), next_try_s=pause_s)
        else:
            return _identity(answer)
        await clock.sleep(pause_s)
        pause_s = min(pause_s * 2, LONGEST_PAUSE_S)


def _identity(answer: Mapping[str, Any]) -> Identity:
    names = [str(answer.get(field) or "") for field in ("user_id", "bot_id", "team_id")]
    if not all(names):
        raise ConfigurationError("slack.bot_token is not a bot's: copy the Bot User OAuth Token of the installed app")
    return Identity(*names)
