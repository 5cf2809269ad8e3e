"""Who answers, and how a model is asked."""
