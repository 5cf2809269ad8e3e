"""What is remembered, for whom, and how it is found again."""
