"""What fuzzing found, and files altered after their seal."""
