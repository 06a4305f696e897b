/* Feeds the readers of model files and of .npy arrays whatever libFuzzer thinks of: `make fuzz`, or for ten minutes
 * `make fuzz FUZZ_SECONDS=600`.
 *
 * What is accepted must be sound: every tensor can be read, and written again it gives the same tensors.
 */
#include "nn/files/npy.h"
#include "nn/files/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool fine)
{
    if (!fine)
        abort();
}

static void check_tensors(tg_safetensors *file)
{
    char message[TG_FILE_MESSAGE];
    const tg_file_tensor *tensor;
    for (int i = 0; (tensor = tg_safetensors_at(file, i)); i++) {
        require(tg_safetensors_find(file, tensor->name) == tensor && tensor->size >= 0);
        if (tensor->size > 100000)
            continue;
        double *numbers = malloc((size_t)tensor->size * sizeof *numbers + 1);
        require(numbers != NULL);
        const bool floating = strstr(" F16 BF16 F32 F64 ", tensor->dtype) != NULL;
        require(tg_safetensors_read(file, tensor, TG_F64, numbers, message) == floating);
        const tg_file_item item = {tensor->name, TG_F64, tensor->shape, numbers};
        require(!floating || tg_safetensors_write("/dev/shm/fuzz_safetensors.out", &item, 1, NULL, 0, message));
        free(numbers);
    }
}

static void check_array(const char *path)
{
    char message[TG_FILE_MESSAGE] = "";
    tg_npy array, again;
    if (!tg_npy_read(path, &array, message)) {
        require(message[0] && !strchr(message, '\n') && !array.data);
        return;
    }
    const size_t size = (size_t)tg_shape_size(&array.shape) * tg_dtype_size(array.dtype);
    require(tg_npy_write("/dev/shm/fuzz_npy.out", array.dtype, array.shape, array.data, message));
    require(tg_npy_read("/dev/shm/fuzz_npy.out", &again, message) && again.dtype == array.dtype &&
            tg_shape_equal(&again.shape, &array.shape) && (size == 0 || memcmp(again.data, array.data, size) == 0));
    tg_npy_free(&again);
    tg_npy_free(&array);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    char message[TG_FILE_MESSAGE] = "";
    if (!path[0])
        snprintf(path, sizeof path, "/dev/shm/fuzz_safetensors.%ld", (long)getpid());
    FILE *out = fopen(path, "wb");
    require(out && fwrite(data, 1, size, out) == size && fclose(out) == 0);
    tg_safetensors *file = tg_safetensors_open(path, message);
    require(file || (message[0] && !strchr(message, '\n')));
    if (file)
        check_tensors(file);
    tg_safetensors_close(file);
    check_array(path);
    unlink(path);
    return 0;
}
