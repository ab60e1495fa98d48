"""What the conformance suite's resources and prompts give that are made by handlers."""

from __future__ import annotations

import base64
import json
from typing import Any

from toolcast_runtime import current_call, image

from .handlers import PIXEL
from .questions import form


def data_of(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def embedded(resourceUri: str) -> list[Any]:
    text = "Embedded resource content for testing."
    about = {"uri": resourceUri, "mimeType": "text/plain", "text": text}
    resource = {"type": "resource", "resource": about}
    return [
        {"role": "user", "content": resource},
        "Please process the embedded resource above.",
    ]


def pictured() -> list[Any]:
    return [image(base64.b64decode(PIXEL)), "Please analyze the image above."]


async def with_context() -> str:
    question = "What context should the prompt use?"
    answer = await current_call().ask(form("context"), question, name="user_context")
    return f"Answer in this context: {answer['context']}"
