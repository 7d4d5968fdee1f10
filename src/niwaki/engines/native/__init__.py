"""niwaki's own engine for encoders on CPUs: kernels in C (folder `c`) and their Python interface."""
