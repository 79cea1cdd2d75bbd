#include "input.h"
#include <string.h>

const uint8_t *input, *input_end;
descriptor slots[SLOTS];
int next_slot;

descriptor last_graph, last_config, last_plan, last_pack;
int spoil;

unsigned byte(void)
{
    return input < input_end ? *input++ : 0;
}

int take(unsigned *bits, int count)
{
    int taken = (int)(*bits % (unsigned)count);
    *bits /= (unsigned)count;
    return taken;
}

void drop(descriptor d)
{
    if (library_object_of(d))
        program_destroy(d);
}

descriptor fresh(int type)
{
    drop(slots[next_slot]);
    descriptor made = program_create(type);
    slots[next_slot] = made;
    next_slot = (next_slot + 1) % SLOTS;
    return made;
}

descriptor any(descriptor last)
{
    unsigned choice = byte();
    return choice < 192 && last ? last : slots[choice % SLOTS];
}

descriptor target(void)
{
    unsigned choice = byte();
    const descriptor last[] = {last_plan, last_pack, last_config, last_graph};
    return choice < 128 ? last[choice % 4] : slots[choice % SLOTS];
}

void set_elements(descriptor d, int name, int type, int64_t count, const void *elements,
                  size_t bytes)
{
    union {
        unsigned char byte[8 * ELEMENTS];
        descriptor first;
    } copy = {{0}};
    memcpy(copy.byte, elements, (size_t)count * bytes);
    elements = &copy;
    if (spoil && !--spoil) {
        unsigned how = byte(), what = byte();
        switch (how % 8) {
        case 0: return;
        case 1: type = (int)(what % 26); break;
        case 2: count = (int64_t)(what % (ELEMENTS + 1)) - 1; break;
        case 3: name += (int)(what % 9) - 4; break;
        case 4: elements = NULL; break;
        case 5: copy.byte[what % (8 * ELEMENTS)] ^= (unsigned char)(1 + how / 8); break;
        case 6: copy.first = slots[what % SLOTS]; break;
        default: program_set(d, name, type, count, elements); break; /* twice */
        }
    }
    program_set(d, name, type, count, elements);
}

void finalize(descriptor d)
{
    if (spoil && !--spoil)
        switch (byte() % 3) {
        case 0: return;
        case 1: program_finalize(d); break; /* twice */
        default: program_initialize(d); break;
        }
    program_finalize(d);
}

void set_numbers(descriptor d, int name, int64_t count, const int64_t *numbers)
{
    set_elements(d, name, CUDNN_TYPE_INT64, count, numbers, sizeof *numbers);
}

void set_number(descriptor d, int name, int64_t number)
{
    set_numbers(d, name, 1, &number);
}

void set_word(descriptor d, int name, int type, int word)
{
    set_elements(d, name, type, 1, &word, sizeof word);
}

void set_flag(descriptor d, int name, bool flag)
{
    set_elements(d, name, CUDNN_TYPE_BOOLEAN, 1, &flag, sizeof flag);
}

void set_real(descriptor d, int name, double real, bool single)
{
    const float small = (float)real;
    if (single)
        set_elements(d, name, CUDNN_TYPE_FLOAT, 1, &small, sizeof small);
    else
        set_elements(d, name, CUDNN_TYPE_DOUBLE, 1, &real, sizeof real);
}

void set_one(descriptor d, int name, descriptor element)
{
    set_elements(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &element, sizeof element);
}

void set_handle(descriptor d, int name, unsigned number)
{
    const uintptr_t handle = number;
    set_elements(d, name, CUDNN_TYPE_HANDLE, 1, &handle, sizeof handle);
}
