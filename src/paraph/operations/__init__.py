"""What operators ask and do: checks of the service, the state of a request and its retry, metrics, migrations."""
