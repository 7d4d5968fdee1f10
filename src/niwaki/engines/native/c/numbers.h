/* Functions of one vector of numbers. */

/* e^x to about 1e-7 of its value: x = n ln 2 + f, and a polynomial of f between -ln 2 / 2 and ln 2 / 2. Of two numbers one of which
   is NaN, `larger` and `smaller` give the second: so x stands there, and what is NaN stays it. */
static inline Floats exponential(Floats x) {
    x = smaller(all(88.0f), larger(all(-87.0f), x));
    Wholes n = nearest(mul(x, all(1.44269504f)));
    Floats whole = to_floats(n);
    Floats f = mul_add(whole, all(-0.693145752f), x); /* ln 2 in two parts: the first has zeros behind, so that this is exact */
    f = mul_add(whole, all(-1.42860677e-6f), f);
    Floats p = all(1.38888889e-3f);
    p = mul_add(p, f, all(8.33333333e-3f));
    p = mul_add(p, f, all(4.16666667e-2f));
    p = mul_add(p, f, all(1.66666667e-1f));
    p = mul_add(p, f, all(0.5f));
    p = mul_add(p, f, all(1.0f));
    p = mul_add(p, f, all(1.0f));
    return mul(p, power_of_two(n));
}

static inline Floats sigmoid(Floats x) { return over(all(1.0f), add(all(1.0f), exponential(sub(all(0.0f), x)))); }

/* x times the share of a normal distribution below x. The share beyond |x| is Abramowitz and Stegun 7.1.26, right to 1.5e-7. */
static inline Floats gelu(Floats x) {
    Floats z = mul(size(x), all(0.707106781f));
    Floats t = over(all(1.0f), mul_add(z, all(0.3275911f), all(1.0f)));
    Floats p = all(1.061405429f);
    p = mul_add(p, t, all(-1.453152027f));
    p = mul_add(p, t, all(1.421413741f));
    p = mul_add(p, t, all(-0.284496736f));
    p = mul_add(p, t, all(0.254829592f));
    Floats beyond = mul(mul(mul(p, t), all(0.5f)), exponential(sub(all(0.0f), mul(z, z))));
    return sub(larger(x, all(0.0f)), mul(size(x), beyond));
}

static inline Floats activated(Floats x, int activation) {
    switch (activation) {
    case GELU: return gelu(x);
    case GELU_TANH: return mul(x, sigmoid(mul(x, mul_add(mul(x, x), all(0.0713548163f), all(1.59576912f)))));
    case RELU: return larger(all(0.0f), x);
    case TANH: return sub(mul(all(2.0f), sigmoid(add(x, x))), all(1.0f));
    case SILU: return mul(x, sigmoid(x));
    default: return x;
    }
}
