/* A header that stands alone, twice: -DHEADER says which. */
#include HEADER
#include HEADER
