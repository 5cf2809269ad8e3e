"""A memory service that waits half a second for a request and no longer: ``python -m tests.hasty_memory_service``."""

import sys
from pathlib import Path

from memory.service.logs import configure
from memory.service.starting import ServiceWish, run_service
from tests.memory_services import TOKEN

REQUEST_S = 0.5

if __name__ == "__main__":
    configure("info", stream=sys.stdout)
    run_service(ServiceWish("127.0.0.1", 0, Path("data"), "sqlite", TOKEN, build="hasty", request_s=REQUEST_S))
