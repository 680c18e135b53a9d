"""terp: an engine that lets a language model run code in a live kernel, with a person in charge."""

__version__ = "0.1.0"
