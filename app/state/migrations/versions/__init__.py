"""One module for each version. A version that has been released is never edited again."""
