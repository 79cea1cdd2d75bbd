/* The bytes of a fuzzer as numbers, descriptors, and attributes that now and then are not as they should be. */
#ifndef GDNN_FUZZ_INPUT_H
#define GDNN_FUZZ_INPUT_H

#include "program.h"
#include <stddef.h>

typedef cudnnBackendDescriptor_t descriptor;

enum { SLOTS = 40, ELEMENTS = 40 };

/* What is left to be read. */
extern const uint8_t *input, *input_end;

/* The program's descriptors; most have gone, or their addresses are others' now. The next one takes this slot. */
extern descriptor slots[SLOTS];
extern int next_slot;

/* The last of each sort; NULL: there was none. */
extern descriptor last_graph, last_config, last_plan, last_pack;

/* What counts this down to 0 is not as it should be: an attribute, or that something is finalised. */
extern int spoil;

/* The next byte; 0 behind the last. */
unsigned byte(void);

/* A number below `count` out of `bits`, which then has what is left. */
int take(unsigned *bits, int count);

/* Destroys what is there. */
void drop(descriptor d);

/* A descriptor in the next slot. NULL: the library refuses. */
descriptor fresh(int type);

/* Mostly `last`, which may be gone; else any slot's. */
descriptor any(descriptor last);

/* One of the last of each sort, or any slot's. */
descriptor target(void);

void finalize(descriptor d);
void set_elements(descriptor d, int name, int type, int64_t count, const void *elements,
                  size_t bytes);
void set_numbers(descriptor d, int name, int64_t count, const int64_t *numbers);
void set_number(descriptor d, int name, int64_t number);
void set_word(descriptor d, int name, int type, int word);
void set_flag(descriptor d, int name, bool flag);
void set_real(descriptor d, int name, double real, bool single);
void set_one(descriptor d, int name, descriptor element);
void set_handle(descriptor d, int name, unsigned number);

#endif
