"""Views to text: the template environment, its gate and its lint."""
