def work():
    connect().execute("DELETE FROM notes WHERE id = 1")
    connect().execute("SELECT * FROM log")
    return connect().execute("DELETE FROM notes")
