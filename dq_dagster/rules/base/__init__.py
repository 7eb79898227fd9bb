"""What rules share: the model, its names, its mistakes in words, its documentation."""
