"""Delivery of events and interactions to the apps: Socket Mode or signed HTTP."""

from app.playground.delivery.delivery import Delivery
from app.playground.delivery.envelope import AckTimes, DeliveredEnvelope

__all__ = ["AckTimes", "DeliveredEnvelope", "Delivery"]
