/* Functions of one vector of numbers. */

/* e^x to about 1e-7 of its value: x = n ln 2 + f, and a polynomial of f between -ln 2 / 2 and ln 2 / 2. Of two numbers one of which
   is NaN, `larger` and `smaller` give the second: so x stands there, and what is NaN stays it. */
static inline Floats exponential(Floats x) {
    x = smaller(all(88.0f), larger(all(-87.0f), x));
    const Floats n = rounded(mul(x, all(1.44269504f)));
    Floats f = mul_add(n, all(-0.693145752f), x); /* ln 2 in two parts: the first has zeros behind, so that this is exact */
    f = mul_add(n, all(-1.42860677e-6f), f);
    Floats p = all(1.38888889e-3f);
    p = mul_add(p, f, all(8.33333333e-3f));
    p = mul_add(p, f, all(4.16666667e-2f));
    p = mul_add(p, f, all(1.66666667e-1f));
    p = mul_add(p, f, all(0.5f));
    p = mul_add(p, f, all(1.0f));
    p = mul_add(p, f, all(1.0f));
    return times_power(p, n);
}

static inline Floats sigmoid(Floats x) { return over(all(1.0f), add(all(1.0f), exponential(sub(all(0.0f), x)))); }

/* x times the share of a normal distribution below x, which is right to 2.5e-7: 1/2 + x P(s). tools/gelu.py fits P, whose number of
   the highest power stands first. */
#define REACH 5.0f
static const float SHARE[] = {
    0.000608649459f, -0.00161323451f, 0.00172301777f, -0.00268565169f, 0.00641028184f, -0.0111642703f, 0.0164022841f,
    -0.0232686796f, 0.0314421487f, -0.0404426032f, 0.0515205242f, -0.0702962808f, 0.141363788f,
};
static inline Floats gelu(Floats x) {
    x = larger(all(-REACH), x); /* below there is nothing left, to 2e-6 */
    const Floats held = smaller(all(REACH), x);
    const Floats s = mul_add(mul(held, held), all(2.0f / (REACH * REACH)), all(-1.0f));
    Floats p = all(SHARE[0]);
#pragma GCC unroll 16
    for (size_t i = 1; i < sizeof SHARE / sizeof *SHARE; i++) p = mul_add(p, s, all(SHARE[i]));
    return mul(x, mul_add(held, p, all(0.5f)));
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
