"""Bodies of requests, read within limits, JSON bounded in memory; and bodies of responses that views share."""
