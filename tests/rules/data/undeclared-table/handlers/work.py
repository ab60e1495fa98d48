QUERY = "SELECT * FROM old_notes"


def work():
    return connect().execute(QUERY)
