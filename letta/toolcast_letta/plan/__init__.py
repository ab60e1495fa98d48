"""Build, apply and verify plans; independent of the kind of Letta."""
