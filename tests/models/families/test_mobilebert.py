TINY = {"true_hidden_size": 16, "intra_bottleneck_size": 16, "num_feedforward_networks": 3}
