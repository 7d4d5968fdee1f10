"""What linear classifiers read from the layers of models: `niwaki probe`."""
