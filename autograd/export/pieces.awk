# Cuts the kernels' sources into pieces, a definition each with the comment above it, as initialisers for pieces.c:
#
#     {"names that it defines", 32, true, "its text", {NULL, NULL}},    32 or 64: for floats or doubles only; 0: for
#                                                                       both; whether it is a function; no formula
#
# Where a source includes kernels.def the pieces do too: pieces.c makes one of each of its lines.
#
# Of an #if outside of functions the branch for TG_REAL_f32 or TG_REAL_f64 is taken, and of any other one the #else: what
# is for some compilers only is left out. In the first file such an #if is a piece itself.

function quoted(text)
{
    gsub(/\\/, "\\\\\\\\", text)
    gsub(/"/, "\\\\\"", text)
    gsub(/\n/, "\\n\"\n     \"", text)
    sub(/"\n     "$/, "\"", text)
    return text
}

function without_comments(text,    start)
{
    while ((start = index(text, "/*")) > 0)
        text = substr(text, 1, start - 1) substr(text, start + 1 + index(substr(text, start + 2), "*/") + 2)
    return text
}

function word_in(text)
{
    return match(text, /[A-Za-z_][A-Za-z0-9_]*/) ? substr(text, RSTART, RLENGTH) : ""
}

function last_word_in(text)
{
    return match(text, /[A-Za-z0-9_]+[ \n]*$/) ? word_in(substr(text, RSTART)) : ""
}

# The names that a definition without comments defines.
function names_of(text,    list, n, i, names)
{
    if (text ~ /^#if/) {
        n = split(text, list, "#define ")
        for (i = 2; i <= n; i++)
            names = names " " word_in(list[i])
        return substr(names, 2)
    }
    if (text ~ /^#define/)
        return word_in(substr(text, 9))
    if (text ~ /^enum/) {
        n = split(substr(text, 5), list, ",")
        for (i = 1; i <= n; i++)
            names = names " " word_in(list[i])
        return substr(names, 2)
    }
    if (text ~ /^typedef/) {
        sub(/;[ \n]*$/, "", text)
        return last_word_in(text)
    }
    if (text ~ /^TG_[A-Z_]*\(/) { # a macro that makes functions: a kernel of the first word, or all words
        names = text ~ /^TG_[A-Z_]*KERNEL\(/
        sub(/^[^(]*\(/, "", text)
        if (names)
            return "vector_" word_in(text)
        gsub(/[^A-Za-z0-9_]+/, " ", text)
        sub(/ $/, "", text)
        return text
    }
    is_function = text !~ /^[^(]*=/
    sub(/[(=[].*/, "", text)
    return last_word_in(text)
}

function finish(    names)
{
    is_function = 0
    names = names_of(without_comments(code))
    if (active[level] && names != "")
        printf "    {\"%s\", %d, %s, \"%s, {NULL, NULL}},\n", names, real, is_function ? "true" : "false", quoted(comment code)
    comment = code = ""
    depth = 0
}

BEGIN {
    active[level = 0] = 1
    real = 0
}

FNR == NR && (/^#if/ || code ~ /^#if/) {
    code = code $0 "\n"
    if (/^#endif/)
        finish()
    next
}
code == "" && /^#(if|ifdef|ifndef)/ {
    level++
    was_real[level] = real
    active[level] = taken[level] = active[level - 1] && ($0 ~ /TG_REAL_f32/ || $0 ~ /^#ifndef/)
    real = $0 ~ /TG_REAL_f32/ ? 32 : real
    next
}
code == "" && /^#(elif|else)/ {
    active[level] = active[level - 1] && ($0 ~ /TG_REAL_f64/ || ($0 ~ /^#else/ && !taken[level]))
    taken[level] = taken[level] || active[level]
    real = $0 ~ /TG_REAL_f64/ ? 64 : real
    next
}
code == "" && /^#endif/ {
    real = was_real[level--]
    next
}
code == "" && /^#include .*kernels\.def"/ { print }
code == "" && /^#(include|error|undef)/ { next }
/^ *#pragma/ { next }

code == "" && (in_comment || /^\/\*/) {
    in_comment = $0 !~ /\*\//
    comment = comment $0 "\n"
    next
}
code == "" && /^$/ {
    comment = ""
    next
}
{
    gsub(/__builtin_/, "")
    gsub(/_Pragma\("[^"]*"\)/, "")
    code = code $0 "\n"
    plain = without_comments($0)
    sub(/ +$/, "", plain)
    if (code ~ /^#define/) {
        if (plain !~ /\\$/)
            finish()
        next
    }
    depth += gsub(/[{(]/, "&", plain) - gsub(/[})]/, "&", plain)
    if (depth == 0 && (plain ~ /[;}]$/ || code ~ /^TG_[A-Z_]*\(/))
        finish()
}
