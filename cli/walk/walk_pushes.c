/* walk_pushes.c - see walk_pushes.h. */
#include "walk/walk_pushes.h"

#include "common/input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE 0.017453292519943295
#define STEPS  10 /* step times, after which a robot that is up has survived */

/* -- reading */

bool tbi_walk_push_read(const char *text, tbi_walk_push *push) {
  double *to[3] = {&push->impulse, &push->angle, &push->start};
  const char *at = text;
  for (int i = 0; i < 3; ++i) {
    char *end = NULL;
    *to[i] = strtod(at, &end);
    if (end == at || !isfinite(*to[i]) || *end != (i < 2 ? ',' : '\0')) return false;
    at = end + 1;
  }
  push->angle *= DEGREE;
  return push->start >= 0;
}

static bool add(tbi_walk_pushes *pushes, const tbi_walk_push *push) {
  if (pushes->count % 64 == 0) {
    size_t size = sizeof *push * ((size_t)pushes->count + 64);
    tbi_walk_push *grown = realloc(pushes->push, size);
    if (!grown) return false;
    pushes->push = grown;
  }
  pushes->push[pushes->count++] = *push;
  return true;
}

static bool read_lines(tbi_walk_pushes *pushes, FILE *file, const char *path, tabi_error *err) {
  char line[256];
  while (fgets(line, sizeof line, file)) {
    tbi_walk_push push = {0};
    tabi_place place = {path, pushes->count + 1};
    line[strcspn(line, "\r\n")] = '\0';
    if (!tbi_walk_push_read(line, &push)) {
      tbi_fail(err, TABI_ERR_PARSE, place,
               "'%.40s' is no push; give N s, degrees from the front and s, as 10,90,2", line);
      return false;
    }
    if (!add(pushes, &push)) {
      tbi_fail(err, TABI_ERR_MEMORY, place, "out of memory");
      return false;
    }
  }
  return true;
}

bool tbi_walk_pushes_load(tbi_walk_pushes *pushes, const char *path, int *code) {
  tabi_error err = {0};
  FILE *file = tbi_input_open(path, &err);
  bool good = file && read_lines(pushes, file, path, &err);
  if (file) (void)fclose(file);
  if (!good) *code = tbi_print_error(&err);
  return good;
}

/* -- running */

typedef struct pushed {
  tabi_scene *scene;
  tabi_world *world;
  tabi_stepper *stepper;
  const tabi_biped *biped;
  double at[3];
  double front; /* rad */
  char *snapshot, *memory;
  size_t size;
} pushed;

/* A quarter of the CoM's height over the waist. */
void tbi_walk_chest(const tabi_biped *biped, double com_height, double at[3]) {
  const double *q = biped->in_waist;
  double h = 0.25 * com_height;
  /* the third axis of the quaternion */
  at[0] = h * 2 * (q[1] * q[3] + q[0] * q[2]);
  at[1] = h * 2 * (q[2] * q[3] - q[0] * q[1]);
  at[2] = h * (1 - 2 * (q[1] * q[1] + q[2] * q[2]));
}

static void apply(const pushed *p, const tbi_walk_push *push) {
  double pos[3];
  double quat[4];
  tabi_dynamics_link_pose(tabi_world_dynamics(p->world), p->biped->waist, pos, quat);
  double angle = push->angle + p->front;
  double size = push->impulse / TBI_PUSH_TIME;
  const double force[3] = {size * cos(angle), size * sin(angle), 0};
  const double torque[3] = {0, 0, 0};
  /* v + 2 q x (q x v + w v) */
  const double *u = quat + 1;
  const double *v = p->at;
  const double t[3] = {u[1] * v[2] - u[2] * v[1] + quat[0] * v[0],
                       u[2] * v[0] - u[0] * v[2] + quat[0] * v[1],
                       u[0] * v[1] - u[1] * v[0] + quat[0] * v[2]};
  const double point[3] = {pos[0] + v[0] + 2 * (u[1] * t[2] - u[2] * t[1]),
                           pos[1] + v[1] + 2 * (u[2] * t[0] - u[0] * t[2]),
                           pos[2] + v[2] + 2 * (u[0] * t[1] - u[1] * t[0])};
  tabi_world_apply(p->world, p->biped->waist, force, torque, point);
}

/* Whether it is still up. */
static bool step(const pushed *p) {
  tabi_scene_control(p->scene, p->world);
  return tabi_world_step_or_grow(p->world, NULL) == TABI_OK &&
         tabi_stepper_get_state(p->stepper).phase != TABI_STEPPER_FALLEN;
}

static bool survives(const pushed *p, const tbi_walk_push *push) {
  double h = tabi_scene_world_def(p->scene).timestep;
  int64_t pushes = llround(TBI_PUSH_TIME / h);
  int64_t steps = pushes + llround(STEPS * tabi_stepper_get_limits(p->stepper).step_time / h);
  for (int64_t i = 0; i < steps; ++i) {
    if (i < pushes) apply(p, push);
    if (!step(p)) return false;
  }
  return true;
}

static bool save(pushed *p) {
  size_t size = tabi_world_snapshot_size(p->world);
  if (size > p->size) {
    char *grown = realloc(p->snapshot, size);
    if (!grown) return false;
    p->snapshot = grown;
  }
  p->size = size;
  tabi_world_save(p->world, p->snapshot);
  tabi_stepper_save(p->stepper, p->memory);
  return true;
}

static int by_start(const void *a, const void *b) {
  const tbi_walk_push *const *x = a;
  const tbi_walk_push *const *y = b;
  if ((*x)->start != (*y)->start) return (*x)->start < (*y)->start ? -1 : 1;
  return (*x > *y) - (*x < *y);
}

static int run_all(pushed *p, tbi_walk_push **sorted, int32_t count) {
  double h = tabi_scene_world_def(p->scene).timestep;
  bool up = true;
  for (int32_t i = 0; i < count; ++i) {
    int64_t start = llround(sorted[i]->start / h);
    while (up && tabi_world_steps(p->world) < start)
      up = step(p);
    if (!up) continue;
    if (!save(p)) return tbi_out_of_memory();
    sorted[i]->survived = survives(p, sorted[i]);
    if (tabi_world_restore(p->world, p->snapshot, p->size) != TABI_OK) return TBI_EXIT_INTERNAL;
    tabi_stepper_restore(p->stepper, p->memory);
  }
  return TBI_EXIT_OK;
}

int tbi_walk_pushes_run(const tbi_walk_pushes *pushes, tabi_scene *scene, const tabi_biped *biped) {
  tabi_error err = {0};
  tabi_world_def def = tabi_scene_world_def(scene);
  pushed p = {.scene = scene, .biped = biped, .stepper = tabi_scene_stepper(scene, 0)};
  p.front = atan2(biped->front[1], biped->front[0]);
  tbi_walk_chest(biped, tabi_stepper_get_limits(p.stepper).height, p.at);
  p.memory = malloc(tabi_stepper_snapshot_size(p.stepper));
  tbi_walk_push **sorted = calloc((size_t)pushes->count + 1, sizeof(tbi_walk_push *));
  p.world = tabi_world_create(tabi_scene_model(scene), &def, &err);
  int code = TBI_EXIT_OK;
  if (!p.world || tabi_scene_reset(scene, p.world, &err) != TABI_OK) {
    code = tbi_print_error(&err);
  } else if (!p.memory || !sorted) {
    code = tbi_out_of_memory();
  } else {
    for (int32_t i = 0; i < pushes->count; ++i)
      sorted[i] = &pushes->push[i];
    qsort(sorted, (size_t)pushes->count, sizeof(tbi_walk_push *), by_start);
    code = run_all(&p, sorted, pushes->count);
  }
  free(sorted);
  free(p.memory);
  free(p.snapshot);
  tabi_world_destroy(p.world);
  return code;
}
