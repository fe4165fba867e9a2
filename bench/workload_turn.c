/* workload_turn.c - the workload "turn": what a step costs when other worlds have stepped since.
 *
 * The robot of contact/stand comes to rest; then worlds that share one workspace start there and
 * make one step each, round after round.  With many of them every step begins with a world that has
 * left the caches.  `bytes` is what a world has of its own. */
#include "workload_turn.h"

#include "measure.h"
#include "scene.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>

enum { SETTLE = 1000, ROUNDS = 7, STEPS = 8192, ROW_NAME = 48 };

static const int32_t counts[] = {1, 64, 512, 4096};
enum { NCOUNT = sizeof counts / sizeof *counts };

static void row_name(char name[ROW_NAME], int32_t count) {
  (void)snprintf(name, ROW_NAME, "turn/stand/%d", (int)count);
}

void tbi_bench_turn_list(tbi_bench_visit *visit, void *user) {
  for (int32_t i = 0; i < NCOUNT; ++i) {
    char name[ROW_NAME];
    row_name(name, counts[i]);
    visit(user, name);
  }
}

typedef struct crowd {
  tbi_bench_scene scene;
  tabi_world_def def;
  tabi_world **world;
  void *rest; /* snapshot of one at rest */
  size_t size;
  int32_t count;
} crowd;

static tabi_status settle(crowd *c, tabi_error *err) {
  c->def = tabi_world_def_default(c->scene.model);
  tabi_world *world = tabi_world_create(c->scene.model, &c->def, err);
  if (!world) return err->status;
  tabi_status status = tbi_bench_scene_start(&c->scene, world, err);
  for (int32_t i = 0; i < SETTLE && status == TABI_OK; ++i)
    status = tabi_world_step_or_grow(world, NULL);
  c->size = tabi_world_snapshot_size(world);
  c->rest = malloc(c->size);
  if (c->rest) tabi_world_save(world, c->rest);
  c->def = tabi_world_get_def(world);
  tabi_world_destroy(world);
  if (!c->rest) *err = (tabi_error){.status = TABI_ERR_MEMORY, .message = "out of memory"};
  return c->rest ? status : TABI_ERR_MEMORY;
}

static void leave(crowd *c) {
  for (int32_t i = 0; i < c->count; ++i)
    tabi_world_destroy(c->world[i]);
  tabi_workspace_destroy(c->def.workspace);
  free(c->world);
  c->def.workspace = NULL;
  c->world = NULL;
  c->count = 0;
}

static bool gather(crowd *c, int32_t count, tabi_error *err) {
  c->world = calloc((size_t)count, sizeof(tabi_world *));
  c->def.workspace = tabi_workspace_create(c->scene.model, &c->def, err);
  for (; c->world && c->def.workspace && c->count < count; ++c->count) {
    tabi_world *world = tabi_world_create(c->scene.model, &c->def, err);
    c->world[c->count] = world;
    if (!world) break;
    if (tabi_world_restore(world, c->rest, c->size) != TABI_OK) {
      *err = *tabi_world_error(world);
      ++c->count;
      break;
    }
  }
  return c->count == count && err->status == TABI_OK;
}

/* s, the best round */
static double measure(const crowd *c) {
  double best = HUGE_VAL;
  int32_t rounds = STEPS / c->count;
  for (int32_t n = 0; n < ROUNDS; ++n) {
    double start = tbi_measure_clock();
    for (int32_t r = 0; r < rounds; ++r)
      for (int32_t i = 0; i < c->count; ++i)
        if (tabi_world_step(c->world[i], NULL) != TABI_OK) return (double)NAN;
    best = fmin(best, (tbi_measure_clock() - start) / ((double)rounds * c->count));
  }
  return best;
}

static bool add_row(const tbi_bench_options *options, crowd *c, int32_t count, double *alone,
                    tbi_report *report, tabi_error *err) {
  tbi_row *row = tbi_report_add(report);
  if (!row) return false;
  row_name(row->name, count);
  row->subject = "stand";
  row->function = "turn";
  row->worlds = count;
  row->threads = 1;
  bool ok = gather(c, count, err);
  if (ok) {
    double seconds = measure(c);
    row->us = 1e6 * seconds;
    row->per_second = 1 / seconds;
    row->memory = (double)malloc_usable_size(c->world[0]);
    if (count == 1) *alone = seconds;
    row->ratio = seconds / *alone;
    if (!options->json)
      (void)printf("%-22s %7d %8.3f %8.0f %7.2f\n", row->name, (int)count, row->us, row->memory,
                   row->ratio);
  }
  leave(c);
  return ok;
}

int tbi_bench_turn(const tbi_bench_options *options, tbi_report *report) {
  crowd c = {0};
  tabi_error err = {0};
  char path[4096];
  double alone = (double)NAN;
  bool head = false, ok = true;
  if (options->calls > 0 || options->count || options->nname == 0) return TBI_BENCH_OK;
  for (int32_t i = 0; i < NCOUNT && ok; ++i) {
    char name[ROW_NAME];
    row_name(name, counts[i]);
    if (!tbi_bench_wants(options, name)) continue;
    if (!head) {
      tbi_bench_shipped_robot(path, sizeof path);
      ok = tbi_bench_scene_robot(&c.scene, options->model ? options->model : path, &err) ==
               TABI_OK &&
           settle(&c, &err) == TABI_OK;
      if (ok && !options->json)
        (void)printf("%-22s %7s %8s %8s %7s\n", "workload", "worlds", "us", "bytes", "ratio");
      head = true;
    }
    ok = ok && add_row(options, &c, counts[i], &alone, report, &err);
  }
  free(c.rest);
  if (head) tbi_bench_scene_free(&c.scene);
  return ok ? TBI_BENCH_OK : tbi_bench_fail(&err);
}
