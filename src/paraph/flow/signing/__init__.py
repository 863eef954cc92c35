"""VERBS of the signer: codes, signatures, questions."""
