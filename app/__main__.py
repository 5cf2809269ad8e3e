"""The outermost boundary of the process: `python -m app`, and the `switchboard` script through `app.cli`."""

import secrets
import sys
from collections.abc import Callable

from memory.service.process import collecting_rarely

PROCESS_FAILED = "process_failed"


def main() -> None:
    with collecting_rarely():
        from app.cli import invoke

        status = guarded(lambda: invoke(sys.argv[1:]))
    sys.exit(status)


def guarded(command: Callable[[], int]) -> int:
    """What ``command`` returns; a failure nobody foresaw ends as one line here and a traceback in the log."""
    try:
        return command()
    except KeyboardInterrupt:
        return 130
    except Exception:  # noqa: BLE001 - nothing is left above this to tell a person what happened
        reference = secrets.token_hex(4)
        _log_failure(reference)
        sys.stderr.write(f"switchboard: stopped by an unexpected error; the log has it as reference={reference}\n")
        return 1


def _log_failure(reference: str) -> None:
    import structlog

    from app.logs import configure

    if not structlog.is_configured():
        configure("auto", "info", stream=sys.stdout)
    structlog.stdlib.get_logger(__name__).critical(PROCESS_FAILED, reference=reference, exc_info=True)


if __name__ == "__main__":
    main()
