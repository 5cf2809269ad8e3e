"""The schema's history, one step after the other; ``app.state.migrating`` carries them out."""
