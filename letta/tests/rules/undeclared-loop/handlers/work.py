def work():
    return letta.send_chat_message("What now?")
