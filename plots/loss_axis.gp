# The vertical axis of a loss from `low` to `high`: logarithmic where it is longer than a factor of `long`.
# Sets bottom and peak, the ends of the axis, and within(x), which holds x between them. Loaded by the scripts that draw losses.

is_logarithmic = low > 0 && high / low > long
if (is_logarithmic) {
    set logscale y
    set ytics ()
    do for [power=-15:15] {
        do for [digit in tics_of(low, high)] { set ytics add (sprintf("%g", digit * 10.0**power) digit * 10.0**power) }
    }
    bottom = low / (high / low < 1.5 ? 1.01 : 1.1)
    peak = high * (high / low < 1.5 ? 1.01 : 1.1)
} else {
    unset logscale y
    set ytics autofreq
    height = high > low ? high - low : high != 0 ? abs(high) : 1
    bottom = low - 0.05 * height
    peak = high + 0.05 * height
}
set yrange [bottom : peak]
within(x) = x < bottom ? bottom : x > peak ? peak : x           # a band may reach below zero, which no logarithmic axis shows
