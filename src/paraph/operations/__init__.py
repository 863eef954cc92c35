"""The tools of operators: checks of the service, the state of a request and its retry, metrics, migrations, backups."""
