/* What the descriptors of the made-up library stand for: types, attributes, and the configurations of its lists. */
#ifndef GDNN_FUZZ_OBJECTS_H
#define GDNN_FUZZ_OBJECTS_H

#include "library.h"

/* Whether there is such a type of descriptor. */
bool object_exists(int type);

/* One that the caller holds. */
library_object *object_make(int type);
void object_hold(library_object *object);
void object_drop(library_object *object);
int objects_left(void);

/* Whether the attribute can be set so: its elements are looked at by object_may_hold alone. */
bool object_accepts(const library_object *object, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, int64_t count, const void *elements);
bool object_may_hold(cudnnBackendAttributeName_t name, const library_object *element);

/* Sets an attribute in place of what it was; of descriptors `elements` are objects, which are held from now on. */
void object_set(library_object *object, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, int64_t count, const void *elements);

cudnnStatus_t object_finalize(library_object *object, bool lenient);

/* Whether the attribute can be asked for so. */
bool object_has(const library_object *object, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type);

/* Answers for attributes that are no descriptors. */
cudnnStatus_t object_get(const library_object *object, cudnnBackendAttributeName_t name,
                         int64_t requested, int64_t *count, void *elements);

/* Number `index` of the list of heuristics, made for the caller. */
library_object *object_listed(const library_object *heuristics, int64_t index);

/* Number `index` of the attribute library_attribute_name, held for the caller. */
extern cudnnBackendAttributeName_t library_attribute_name;
library_object *object_element(const library_object *object, int64_t index);

#endif
