"""The verbs, one file each. A document flows through them in this order: upload, create, invite, send_otp, sign,
complete, seal, prove, publish."""
