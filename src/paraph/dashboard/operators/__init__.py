"""``/operator``: whether the service is well, for those who run it. Nothing there is of documents, codes or links."""
