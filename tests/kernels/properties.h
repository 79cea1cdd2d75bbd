/* The functions that properties.def names: each offers its cases to a subject. */
#ifndef PROPERTIES_H
#define PROPERTIES_H

#include "subject.h"

#define GDNN_PROPERTY(function, directions, name) void function(subject *s);
#include "properties.def"
#undef GDNN_PROPERTY

#endif
