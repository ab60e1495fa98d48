"""Hand-written handlers of the example toolsets; generated code imports them."""
