def ask(text):
    return client().agents.messages.create("agent-1", input=text)
