"""Who may do what: a small table, what the settings grant, and the facts a decision is made from."""
