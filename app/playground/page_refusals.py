"""Slack's error names as sentences a person on the page can read."""

_SENTENCES = {
    "already_reacted": "You have already added this reaction.",
    "cant_delete_message": "You can delete your own messages only.",
    "cant_update_message": "You can edit your own messages only.",
    "channel_not_found": "This channel does not exist, or you are not in it.",
    "command_not_found": "No app in this workspace knows this command.",
    "dispatch_failed": "The app did not hear of it: it is not connected.",
    "is_archived": "This channel is archived.",
    "message_not_found": "This message does not exist any more.",
    "msg_too_long": "This message is too long.",
    "name_taken": "A channel of this name exists already.",
    "no_reaction": "You had not added this reaction.",
    "no_text": "There is nothing to send yet.",
    "not_in_channel": "You are not a member of this channel.",
    "operation_timeout": "The app did not answer within three seconds.",
    "user_not_found": "There is no such member.",
    "view_not_found": "This dialog is closed already.",
}


def sentence_of(error: str) -> str:
    return _SENTENCES.get(error) or f"Slack refuses this: {error.replace('_', ' ')}."
