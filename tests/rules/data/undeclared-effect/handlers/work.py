def work():
    return connect().execute("DELETE FROM notes")
