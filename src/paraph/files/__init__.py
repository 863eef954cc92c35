"""DOOR: presigned downloads from the local object store."""
