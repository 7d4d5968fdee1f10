"""Training steps in bf16 with fewer passes over memory: compiled kernels as autograd functions, used where the processor has them."""
