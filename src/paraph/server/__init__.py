"""What stands between the server and the views: the WSGI application, bodies in and out, logs, figures, and the
connections that are let go."""
