"""Files on their way in: announced, uploaded, not yet completed."""

import secrets
from dataclasses import dataclass, field

from app.playground.model import File


@dataclass(slots=True)
class Upload:
    """One ticket of files.getUploadURLExternal."""

    file: File
    length: int
    """Announced bytes."""
    app_id: str
    is_uploaded: bool = False


@dataclass(slots=True)
class Uploads:
    by_ticket: dict[str, Upload] = field(default_factory=dict[str, Upload])
    by_file: dict[str, Upload] = field(default_factory=dict[str, Upload])

    def announce(self, upload: Upload) -> str:
        """The ticket in the upload address."""
        ticket = secrets.token_urlsafe(18)
        self.by_ticket[ticket] = upload
        self.by_file[upload.file.id] = upload
        return ticket

    def complete(self, file_id: str) -> None:
        self.by_file.pop(file_id, None)
