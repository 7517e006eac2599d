"""One small file per verb."""
