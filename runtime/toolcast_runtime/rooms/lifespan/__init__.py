"""What a toolset's tools need while it runs: started before the first call, ended after the last."""
