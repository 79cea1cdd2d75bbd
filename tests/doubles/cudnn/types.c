#include "types.h"

int type_size(int type)
{
    switch (type) {
    case 0: return 4;  /* FLOAT */
    case 1: return 8;  /* DOUBLE */
    case 2: return 2;  /* HALF */
    case 3: return 1;  /* INT8 */
    case 4: return 4;  /* INT32 */
    case 5: return 4;  /* INT8x4 */
    case 6: return 1;  /* UINT8 */
    case 7: return 4;  /* UINT8x4 */
    case 8: return 32; /* INT8x32 */
    case 9: return 2;  /* BFLOAT16 */
    default: return 0;
    }
}

int type_vector(int type)
{
    return type == 5 || type == 7 ? 4 : type == 8 ? 32 : 1;
}
