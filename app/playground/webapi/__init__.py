"""Slack's Web API over HTTP, as the playground plays it."""

from app.playground.webapi.call import SocketTickets
from app.playground.webapi.routes import web_api_routes

__all__ = ["SocketTickets", "web_api_routes"]
