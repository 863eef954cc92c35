"""TOOL  mails about accounts, which wait sealed for their job: links in them open the account."""
