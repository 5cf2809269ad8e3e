"""How well the write path of memory works, on conversations of which it is written down what they teach."""
