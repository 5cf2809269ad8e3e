"""The memory service as a Starlette application."""

from starlette.applications import Starlette
from starlette.routing import Route

from memory.service.asgi import MemoryService


def application(service: MemoryService) -> Starlette:
    """Its routes. What is none of them goes to the service as well, whose order of checks is the contract."""
    known = Starlette(routes=[Route(path, service, name=path[1:]) for path in service.paths])
    known.router.redirect_slashes = False
    known.router.default = service
    return known
