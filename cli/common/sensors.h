/* sensors.h - sensors of a model, and what they read, for lists and results.  Those that come
 * from files have names. */
#ifndef TBI_CLI_SENSORS_H
#define TBI_CLI_SENSORS_H

#include "common/cli.h"

/* The last readings by name; NULL: out of memory. */
json_t *tbi_sensor_json(const tabi_world *world);

/* All sensors, what they are and where. */
void tbi_sensor_list(FILE *out, const tabi_model *model);
json_t *tbi_sensor_list_json(const tabi_model *model);

#endif
