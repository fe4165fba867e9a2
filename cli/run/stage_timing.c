/* stage_timing.c - see stage_timing.h. */
#include "run/stage_timing.h"

#include <time.h>

static double now(void *user) {
  (void)user;
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void tbi_stage_timing_begin(tabi_world *world) { tabi_world_set_clock(world, now, NULL); }

static double total(const tabi_stats *stats) {
  double sum = 0;
  for (int i = 0; i < TABI_STAGE_COUNT; ++i)
    sum += stats->seconds[i];
  return sum;
}

static void print_row(const char *name, double seconds, double all, int64_t steps, FILE *out) {
  (void)fprintf(out, "  %-24s %12.3f %12.1f\n", name, 1e6 * seconds / (double)steps,
                100 * seconds / all);
}

void tbi_stage_timing_print(const tabi_world *world, double seconds, FILE *out) {
  tabi_stats stats = tabi_world_stats(world);
  if (stats.steps == 0 || !(seconds > 0)) return;
  (void)fprintf(out, "\n  %-24s %12s %12s\n", "stage of a step", "us per step", "%");
  print_row("control", seconds - total(&stats), seconds, stats.steps, out);
  for (int i = 0; i < TABI_STAGE_COUNT; ++i)
    print_row(tabi_stage_name((tabi_stage)i), stats.seconds[i], seconds, stats.steps, out);
}

json_t *tbi_stage_timing_json(const tabi_world *world, double seconds) {
  tabi_stats stats = tabi_world_stats(world);
  if (stats.steps == 0) return json_null();
  double each = 1e6 / (double)stats.steps;
  json_t *o = json_object();
  int bad = json_object_set_new(o, "control", tbi_json_number(each * (seconds - total(&stats))));
  for (int i = 0; i < TABI_STAGE_COUNT; ++i) {
    bad |= json_object_set_new(o, tabi_stage_name((tabi_stage)i),
                               tbi_json_number(each * stats.seconds[i]));
  }
  if (!bad) return o;
  json_decref(o);
  return NULL;
}
