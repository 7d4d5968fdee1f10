"""niwaki's own engine for encoders on CPUs: kernels in C (folder `c`), and what hands models to them."""
