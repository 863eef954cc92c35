"""What stands between the server and the views: the WSGI application, middleware, bodies in and out, uploads, static
files, client addresses and logs."""
