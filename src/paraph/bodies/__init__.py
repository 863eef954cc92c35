"""Request bodies for the API and the signer endpoints: read within limits, and JSON bounded in memory."""
