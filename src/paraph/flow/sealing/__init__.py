"""VERBS that seal, prove, publish and preserve what is signed, and what they share."""
