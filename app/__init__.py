"""Switchboard, the bot: Slack in, dispatch, agents, delivery."""

__version__ = "0.1.0"
