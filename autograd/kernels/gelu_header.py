#!/usr/bin/env python3
"""Prints autograd/kernels/gelu.h, from the kernels' coefficients and constants.

    make gelu-header                                  (needs mpmath; seconds)

The formulas are those of gelu.inc. What kernels leave out for speed is added here: second derivatives are carried in
two parts, and beside each zero of a derivative a polynomial times the distance from the zero replaces the formula,
which cancels there.
"""
import math
import os
import re
import struct

from mpmath import mp, mpf

mp.dps = 60
HERE = os.path.dirname(os.path.abspath(__file__))


# ---- the kernels' numbers ----


def blocks(name):
    """What a file of the kernels has for floats and for doubles."""
    text = open(os.path.join(HERE, name)).read()
    single, double = text.split("#elif defined TG_REAL_f64")
    return {"f32": single, "f64": double}


def number(literal):
    literal = literal.replace("(tg_real)", "").strip(" ()").rstrip("fu")
    return float.fromhex(literal) if "0x" in literal else float(literal)


def arrays(text):
    found = re.findall(r"static const tg_real (\w+)\[\d+\] = \{(.*?)\};", text, re.S)
    return {name: [number(word) for word in body.replace("\n", " ").split(",") if word.strip()] for name, body in found}


CONSTANTS = ["HALF_PER_LN2", "LN2_HIGH", "LN2_LOW", "DENSITY", "DENSITY_LOW", "QUICK", "QUICK_LOW", "TANH_A", "TANH_A_LOW",
             "TANH_B", "TANH_B_LOW", "GELU_EXACT_REACH", "GELU_TANH_REACH", "GELU_QUICK_REACH", "SILU_REACH", "ROUNDING", "LAST"]


def constants(text):
    return {name: number(re.search(rf"#define {name}\s+(\S+)", text)[1]) for name in CONSTANTS}


# ---- the functions to 60 digits, for the zeros of their derivatives ----


def logistic(w):
    return lambda x: x / (1 + mp.exp(-w(x)))


FORMS = {
    "gelu_exact": lambda x: x * mp.ncdf(x),
    "gelu_tanh": logistic(lambda x: 2 * mp.sqrt(2 / mp.pi) * (x + mpf("0.044715") * x ** 3)),
    "gelu_quick": logistic(lambda x: mpf("1.702") * x),
    "silu": logistic(lambda x: x),
}
# Parts of the zero between which the polynomial replaces the formula: for each order, and where the formula loses more.
NEAR = {1: ("0.6", "1.4"), 2: ("0.85", "1.15"), ("gelu_exact", 1): ("0.4", "1.45")}


def rounded(x, single):
    with mp.workprec(24 if single else 53):
        return +mpf(x)


def interpolated(nodes, values):
    """The coefficients of the polynomial through these points, by Newton's divided differences."""
    differences, powers = list(values), []
    for step in range(1, len(nodes)):
        for i in range(len(nodes) - 1, step - 1, -1):
            differences[i] = (differences[i] - differences[i - 1]) / (nodes[i] - nodes[i - step])
    for node, difference in zip(reversed(nodes), reversed(differences)):
        powers = [low - node * high for low, high in zip([mpf(0)] + powers, powers + [mpf(0)])]
        powers[0] += difference
    return powers


def zero_polynomial(form, order, single):
    """The derivative over the distance from its zero, interpolated at Chebyshev's nodes, of the lowest degree that is enough."""
    function, guess = FORMS[form], {1: -0.75, 2: 1.41}[order] * (1.7 if form == "silu" else 1)
    near = [mpf(part) for part in NEAR.get((form, order), NEAR[order])]
    with mp.workdps(90):
        derivative = lambda x: mp.diff(function, x, order)
        zero = mp.findroot(derivative, guess)
    low, high = sorted((zero * near[0], zero * near[1]))
    high_part = rounded(zero, single)
    over = lambda x: derivative(x) / (x - zero)
    tests = [low + (high - low) * (i + mpf("0.37")) / 40 for i in range(40)]
    truth = [over(x) for x in tests]
    for degree in range(4, 30):
        nodes = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * degree + 2)) for i in range(degree + 1)]
        found = interpolated([x - high_part for x in nodes], [over(x) for x in nodes])
        kept = [rounded(c, single) for c in found]
        first_low = rounded(found[0] - kept[0], single)
        value = lambda x: mp.polyval(kept[::-1], x - high_part) + first_low
        errors = (abs(value(x) / t - 1) for x, t in zip(tests, truth))
        if all(error < mpf(2) ** (-27 if single else -56) for error in errors):
            break
    error = max(abs(value(x) / t - 1) for x, t in zip(tests, truth))
    return {"low": float(rounded(low, single)), "high": float(rounded(high, single)), "zero": float(high_part),
            "zero_low": float(rounded(zero - high_part, single)), "first_low": float(first_low), "found": [float(c) for c in kept],
            "error": mp.nstr(mp.log(error, 2), 4)}


# ---- text ----


def literal(x, single):
    if single:
        assert struct.unpack("f", struct.pack("f", x))[0] == x
        text = next(t for t in (f"{x:.{d}g}" for d in range(1, 10)) if struct.unpack("f", struct.pack("f", float(t)))[0] == x)
    else:
        text = repr(x)
    if not any(c in text for c in ".e"):
        text += ".0"
    text += "f" if single else ""
    return f"({text})" if x < 0 else text


def horner(coefficients, x, real, suffix, single):
    text = literal(coefficients[-1], single)
    for c in coefficients[-2::-1]:
        text = f"gelu_h_fma_{suffix}({x}, {text}, {literal(c, single)})"
    return text


def estrin(coefficients, x, square, real, suffix, single):
    """Horner's rule on even and odd powers."""
    even, odd = (horner(coefficients[i::2], square, real, suffix, single) for i in (0, 1))
    return f"gelu_h_fma_{suffix}({x}, {odd}, {even})"


def wrapped(text, indent):
    """Breaks a long expression after commas."""
    words, lines, line = text.split(" "), [], ""
    for word in words:
        if line and len(indent) + len(line) + 1 + len(word) > 118:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return ("\n" + indent).join(lines + [line])


def near_zero(form, order, real, suffix, single):
    z = zero_polynomial(form, order, single)
    name = f"gelu_h_{form}_zero{order}_{suffix}"
    what = {1: "f'", 2: "f''"}[order]
    put = lambda x: literal(x, single)
    variable = "x" if order == 1 else "t"
    inside = f"{variable} > {put(z['low'])} && {variable} < {put(z['high'])}"
    polynomial = wrapped(estrin(z["found"][1:], "d", "square", real, suffix, single), "        ")
    return inside, f"""
/* {what} of {form} near its zero by d P(d), d = {variable} - zero in two parts: relative error of P 2^{z['error']}. */
GELU_H_FUNCTION {real} {name}({real} {variable})
{{
    const {real} d = {variable} - {put(z['zero'])}, square = d * d, low = {put(-z['zero_low'])};
    const {real} rest =
        {polynomial};
    return gelu_h_scaled_{suffix}(d, low, {put(z['found'][0])}, gelu_h_fma_{suffix}(d, rest, {put(z['first_low'])}));
}}
"""


def functions(suffix, text):
    single = suffix == "f32"
    real = "float" if single else "double"
    values = constants(blocks("real.h")[suffix])
    tables = arrays(blocks("coefficients.inc")[suffix])
    values["MILLS_CENTRE"] = number(re.search(r"#define MILLS_CENTRE (\S+)", blocks("coefficients.inc")[suffix])[1])
    with mp.workdps(60):
        bend = 6 * 2 * mp.sqrt(2 / mp.pi) * mpf("0.044715")
    values["TANH_BEND"] = float(rounded(bend, single))
    values["TANH_BEND_LOW"] = float(rounded(bend - mpf(values["TANH_BEND"]), single))
    values["SMALL"] = 2.0 ** -126 if single else 2.0 ** -1022
    for form in FORMS:
        inside, body = near_zero(form, 1, real, suffix, single)
        text = text.replace(f"@{form}_zero1@\n", body.lstrip("\n")).replace(f"@{form}_near1@", inside)
        if form != "gelu_exact":
            inside, body = near_zero(form, 2, real, suffix, single)
            text = text.replace(f"@{form}_zero2@\n", body.lstrip("\n")).replace(f"@{form}_near2@", inside)
    for name, table in tables.items():
        pattern = re.search(rf"( *)@{name}\((\w+), (\w+)\)@", text)
        if pattern:
            text = text.replace(pattern[0].lstrip(), wrapped(estrin(table, pattern[2], pattern[3], real, suffix, single), "        "))
    for name in sorted(values, key=len, reverse=True):
        text = text.replace(f"@{name}@", literal(values[name], single))
    whole = {"REAL": real, "S": suffix, "BITS": "unsigned int" if single else "unsigned long long",
             "MANTISSA": "23" if single else "52", "SPLIT": "12" if single else "27",
             "FMA": "fmaf" if single else "fma", "RN": "f" if single else "d",
             "ONE": "0x3f800000u" if single else "0x3ff0000000000000u", "LAST_EXPONENT": "64" if single else "512",
             "DESCRIPTION": "single" if single else "double", "REAL_HALF": "0.5f" if single else "0.5"}
    for name, replacement in whole.items():
        text = text.replace(f"@{name}@", replacement)
    left = re.findall(r"@\w+", text)
    assert not left, left
    return text


def main():
    text = open(os.path.join(HERE, "gelu_header.inc")).read()
    head, body, tail = text.split("@@@\n")
    licence = open(os.path.join(HERE, "../../LICENSE")).read().strip()
    head = head.replace("@LICENSE@", "\n".join(f" * {line}".rstrip() for line in licence.split("\n")))
    print(head + functions("f32", body) + functions("f64", body) + tail, end="")


main()
