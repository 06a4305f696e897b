/* The gradient checker in C++: functions of vectors.
 *
 *     auto result = tapegrad::gradcheck([](const auto &x) { return x[0] * x[1]; },
 *                                       [](const auto &x) { return std::vector<double>{x[1], x[0]}; }, {0.3, -1.2});
 *     if (!result)
 *         std::cerr << result.report;
 */
#ifndef TAPEGRAD_GRADCHECK_HPP
#define TAPEGRAD_GRADCHECK_HPP

#include <tapegrad.h>

#include <functional>
#include <string>
#include <vector>

namespace tapegrad {

using vector = std::vector<double>;

struct gradcheck_result : tg_gradcheck_result {
    std::string report; /* of a failure, or else the sentence */
    explicit operator bool() const { return passed; }
};

/* Functions that throw are counted as failed at the point. */
inline gradcheck_result gradcheck(const std::function<double(const vector &)> &f, const std::function<vector(const vector &)> &gradient,
                                  const vector &x, tg_gradcheck_options options = {})
{
    struct both {
        const std::function<double(const vector &)> &f;
        const std::function<vector(const vector &)> &gradient;
        std::size_t n;
        vector at(const void *const *in) const
        {
            const double *first = static_cast<const double *>(in[0]);
            return vector(first, first + n);
        }
    } user{f, gradient, x.size()};
    tg_black_box box{};
    box.name = "f";
    box.user = &user;
    box.value = [](const void *const *in, void *const *out, void *of) {
        const both *b = static_cast<both *>(of);
        try {
            *static_cast<double *>(out[0]) = b->f(b->at(in));
            return true;
        } catch (...) {
            return false;
        }
    };
    box.vjp = [](const void *const *in, const void *const *v, void *const *out, void *of) {
        const both *b = static_cast<both *>(of);
        try {
            const vector g = b->gradient(b->at(in));
            for (std::size_t i = 0; i < b->n && g.size() == b->n; i++)
                static_cast<double *>(out[0])[i] = *static_cast<const double *>(v[0]) * g[i];
            return g.size() == b->n;
        } catch (...) {
            return false;
        }
    };
    std::vector<char> report(1 << 14);
    options.report = report.data();
    options.report_size = report.size();
    tg_gradcheck_input in{};
    in.name = "x";
    in.shape = tg_shape_from(static_cast<int64_t>(x.size()));
    in.data = x.data();
    gradcheck_result result;
    static_cast<tg_gradcheck_result &>(result) = tg_gradcheck_function(&box, &in, 1, &options);
    result.report = report[0] ? report.data() : result.why;
    return result;
}

} // namespace tapegrad

#endif
