"""The experimenter's side: search spaces, measurements, and the store that keeps them."""
