"""The verbs, in the order in which a document flows: upload, create, invite, send_otp, sign, complete,
seal, prove, publish, expire."""
