"""What the sealing verbs share: keys and authorities, certificate statuses, stamp marks and the content of proofs."""
