#ifndef GDNN_DOUBLE_LAUNCHES_HPP
#define GDNN_DOUBLE_LAUNCHES_HPP

#include <cstdint>

namespace fake
{
uint64_t count_of_launches(); // accepted
} // namespace fake

#endif
