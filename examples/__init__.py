"""Hand-written handlers of the example toolsets, runnable with embedded defaults."""
