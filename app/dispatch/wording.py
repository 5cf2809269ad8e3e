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
    StateError,
    SwitchboardError,
)
from app.sessions.busy import Admission, Interrupts, Joins, Steers, Waits
from app.sessions.errors import TranscriptUnreadableError
from app.sessions.restart import GivenUp

THINKING = "is thinking…"
SUMMARISING = "is summarising what was said before…"
GREETING = "Hi! Ask me something in the same message, for example: “what did we decide about the release date?”"
FILES_ONLY = "I cannot read files yet. Paste the part that matters as text and I will look at it."
STOPPED = "_Stopped._"
INTERRUPTED = "_Stopped for your next message._"
STEERED = "I take this along in the answer I am writing."
JOINED = "I answer this together with your message before it."
INTERRUPTING = "I stop what I am writing and turn to this."
HELD = "I am being restarted. I answer this as soon as I am back."
CLEARED = "_Not answered: this conversation was started anew._"
UNRECORDED = "_I could not write this conversation down; I may not remember it after a restart._"
UNFINISHED = "_I am being restarted and will finish this answer in a moment._"
RECOVERED = "_Recovered after a restart:_"
LATE = "_Late, because I could not show it before:_"
BARE_MENTION = "(mentions you without a question: look at the thread and help)"

_UNEXPECTED = "Something went wrong on my side, and I could not answer. Please try again."
_SENTENCES: tuple[tuple[type[Exception], str], ...] = (
    (ModelBusyError, "The model is overloaded right now. Please ask again in a minute."),
    (ModelUnreachableError, "I could not reach the model. Please try again; if it lasts, tell whoever runs me."),
    (ModelKeyError, "My access to the model is not set up correctly. Whoever runs me has to check the model key."),
    (PromptTooLongError, "This conversation is too long for the model. Start a new thread with the essentials."),
    (ModelRejectedError, "The model did not accept this request. Try asking in other words."),
    (ChannelUnavailableError, "I could not read this thread from Slack. Please try again."),
    (TranscriptUnreadableError, "I cannot read what was said before in this conversation, so I rather do not answer."),
    (StateError, "I cannot reach my own records right now, so I did not answer. Please try again in a minute."),
    (ConfigurationError, "I am not set up correctly. Whoever runs me will find the reason in the log."),
    (TimeoutError, "This took too long, so I stopped. Try a smaller question."),
)


def too_long(length: int, limit: int) -> str:
    return f"Your message has {length:,} characters; I read up to {limit:,}. Send the part that matters, or split it."


def admitted(admission: Admission) -> str | None:
    """Where a message stands; nothing where its answer begins at once, or other words are said."""
    match admission:
        case Waits(place):
            return waiting(place)
        case Steers():
            return STEERED
        case Joins():
            return JOINED
        case Interrupts(place):
            return interrupting(place)
        case _:
            return None


def waiting(place: int) -> str:
    if place == 1:
        return "In line: I answer this right after the question before it."
    return f"In line: {_others(place - 1)} before it."


def interrupting(place: int) -> str:
    if place == 1:
        return INTERRUPTING
    return f"I stop what I am writing. Now {_others(place - 1)} before this."


def _others(count: int) -> str:
    return (
        "1 more message of this conversation comes"
        if count == 1
        else f"{count} more messages of this conversation come"
    )


def not_understood(reason: str) -> str:
    return f"⚠️ {reason}"


def line_full(count: int) -> str:
    waiting = "1 message waits" if count == 1 else f"{count} messages wait"
    return f"⚠️ {waiting} in this conversation, so I did not take this one. Send it again later."


def recovered(text: str) -> str:
    return f"{RECOVERED}\n\n{text}"


def late(text: str) -> str:
    return f"{LATE}\n\n{text}"


_GIVEN_UP = {
    GivenUp.STALE: "I was not running when you wrote this, and by now it is a while ago. Please ask again.",
    GivenUp.STUCK: "I was ended several times while I answered this, so I stop trying. Ask again in other words; "
    "this conversation starts anew.",
    GivenUp.COMMAND: "I was ended while I carried this out. Look whether it took effect, and give it again if not.",
}


def gave_up(reason: GivenUp) -> str:
    return f"⚠️ {_GIVEN_UP[reason]}"


def unknown_command(command: str) -> str:
    return f"I have no command {command}. Mention me or write to me directly instead."


def not_allowed(admins: str) -> str:
    return f"🚫 I am not set up to do this for you. Ask {admins}."


def apology(fault: SwitchboardError | TimeoutError | Exception, reference: Reference) -> str:
    """One sentence for the person who asked, with the reference that finds the log lines."""
    sentence = next((text for kind, text in _SENTENCES if isinstance(fault, kind)), _UNEXPECTED)
    return f"⚠️ {sentence} (reference `{reference}`)"
