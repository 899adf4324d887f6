"""The version, alone in a file so that building a wheel imports nothing else."""

__version__ = "0.2.0"
