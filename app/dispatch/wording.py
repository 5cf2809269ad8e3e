"""The bot's own sentences. None of them contains anything of an exception but what a person can act on."""

from app.channel import Reference
from app.errors import (
    ChannelUnavailableError,
    ConfigurationError,
    ModelBusyError,
    ModelKeyError,
    ModelRejectedError,
    ModelUnreachableError,
    PromptTooLongError,
    SwitchboardError,
)

THINKING = "is thinking…"
GREETING = "Hi! Ask me something in the same message, for example: “what did we decide about the release date?”"
FILES_ONLY = "I cannot read files yet. Paste the part that matters as text and I will look at it."
STOPPED = "_Stopped._"
BARE_MENTION = "(mentions you without a question: look at the thread and help)"

_UNEXPECTED = "Something went wrong on my side, and I could not answer. Please try again."
_SENTENCES: tuple[tuple[type[Exception], str], ...] = (
    (ModelBusyError, "The model is overloaded right now. Please ask again in a minute."),
    (ModelUnreachableError, "I could not reach the model. Please try again; if it lasts, tell whoever runs me."),
    (ModelKeyError, "My access to the model is not set up correctly. Whoever runs me has to check the model key."),
    (PromptTooLongError, "This conversation is too long for the model. Start a new thread with the essentials."),
    (ModelRejectedError, "The model did not accept this request. Try asking in other words."),
    (ChannelUnavailableError, "I could not read this thread from Slack. Please try again."),
    (ConfigurationError, "I am not set up correctly. Whoever runs me will find the reason in the log."),
    (TimeoutError, "This took too long, so I stopped. Try a smaller question."),
)


def too_long(length: int, limit: int) -> str:
    return f"Your message has {length:,} characters; I read up to {limit:,}. Send the part that matters, or split it."


def unknown_command(command: str) -> str:
    return f"I have no command {command}. Mention me or write to me directly instead."


def not_allowed(admins: str) -> str:
    return f"🚫 I am not set up to do this for you. Ask {admins}."


def apology(fault: SwitchboardError | TimeoutError | Exception, reference: Reference) -> str:
    """One sentence for the person who asked, with the reference that finds the log lines."""
    sentence = next((text for kind, text in _SENTENCES if isinstance(fault, kind)), _UNEXPECTED)
    return f":warning: {sentence} (reference `{reference}`)"


def restarted(reference: Reference) -> str:
    sentence = "I am being restarted and could not finish. Please ask again in a moment."
    return f":warning: {sentence} (reference `{reference}`)"
