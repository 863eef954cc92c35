"""Whether a file is in plain form, which all readers read alike; and a file written anew in that form."""
