"""VERBS of members and operators: changes of an organization and what belongs to it. Each is one transaction with its
entry in the activity log; the dashboard and the ``paraph`` command call the same."""
