from elsewhere import thing

__all__ = ["thing"]
