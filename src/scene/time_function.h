/* time_function.h - numbers of a scene that depend on the time: constant, a sine, or a table.
 *
 *   forces: [{body: box, force: [1, 0, 0], sine: {frequency: 2}}]
 *   forces: [{body: box, table: push.csv}]
 *
 * A table is a CSV file (io/csv.h) whose columns are named after the components.  It is linear
 * between its rows and constant before the first and after the last. */
#ifndef TBI_TIME_FUNCTION_H
#define TBI_TIME_FUNCTION_H

#include "scene/scene.h"

/* What components are called in tables: "vx", and "x" for that of which it is the rate, or NULL. */
typedef struct tbi_component {
  const char *value, *integral;
} tbi_component;

/* How a function is given. */
typedef struct tbi_time_keys {
  const tbi_yaml_node *table, *sine; /* or NULL */
  const tbi_component *components;   /* [count] */
  int32_t count;
  bool constant; /* a constant value is given, too: the amplitude of a sine, not for tables */
} tbi_time_keys;

/* Over the amplitudes that function->constant has.  The caller frees, also after an error. */
bool tbi_time_function_read(tbi_scene_reader *r, const tbi_yaml_node *node, const char *what,
                            const tbi_time_keys *keys, tbi_time_function *function);
void tbi_time_function_free(tbi_time_function *function);

/* At a time. */
void tbi_time_function_value(const tbi_time_function *function, double time, double *value);
/* The mean over a step from a time on; columns of integrals end exactly where they say. */
void tbi_time_function_mean(const tbi_time_function *function, double time, double step,
                            double *value);

#endif
