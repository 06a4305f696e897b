#!/usr/bin/env python3
"""Fits the coefficients of the kernels and prints autograd/kernels/coefficients.inc, error bounds included.

    python3 autograd/kernels/coefficients.py > autograd/kernels/coefficients.inc        (needs mpmath; minutes)

Each function is approximated in the minimax sense, in 60 digits. Coefficients are then rounded to the working
precision one after the other, and those still free are fitted again after each, so that they repair what rounding
did. The bound printed with an array is the largest error with the coefficients as they stand there, evaluated
exactly: what comes on top is only the rounding of the kernel's own arithmetic.
"""
from mpmath import mp, mpf, cos, erf, erfc, exp, frexp, ln, lu_solve, matrix, pi, sqrt, atanh, sin

mp.dps = 60
TINY = mpf(10) ** -12


# ---- fitting ----


def nodes(low, high, count, bend=None):
    """Chebyshev extrema on [low, high]; crowded towards `low` on the scale `bend` when that is given."""
    unit = [(1 - cos(pi * i / (count - 1))) / 2 for i in range(count)]
    if bend is None:
        return [low + (high - low) * u for u in unit]
    top = (high - low) / (high - low + bend)
    return [low + bend * top * u / (1 - top * u) for u in unit]


def polynomial(coefficients, x):
    return mp.polyval(coefficients[::-1], x)


def least_squares(rows, targets, importance):
    count = len(rows[0])
    system, right = matrix(count, count), matrix(count, 1)
    for a in range(count):
        scaled = [i * row[a] for i, row in zip(importance, rows)]
        for b in range(a, count):
            system[a, b] = system[b, a] = mp.fdot(zip(scaled, (row[b] for row in rows)))
        right[a] = mp.fdot(zip(scaled, targets))
    solution = lu_solve(system, right)
    return [solution[j] for j in range(count)]


def minimax(solve, errors, count, rounds=25):
    """The best of repeated least squares, each point weighted by the errors it had (Lawson, 1961)."""
    importance = [mpf(1)] * count
    best, best_size = None, None
    for _ in range(rounds):
        found = solve(importance)
        error = errors(found)
        size = max(error)
        if best_size is None or size < best_size:
            best, best_size = found, size
        if size == 0:
            break
        importance = [i * (e / size + mpf("1e-4")) for i, e in zip(importance, error)]
        total = sum(importance)
        importance = [i / total for i in importance]
    return best


def minimax_polynomial(grid, values, weights, powers):
    rows = [[x ** p * w for p in powers] for x, w in zip(grid, weights)]
    targets = [v * w for v, w in zip(values, weights)]
    return minimax(lambda importance: least_squares(rows, targets, importance),
                   lambda found: [abs(mp.fdot(zip(found, row)) - t) for row, t in zip(rows, targets)], len(grid))


def minimax_rational(grid, values, weights, p, q):
    """Numerator of degree p and denominator 1 + ... of degree q, the equation linearised with the last denominator."""
    denominators = [mpf(1)] * len(grid)

    def solve(importance):
        nonlocal denominators
        for _ in range(3):
            scales = [w / d for w, d in zip(weights, denominators)]
            rows = [[x ** j * s for j in range(p + 1)] + [-v * x ** j * s for j in range(1, q + 1)]
                    for x, v, s in zip(grid, values, scales)]
            found = least_squares(rows, [v * s for v, s in zip(values, scales)], importance)
            top, bottom = found[:p + 1], [mpf(1)] + found[p + 1:]
            denominators = [polynomial(bottom, x) for x in grid]
        return top, bottom

    def errors(found):
        return [abs(polynomial(found[0], x) / polynomial(found[1], x) - v) * w
                for x, v, w in zip(grid, values, weights)]

    return minimax(solve, errors, len(grid), 8)


def rounded(x, bits):
    with mp.workprec(bits):
        return +x


def round_one_by_one(grid, values, weights, degree, bits, fixed):
    """Coefficients 0..degree in working precision; those in `fixed` are given. Both orders of rounding are tried."""
    tries = []
    for order in (range(degree + 1), range(degree, -1, -1)):
        known = dict(fixed)
        for power in order:
            if power in known:
                continue
            free = [j for j in range(degree + 1) if j not in known]
            rest = [v - sum(c * x ** j for j, c in known.items()) for x, v in zip(grid, values)]
            known[power] = rounded(minimax_polynomial(grid, rest, weights, free)[free.index(power)], bits)
        found = [known[j] for j in range(degree + 1)]
        size = max(abs(polynomial(found, x) - v) * w for x, v, w in zip(grid, values, weights))
        tries.append((size, found))
    return min(tries)[1]


# ---- printing ----


def literal(x, single):
    mantissa, exponent = frexp(x)
    digits = 24 if single else 53
    assert mantissa * 2 ** digits == int(mantissa * 2 ** digits), "not rounded to the working precision"
    whole, power = float(x).hex().split("p")
    if "." in whole:
        whole = whole.rstrip("0").rstrip(".")
    return whole + "p" + power + ("f" if single else "")


def print_array(name, coefficients, single, note):
    print(f"/* {note} */")
    print(f"static const tg_real {name}[{len(coefficients)}] = {{")
    line = "   "
    for c in coefficients:
        text = " " + literal(c, single) + ","
        if len(line + text) > 108:
            print(line)
            line = "   "
        line += text
    print(line)
    print("};")
    print()


def bound(error):
    return f"2^{mp.nstr(mp.log(error, 2), 4)}"


def fit_polynomial(name, what, function, weight, low, high, degree, single, fixed=None):
    bits = 24 if single else 53
    grid = nodes(mpf(low), mpf(high), 16 * (degree + 2))
    values, weights = [function(x) for x in grid], [abs(weight(x)) for x in grid]
    found = round_one_by_one(grid, values, weights, degree, bits, fixed or {})
    error = max(abs(polynomial(found, x) - v) * w for x, v, w in zip(grid, values, weights))
    print_array(name, found, single, f"{what}: relative error {bound(error)}")


def fit_mills(reach, degree, centre, single):
    """Mills' ratio M(t) = e^(t^2/2) Q(t) by 2 (1 + t) M(t) = centre (1 + centre top/bottom): what rounding does to top and
    bottom hardly matters, as their quotient is small, and smallest in the tail if centre is less than 1."""
    bits = 24 if single else 53
    grid = nodes(mpf(0), mpf(reach), 32 * (degree + 1), mpf(3))
    whole = [(1 + t) * exp(t * t / 2) * erfc(t / sqrt(2)) for t in grid]
    values, weights = [(v / centre - 1) / centre for v in whole], [centre ** 2 / v for v in whole]
    _, bottom = minimax_rational(grid, values, weights, degree, degree)
    bottom = [rounded(c, bits) for c in bottom]
    scale = [polynomial(bottom, t) for t in grid]
    top = round_one_by_one(grid, [v * s for v, s in zip(values, scale)], [w / s for w, s in zip(weights, scale)],
                           degree, bits, {})
    error = max(abs(polynomial(top, t) / s - v) * w for t, v, w, s in zip(grid, values, weights, scale))
    print_array("mills_top", top, single,
                f"(2 (1 + t) e^(t^2/2) Q(t) / MILLS_CENTRE - 1) / MILLS_CENTRE, Q = 1 - Phi, on [0, {reach}], numerator: "
                f"as part of Q relative error {bound(error)}")
    print_array("mills_bottom", bottom, single, "the same, denominator")
    print(f"#define MILLS_CENTRE ((tg_real){mp.nstr(centre)})\n")


def fit_rational(name, what, function, high, p, q, single, first):
    bits = 24 if single else 53
    grid = nodes(mpf(0), mpf(high), 16 * (p + q + 2), mpf(3))
    values = [function(x) for x in grid]
    weights = [1 / v for v in values]
    _, bottom = minimax_rational(grid, values, weights, p, q)
    bottom = [rounded(c, bits) for c in bottom]
    scale = [polynomial(bottom, x) for x in grid]
    top = round_one_by_one(grid, [v * s for v, s in zip(values, scale)], [w / s for w, s in zip(weights, scale)], p,
                           bits, {0: mpf(first)})
    error = max(abs(polynomial(top, x) / s - v) * w for x, v, w, s in zip(grid, values, weights, scale))
    print_array(name + "_top", top, single, f"{what} on [0, {high}], numerator: relative error {bound(error)}")
    print_array(name + "_bottom", bottom, single, "the same, denominator")


# ---- what the kernels need ----


def exponentials(single):
    reach = ln(2) * mpf("1.0001")
    tail = lambda r: (exp(r) - 1 - r) / r ** 2 if abs(r) > TINY else mpf(1) / 2
    fit_polynomial("exp_tail", "(e^r - 1 - r)/r^2 on |r| <= ln 2, as part of e^r", tail,
                   lambda r: r * r / exp(r) + mpf(10) ** -20, -reach, reach, 5 if single else 12, single)
    fit_polynomial("decay_tail", "(e^r - 1 - r)/r^2 on |r| <= ln 2 / 2, as part of e^r", tail,
                   lambda r: r * r / exp(r) + mpf(10) ** -20, -reach / 2, reach / 2, 4 if single else 10, single)
    fit_polynomial("expm1_tail", "(e^r - 1 - r)/r^2 on |r| <= ln 2, as part of (e^r - 1)/r", tail,
                   lambda r: r * r / (exp(r) - 1) if abs(r) > TINY else mpf(10) ** -12, -reach, reach,
                   6 if single else 12, single, {0: mpf("0.5")})


def error_functions(single):
    p, q = (4, 5) if single else (10, 11)
    fit_mills("15" if single else "39", 5 if single else 11, mpf(1) if single else mpf("0.875"), single)
    fit_rational("erfcx", "e^(z^2) erfc(z)", lambda z: exp(z * z) * erfc(z), "10.5" if single else "27.5", p, q, single,
                 "1")
    fit_polynomial("erf_excess", "erf(z)/z - 1 in z^2 on |z| <= 0.9, as part of erf(z)/z",
                   lambda s: erf(sqrt(s)) / sqrt(s) - 1 if s > TINY else 2 / sqrt(pi) - 1,
                   lambda s: sqrt(s) / erf(sqrt(s)) if s > TINY else sqrt(pi) / 2, 0, "0.81", 6 if single else 11,
                   single)


def logarithm(single):
    edge = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 * mpf("1.001")
    fit_polynomial("log_tail", "(2 atanh(s)/s - 2)/s^2 in s^2 on |s| <= 0.1717, as part of 2 atanh(s)/s",
                   lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z if z > TINY else mpf(2) / 3,
                   lambda z: z / 2 + mpf(10) ** -20, 0, edge, 2 if single else 6, single)


def circular_functions(single):
    eighth = (pi / 4 * mpf("1.001")) ** 2
    fit_polynomial("sin_tail", "(sin(r)/r - 1)/r^2 in r^2 on |r| <= pi/4, as part of sin(r)/r",
                   lambda s: (sin(sqrt(s)) / sqrt(s) - 1) / s if s > TINY else -mpf(1) / 6,
                   lambda s: s + mpf(10) ** -20, 0, eighth, 2 if single else 5, single)
    fit_polynomial("cos_tail", "(cos(r) - 1 + r^2/2)/r^4 in r^2 on |r| <= pi/4, as part of cos(r)",
                   lambda s: (cos(sqrt(s)) - 1 + s / 2) / s ** 2 if s > TINY else mpf(1) / 24,
                   lambda s: s * s / cos(sqrt(s)) + mpf(10) ** -20, 0, eighth, 2 if single else 5, single)


def main():
    print("/* Coefficients of the kernels. Made by autograd/kernels/coefficients.py, which says how: do not edit. */")
    print("/* clang-format off */")
    for single in (True, False):
        print(f"#{'if' if single else 'elif'} defined TG_REAL_{'f32' if single else 'f64'}\n")
        exponentials(single)
        error_functions(single)
        logarithm(single)
        circular_functions(single)
    print("#endif")
    print("/* clang-format on */")


main()
