"""Doors to the tools people already use; each module needs one optional package and is imported by
its own name.
"""
