"""Writers of documentation pages from records; not part of any distribution."""
