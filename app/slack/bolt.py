"""The Bolt app: Slack's protocols, with the parts that would decide for themselves switched off."""

import logging

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult

from app.slack.calls import web_client
from app.slack.listeners import Listeners
from app.slack.messages import Messages
from app.slack.payloads import Identity


def bolt_app(
    identity: Identity, messages: Messages, listeners: Listeners, *, bot_token: str, signing_secret: str | None
) -> AsyncApp:
    """An app that accepts one workspace's events: ``messages`` takes what people say, ``listeners`` the rest.

    Its own ``authorize`` answers from the identity that is already known, so no event costs an auth.test, and
    ``SLACK_CLIENT_ID`` and ``SLACK_CLIENT_SECRET`` in the environment, with which Bolt switches OAuth on by itself,
    have no say: the OAuth flow that Bolt then makes is given no route, and tokens never come from it.
    """

    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None,
            team_id=identity.team_id,
            bot_token=bot_token,
            bot_id=identity.bot_id,
            bot_user_id=identity.user_id,
        )

    # At construction Bolt warns of tokens in the environment that it then, rightly, leaves unused. It sets its logger's
    # level by itself before that, but leaves filters as they are.
    bolts_own = logging.getLogger("slack_bolt.AsyncApp")
    bolts_own.addFilter(_is_error)
    app = AsyncApp(
        name="switchboard",
        client=web_client(None, api_url="https://slack.com/api/", token=None),
        before_authorize=messages,
        authorize=authorize,
        signing_secret=signing_secret,
        request_verification_enabled=signing_secret is not None,
        raise_error_for_unhandled_request=True,
        attaching_conversation_kwargs_enabled=False,
    )
    bolts_own.removeFilter(_is_error)
    listeners.register(app)
    return app


def _is_error(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.ERROR
