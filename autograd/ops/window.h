/* Windows that slide over images, for convolution and pooling: attributes, sizes, checks. Internal.
 *
 *     input [batch, channels, height, width]    window i, j at y, x:  row y stride + i dilation - padding,
 *                                               column likewise
 */
#ifndef TG_WINDOW_H
#define TG_WINDOW_H

#include "autograd/ops.h"

/* Lists of two numbers, [height, width]. */
typedef struct tg_window_layout {
    tg_shape kernel, stride, padding, dilation;
    tg_shape size; /* of the image */
} tg_window_layout;

extern const tg_field tg_window_fields[6];
#define TG_WINDOW_ATTRIBUTES TG_ATTRIBUTES(tg_window_layout, tg_window_fields)

/* The number of windows along axis 0 (down) or 1 (across); below 1 if not even one fits. */
int64_t tg_windows(const tg_window_layout *w, int axis);

/* Shape rules: refuses lists that are not of two numbers in range, and images smaller than the kernel. */
bool tg_window_fits(const tg_value *out, const tg_window_layout *w);

/* ... and an input that is not [batch, channels, height, width] of the window's images; sets the type of the result. */
bool tg_window_fits_input(tg_value *out, const tg_window_layout *w);

/* The window that a user's settings describe for an image [.., height, width]; zeros become their defaults. */
tg_window_layout tg_window_over(tg_tensor image, int64_t kernel_height, int64_t kernel_width, const tg_window *window);

/* In one dimension: settings for [length] as those for images of height 1, [.., length] as [.., 1, length], and back.
 * Tensors of other ranks stay as they are. */
tg_window tg_window_across(tg_window window);
tg_tensor tg_with_height(tg_tensor x);
tg_tensor tg_without_height(tg_tensor x);

/* Attributes of samples: WINDOW(PAIR(2, 2), ...), each a height and a width. */
#define PAIR(...)                         \
    {                                     \
        .rank = 2, .dim = { __VA_ARGS__ } \
    }
#define WINDOW(...) .attributes = (&(tg_window_layout){__VA_ARGS__}) /* kernel, stride, padding, dilation, image */

#endif
