"""What stands between the server and the views: the WSGI application, middleware, bodies in and out, static files,
client addresses and logs."""
