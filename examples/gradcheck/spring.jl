# A chain of springs in Julia, over the pipe: build/bin/gradcheck --command 'julia examples/gradcheck/spring.jl'
energy(x) = sum((x[2:end] .- x[1:end-1]) .^ 2) / 2
function vjp(x, v)
    s = x[2:end] .- x[1:end-1]
    v .* ([0; s] .- [s; 0])
end
numbers(line, key) = parse.(Float64, split(match(Regex("\"$key\": \\[\\[([^]]*)\\]"), line)[1], ","))

println("""{"function": "energy", "inputs": [{"name": "x", "shape": [4], "data": [0, 1.2, 1.9, 3.5]}], "outputs": [[1]], "gives": ["vjp"]}""")
flush(stdout)
for line in eachline(stdin)
    occursin("\"ask\": \"end\"", line) && break
    x = numbers(line, "in")
    out = occursin("\"ask\": \"value\"", line) ? [energy(x)] : vjp(x, numbers(line, "v")[1])
    println("{\"out\": [[", join(out, ", "), "]]}")
    flush(stdout)
end
