"""Handlers of the conformance suite's resources and prompts."""

from __future__ import annotations

import base64
import json
from typing import Any

from toolcast_runtime import current_call, image

from .handlers import PIXEL
from .questions import form


def get_template_data(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def with_resource(resourceUri: str) -> list[Any]:
    text = "Embedded resource content for testing."
    resource = {"uri": resourceUri, "mimeType": "text/plain", "text": text}
    return [
        {"role": "user", "content": {"type": "resource", "resource": resource}},
        "Please process the embedded resource above.",
    ]


def with_image() -> list[Any]:
    return [image(base64.b64decode(PIXEL)), "Please analyze the image above."]


async def with_context() -> str:
    question = "What context should the prompt use?"
    answer = await current_call().ask(form("context"), question, name="user_context")
    return f"Answer in this context: {answer['context']}"
