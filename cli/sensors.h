/* sensors.h - what sensors of a scene read, for logs and results.  All of them have names. */
#ifndef TBI_CLI_SENSORS_H
#define TBI_CLI_SENSORS_H

#include "cli.h"

/* Names of columns, and a row of numbers; each begins with a comma. */
void tbi_sensor_names(FILE *file, const tabi_model *model);
void tbi_sensor_row(FILE *file, const tabi_world *world);
/* The last readings by name; NULL: out of memory. */
json_t *tbi_sensor_json(const tabi_world *world);

#endif
