"""What a model does with one text: `niwaki look`."""
