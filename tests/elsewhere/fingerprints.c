/* The fingerprints in an instruction set, all or those of a pattern, for systems without argp. Status 3: this processor
 * has no such set.
 */
#include "tests/fingerprint/fingerprint.h"

#include "autograd/kernels/kernels.h"

int main(int argc, char **argv)
{
    if (argc < 2 || !tg_kernels_use(argv[1]))
        return 3;
    return !fingerprint_print(argc > 2 ? argv[2] : "*", stdout) || fflush(stdout) != 0;
}
