TINY = {"num_hash_buckets": 50, "num_hash_functions": 4, "local_transformer_stride": 12}
