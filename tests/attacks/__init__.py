"""What an attacker would try, with every right that a customer, a signer, a receiver or a stranger has: one file for
each attack, against a really served process whose memory is bounded."""
