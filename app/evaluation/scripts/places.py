"""Closed places: what is said there is learned by nobody who did not hear it."""

from app.evaluation.script import Category, Conversation, Unwanted, Wanted, ada, bot
from memory.scope import ScopeKind

_IT = Category.PLACES
_ORG, _REPO, _CHANNEL, _USER = ScopeKind.ORG, ScopeKind.REPO, ScopeKind.CHANNEL, ScopeKind.USER

CONVERSATIONS = (
    Conversation(
        "in-a-dm",
        _IT,
        (ada("Our launch is called Bluebird internally. Draft a plan."), bot("Here is a plan.")),
        (Wanted("Our launch is called Bluebird internally.", "bluebird", _USER, _ORG),),
        summary=Wanted("A plan for the launch Bluebird was drafted.", "bluebird", _USER),
        visibility="dm",
    ),
    Conversation(
        "in-a-private-channel",
        _IT,
        (ada("Our budget for next year is 80000 euros. Split it by quarter."), bot("20000 a quarter.")),
        (Wanted("Our budget for next year is 80000 euros.", "budget 80000", _CHANNEL, _ORG),),
        (Unwanted("The budget is 20000 euros a quarter.", "20000"),),
        visibility="private",
    ),
    Conversation(
        "a-repository-in-a-private-channel",
        _IT,
        (ada("In this repository we squash every merge. Do that."), bot("Squashed.")),
        (Wanted("In this repository we squash every merge.", "squash merge", _CHANNEL, _REPO),),
        visibility="private",
        repo="acme/secret",
    ),
    Conversation(
        "where-nobody-can-tell",
        _IT,
        (ada("Our partner for the pilot is Contoso. Find their address."), bot("They are in Oslo.")),
        (Wanted("Our partner for the pilot is Contoso.", "partner contoso", _CHANNEL, _ORG),),
        (Unwanted("Contoso is in Oslo.", "oslo"),),
        visibility="unknown",
    ),
    Conversation(
        "a-guest",
        _IT,
        (ada("We hand over every document as PDF. Convert this one."), bot("Converted.")),
        (Wanted("We hand over every document as PDF.", "document pdf", _CHANNEL, _ORG),),
        is_member=False,
    ),
    Conversation(
        "a-taste-in-a-private-channel",
        _IT,
        (ada("I prefer tables. Our forecast for May is 120 seats. Show it."), bot("Here is a table.")),
        (
            Wanted("This user prefers tables.", "prefers tables", _USER, is_standing=True),
            Wanted("Our forecast for May is 120 seats.", "forecast 120", _CHANNEL, _ORG),
        ),
        summary=Wanted("The forecast for May was shown as tables.", "forecast", _USER),
        visibility="private",
    ),
    Conversation(
        "no-repository-at-hand",
        _IT,
        (ada("We review every change of the Terraform code in pairs. Who is free?"), bot("Ben is free.")),
        (Wanted("We review every change of the Terraform code in pairs.", "terraform pairs", _ORG, _REPO),),
        (Unwanted("Ben is free.", "ben free"),),
    ),
)
