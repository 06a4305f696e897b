// A chain of springs, once with the right gradient and once with a term missing.
#include "gradcheck.hpp"

#include <iostream>

using tapegrad::vector;

static double energy(const vector &x)
{
    double sum = 0;
    for (std::size_t i = 0; i + 1 < x.size(); i++)
        sum += (x[i + 1] - x[i]) * (x[i + 1] - x[i]) / 2;
    return sum;
}

int main()
{
    for (bool forgets : {false, true}) {
        auto gradient = [forgets](const vector &x) {
            vector g(x.size());
            for (std::size_t i = 0; i + 1 < x.size(); i++) {
                g[i + 1] += x[i + 1] - x[i];
                g[i] -= forgets ? 0 : x[i + 1] - x[i];
            }
            return g;
        };
        std::cout << tapegrad::gradcheck(energy, gradient, {0, 1.2, 1.9, 3.5}).report << "\n";
    }
}
