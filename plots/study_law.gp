# Which form is which, and the law of docs/gated-start.md: $ways has the steps of each form at each scale s, and the way of its weights.
# Loaded by study_collapse.gp and study_scale.gp, which set `data`: forms.csv of the study gated-start.

forms = "identity relu gelu_exact silu relu_squared swiglu geglu"
colours = "BBBBBB 000000 0072B2 CC79A7 E69F00 D55E00 009E73"
array shapes[7] = [2, 7, 5, 9, 6, 4, 8]
array panels[3] = ["GPT with AdamW", "MLP with AdamW", "MLP with SGD"]
array way[3] = [0, 0, 1] # whether the speed of the weights depends on the gradient's size
array deviation[3] = [sqrt(0.4), 1, 1] # of pre-activations at scale 1

# The deviation a of hidden activations whose pre-activations have the deviation z, by the trapezoid rule.
plain(form, x) = form eq "relu" || form eq "relu_squared" ? (x > 0 ? x : 0) : form eq "gelu_exact" || form eq "geglu" ? x * norm(x) : \
                 form eq "silu" || form eq "swiglu" ? x / (1 + exp(-x)) : x
f(form, x) = form eq "relu_squared" ? plain(form, x) ** 2 : plain(form, x)
square(form, z) = 0.1 / sqrt(2 * pi) * sum [i=-60:60] f(form, z * i / 10.0) ** 2 * exp(-(i / 10.0) ** 2 / 2)
hidden(form, z) = sqrt(square(form, z)) * (form eq "swiglu" || form eq "geglu" ? z : 1)
# The integral of ds / a from s to 1, by the midpoint rule on the logarithm of s.
distance(form, s, z) = -log(s) / 24 * sum [i=0:23] s ** ((i + 0.5) / 24) / hidden(form, z * s ** ((i + 0.5) / 24))
number(panel) = panel eq panels[1] ? 1 : panel eq panels[2] ? 2 : panel eq panels[3] ? 3 : 0

set table $ways separator comma # panel, form, output, way, mean, steps, seed, s
plot data using (number(strcol("panel"))):(sum [k=1:7] (strcol("form") eq word(forms, k)) * k): \
    (k = number(strcol("panel")), k ? column("s") * hidden(strcol("form"), deviation[k] * column("s")) : NaN): \
    (k == 0 ? NaN : way[k] ? distance(strcol("form"), column("s"), deviation[k]) : column("s")):(column("mean")):(column("steps")):(column("seed")):(column("s")) with table
unset table
set datafile nocolumnheaders
of(panel, form, value) = $1 == panel && $2 == form ? value : NaN
first(panel, form, value) = $7 == 1 ? of(panel, form, value) : NaN

