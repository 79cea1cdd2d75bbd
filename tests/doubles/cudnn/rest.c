/* The functions that the flavour `plain` does not have: they exist, and say so. Weak, so that
 * those which another file defines prevail. */
#include <stddef.h>

#define REST(name, type, value)                                                                    \
    type name(void);                                                                               \
    __attribute__((weak)) type name(void)                                                          \
    {                                                                                              \
        return value;                                                                              \
    }
#define REST_STATUS(name) REST(name, int, 3000) /* CUDNN_STATUS_NOT_SUPPORTED */
#define REST_SIZE(name)   REST(name, size_t, 0)
#define REST_TEXT(name)   REST(name, const char *, "")
#define REST_NONE(name)   REST(name, void, )

#define GDNN_CUDNN(name, returns, way) REST_##returns(name)
#include "cudnn_api.def"
#undef GDNN_CUDNN
