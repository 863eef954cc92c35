"""DOOR: presigned downloads of the embedded object store."""
