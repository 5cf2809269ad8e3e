"""What can go wrong in the bot, branched by what the caller can do about it.

SwitchboardError
├── ConfigurationError            the operator changes a setting
├── ModelError                    a model call brought no answer
│   ├── ModelBusyError            wait (``retry_after_s``) and call again
│   ├── ModelUnreachableError     call again: the network, a time-out or the server's own fault
│   ├── ModelKeyError             the operator fixes the key or its rights
│   └── ModelRejectedError        the request itself must change
│       └── PromptTooLongError    … by getting shorter
├── ChannelUnavailableError       the platform could not be asked; nothing is known
├── DeliveryError                 the platform took none of the ways to show an answer
├── NotAllowedError               somebody else has to ask, or an admin has to allow it
├── StateError                    the bot's own records could not be used (see ``app.state.errors``)
└── StoppedByUserError            a person ended the answer
"""


class SwitchboardError(Exception):
    """Root of the bot's own errors."""


class ConfigurationError(SwitchboardError):
    """A setting names something that does not exist or contradicts another."""


class ModelError(SwitchboardError):
    """A model call brought no (complete) answer."""


class ModelBusyError(ModelError):
    """Rate limited (429) or overloaded (503, 529). ``retry_after_s`` is the provider's wish, if it said one."""

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ModelUnreachableError(ModelError):
    """No usable answer: connection failed, timed out, broke off in mid-stream, or the server failed (5xx)."""


class ModelKeyError(ModelError):
    """The provider refused the credentials (401, 403), or there are none."""


class ModelRejectedError(ModelError):
    """The provider refused the request as it stands (other 4xx)."""


class PromptTooLongError(ModelRejectedError):
    """The request exceeds the model's context window."""


class ChannelUnavailableError(SwitchboardError):
    """The platform could not be asked, so nothing is known."""


class DeliveryError(SwitchboardError):
    """The platform definitely took none of the ways to show an answer."""


class NotAllowedError(SwitchboardError):
    """The one who asks may not have this. Its text is the reason for the log, never for them."""


class StateError(SwitchboardError):
    """The state database could not be used."""


class StoppedByUserError(SwitchboardError):
    """A person ended the answer while it was being written."""
