"""TOOL  mails about accounts, encrypted while they wait for their job, because their links open the account."""
