"""Bodies of requests for all doors: as streams, within their limits, and JSON that cannot fill the memory."""
