"""Where the playground is reachable: the base of every address it hands out."""

from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Origin:
    """``base_url`` has no trailing slash: ``http://127.0.0.1:8899``."""

    base_url: str

    @property
    def ws_base_url(self) -> str:
        return "ws" + self.base_url.removeprefix("http")

    def upload_url(self, ticket: str) -> str:
        return f"{self.base_url}/upload/{ticket}"

    def file_url(self, file_id: str, name: str) -> str:
        return f"{self.base_url}/files/{file_id}/{quote(name)}"

    def permalink(self, channel: str, ts: str, thread_ts: str | None = None) -> str:
        link = f"{self.base_url}/archives/{channel}/p{ts.replace('.', '')}"
        return f"{link}?thread_ts={thread_ts}&cid={channel}" if thread_ts and thread_ts != ts else link
