"""Files beside the specs that name tools: handlers, documents, lists of clients, acceptances."""
