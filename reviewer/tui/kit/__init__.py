"""The parts that all screens share."""
