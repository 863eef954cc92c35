"""PostgreSQL beyond what Django does with it: rows of several tables in one statement, migrations, outages,
timeouts."""
