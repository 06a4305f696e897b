"""What those who meet the checker first give it by mistake, and what they may give it. Run by tests/gradcheck/test_gradcheck_command.c:

    TAPEGRAD_LIBRARY=build/libtapegrad.so PYTHONPATH=examples/gradcheck python3 tests/gradcheck/newcomer.py   the package of the wheel
    build/bin/gradcheck --command 'python3 tests/gradcheck/newcomer.py'                                     the pipe, with NumPy
"""
import array
import decimal
import fractions
import os


def says(words, call):
    try:
        result = call()
        found = getattr(result, "status", None) or result.result, result.why
    except BaseException as error:
        found = f"{type(error).__name__}: {error}"
    assert words in str(found), f"expected {words!r}, found {found}"


def square(x):
    return sum(a * a for a in x)


def doubled(x):
    return [2 * a for a in x]


x = [0.3, -1.2, 2.0]


def of_the_package():
    import tapegrad

    check = tapegrad.gradcheck

    def changes(x):
        x[0] += 1e-3
        return square(x)

    def raises_later(error):
        left = [5]

        def f(x):
            left[0] -= 1
            if left[0] < 0:
                raise error
            return square(x)
        return f

    says("passed", lambda: check(square, doubled, x))
    says("passed", lambda: check(square, doubled, array.array("f", x)))
    says("passed", lambda: check(square, doubled, [decimal.Decimal("0.3"), 2]))
    says("passed", lambda: check(square, doubled, [fractions.Fraction(1, 3)]))
    says("passed", lambda: check(lambda a, b: a * b, lambda a, b: [b, a], (2.0, 3.0)))
    for nothing in (None, "abc", {1.0}, {"a": 1.0}):
        says("TypeError: expected a number, an array or nested lists of numbers, found " + type(nothing).__name__, lambda: check(square, doubled, nothing))
    says("TypeError: what f gives: expected a number", lambda: check(lambda x: None, doubled, x))
    says("TypeError: what grad gives: expected a number", lambda: check(square, lambda x: None, x))
    says("TypeError: expected two functions", lambda: check(square, None, x))
    says("TypeError: what f gives: complex numbers", lambda: check(lambda x: 1j, doubled, x))
    says("ValueError: expected arrays that are not empty", lambda: check(square, doubled, ()))
    says("ZeroDivisionError", lambda: check(square, lambda x: 1 / 0, x))
    says("f gives arrays, so grad gets x and v", lambda: check(doubled, doubled, x))
    says("f gives a number, so grad gets x alone", lambda: check(square, lambda x, v: doubled(x), x))
    says("ValueError: grad gives 1 of 2 arrays", lambda: check(lambda a, b: a * b, lambda a, b: b, (2.0, 3.0)))
    says("ValueError: array 0 that grad gives has shape (2,), where (3,) is expected", lambda: check(square, lambda x: doubled(x)[:2], x))
    says("disturbed", lambda: check(changes, doubled, list(x)))
    says("disturbed", lambda: check(square, lambda x: [x.__setitem__(i, 2 * a) for i, a in enumerate(x)] and x, list(x)))
    says("ValueError: low has 3 numbers for 1 arrays", lambda: check(square, doubled, x, low=[-2, -2, -2]))
    says("TypeError: expected low to be a number", lambda: check(square, doubled, x, low=([0, 1],)))
    for option in ({"directions": -1}, {"evaluations": -1}, {"largest_step": -1.0}):
        says("expected directions, evaluations and a largest_step of 0 or more", lambda: check(square, doubled, x, **option))
    says("nothing was compared", lambda: check(lambda x: 1.0, lambda x: [0.0], [2.0], evaluations=5))
    says("SystemExit: 3", lambda: check(raises_later(SystemExit(3)), doubled, x))
    says("ended after", lambda: check(raises_later(KeyboardInterrupt()), doubled, x))
    says("ValueError: progress failed: ZeroDivisionError", lambda: check(square, doubled, x, progress=lambda n: 1 / 0))


def of_the_pipe():
    import numpy as np
    from tapegrad_check import check

    at = np.array(x)
    says("passed", lambda: check(lambda x: x * x, lambda x: 2 * x, 1.5))
    says("passed", lambda: check(lambda x: float((x * x).sum()), lambda x: 2 * x, at, evaluations=np.int64(90), rtol=np.float32(1e-3)))
    says("passed", lambda: check(lambda x: np.abs(x).sum(), np.sign, at))
    says("TypeError: expected a vjp or a jvp", lambda: check(lambda x: x * x, None, at))
    says("complex numbers have no gradient here", lambda: check(lambda x: x * x + 0j, lambda x, v: 2 * x * v, at))
    says("beside which integers may be: not int64", lambda: check(lambda x: (x * x).sum(), lambda x: 2 * x, np.array([1, 2, 3])))
    says("expected rtol, atol", lambda: check(lambda x: x * x, lambda x, v: 2 * x * v, at, rtol=-1))
    says("the given point is outside of its bounds", lambda: check(lambda x: x * x, lambda x, v: 2 * x * v, at, low=0))
    says("there is nothing to compare: all inputs are empty", lambda: check(lambda x: x * x, lambda x, v: 2 * x * v, at[:0]))


of_the_pipe() if "TAPEGRAD_GRADCHECK" in os.environ else of_the_package()
