"""Requests in flight while everything around them is killed or fails: nothing may be lost, nothing done twice."""
