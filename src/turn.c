#include "turn.h"
#include "problem.h"
#include <string.h>

bool gdnn_turn(const gdnn_conv *conv, gdnn_conv *turned)
{
    if (conv->dir != GDNN_BWD_DATA || gdnn_cpg(conv) != 1 || gdnn_kpg(conv) != 1)
        return false;
    *turned = *conv;
    turned->dir = GDNN_FWD;
    turned->mode = conv->mode == GDNN_XCORR ? GDNN_CONV : GDNN_XCORR;
    memcpy(turned->x_stride, conv->y_stride, sizeof turned->x_stride);
    memcpy(turned->y_stride, conv->x_stride, sizeof turned->y_stride);
    for (int i = 0; i < conv->spatial; i++) {
        int64_t reach = (conv->filter[i] - 1) * conv->dilation[i];
        if (conv->stride[i] != 1 || conv->pad[i] > reach || conv->pad_after[i] > reach)
            return false;
        turned->in[i] = gdnn_out_size(conv, i);
        turned->pad[i] = reach - conv->pad[i];
        turned->pad_after[i] = reach - conv->pad_after[i];
    }
    return true;
}
