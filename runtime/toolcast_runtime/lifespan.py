"""What a toolset's tools need while it runs: started before the first call, ended after the last."""

from .core.toolset_settings import Lifespan, LifespanError

__all__ = ["Lifespan", "LifespanError"]
