/* The fingerprints in an instruction set, all or those of a pattern, for systems without argp. Status 3: this processor
 * has no such set.
 */
#include "tests/fingerprint/fingerprint.h"

#include "autograd/kernels/kernels.h"

#if defined _WIN32 && defined __clang__
/* zig's run-time library finds no AVX, AVX2, fused multiply-adds, BMI and BMI2 on any processor; here they are taken to be there. */
struct {
    unsigned vendor, type, subtype, features[1];
} __cpu_model = {0, 0, 0, {1u << 9 | 1u << 10 | 1u << 14 | 1u << 16 | 1u << 17}};
unsigned __cpu_features2[4];

int __cpu_indicator_init(void);
int __cpu_indicator_init(void)
{
    return 0;
}
#endif

int main(int argc, char **argv)
{
    if (argc < 2 || !tg_kernels_use(argv[1]))
        return 3;
    return !fingerprint_print(argc > 2 ? argv[2] : "*", stdout) || fflush(stdout) != 0;
}
