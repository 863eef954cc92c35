"""The CSV of a bulk send: read, checked row by row, and handed back with what is wrong."""
