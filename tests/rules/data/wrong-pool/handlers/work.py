from .pools import ledger


def work():
    with ledger() as connection:
        return connection.execute("SELECT * FROM letters")
