/* Apart from the other temporary files, as it alone needs zlib. */
#include "tests/support/temporary_files.h"

#include <check.h>
#include <zlib.h>

void temporary_write_gzip(const char *name, const void *bytes, size_t size)
{
    gzFile file = gzopen(temporary_path(name), "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(gzwrite(file, bytes, (unsigned)size), (int)size);
    ck_assert_int_eq(gzclose(file), Z_OK);
}
