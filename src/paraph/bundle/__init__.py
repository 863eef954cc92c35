"""VERB: packing all that proves a finished request into one file, which can be checked without the service."""
