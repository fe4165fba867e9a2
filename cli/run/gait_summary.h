/* gait_summary.h - what `tabi run` reports of contact method gait: steps, modes, outcome, plots.
 *
 * All of it is for scenes whose contact method is gait; for others these functions do nothing. */
#ifndef TBI_GAIT_SUMMARY_H
#define TBI_GAIT_SUMMARY_H

#include "common/cli.h"
#include "tabi/tabi_gait.h"

typedef struct tbi_gait_summary {
  bool active; /* the contact method is gait */
  bool no_memory;
  tabi_gait_def def;
  tabi_gait_event *event;
  int32_t nevent, capacity;
  double heel_start;               /* m, x of the supporting heel */
  double energy_start, energy_gap; /* J: max of what work and dissipation do not explain */
} tbi_gait_summary;

/* Whether the contact method of the scene is gait. */
bool tbi_scene_uses_gait(const tabi_scene *scene);

void tbi_gait_summary_begin(tbi_gait_summary *gait, const tabi_scene *scene, tabi_world *world);
void tbi_gait_summary_step(tbi_gait_summary *gait, tabi_world *world);
void tbi_gait_summary_free(tbi_gait_summary *gait);

/* How events are taken, as the scene says it: located, step. */
const char *tbi_gait_summary_events_name(const tbi_gait_summary *gait);
void tbi_gait_summary_print(const tbi_gait_summary *gait, const tabi_world *world, FILE *out);
json_t *tbi_gait_summary_json(const tbi_gait_summary *gait,
                              const tabi_world *world); /* null: another method */

/* Columns of the CSV file. */
void tbi_gait_csv_names(FILE *file, const tabi_scene *scene);
void tbi_gait_csv_row(FILE *file, const tabi_scene *scene, const tabi_world *world, double *torque);

/* The next change of support after the event at an index, or NULL. */
const tabi_gait_event *tbi_gait_summary_next_step(const tbi_gait_summary *gait, int32_t *index);

/* The figure (gait_plot.c): a row of numbers, and what gnuplot makes of all rows. */
void tbi_gait_plot_row(FILE *script, const tabi_world *world, const tbi_gait_summary *gait,
                       double *torque);
void tbi_gait_plot_commands(FILE *script, const char *path, const tabi_scene *scene,
                            const tabi_world *world, const tbi_gait_summary *gait);

#endif
