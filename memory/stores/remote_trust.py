"""How a client of the memory service and the service know each other: by a token, and by a certificate."""

import ssl
from dataclasses import dataclass, field
from pathlib import Path


class TrustRefusedError(ValueError):
    """The file of certificates is none; the sentence names it."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What the service asks for, and who may vouch for it."""

    token: str = field(repr=False)
    ca_file: Path | None = None
    """Certificates of authorities (PEM) in the place of those that the machine trusts."""

    def trust(self) -> ssl.SSLContext | None:
        """``None`` for whom the machine trusts. Reads the file. Raises ``TrustRefusedError``."""
        if self.ca_file is None:
            return None
        try:
            return ssl.create_default_context(cafile=self.ca_file)
        except ssl.SSLError as fault:
            raise TrustRefusedError(f"memory.worker.ca_file: {self.ca_file} holds no certificate in PEM") from fault
        except OSError as fault:
            raise TrustRefusedError(f"memory.worker.ca_file: {self.ca_file}: {fault.strerror}") from fault
