import asyncio

from toolcast_runtime import current_call

FORM = {"type": "object", "properties": {}}


async def note():
    call = current_call()
    ask = call.ask
    call.ask(FORM, "Keep it?")
    if ask(FORM, "Really?"):
        await asyncio.gather(call.ask(FORM, "One?"), ask(FORM, "Two?"))
    answer = await ask(FORM, "Yes?")
    call.ask_sync(FORM, "Wait?")
    return str(answer)


def plain(question):
    question.ask(FORM, "This is no call's.")
    return current_call().ask(FORM, "Keep it?")
