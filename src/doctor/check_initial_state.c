/* check_initial_state.c - the initial posture of a model: connections that are open, and links
 * that are inside each other. */
#include "base/assertion.h"
#include "doctor/doctor.h"
#include "doctor/overlap.h"
#include "dynamics/connection_error.h"

#include <stdio.h>
#include <stdlib.h>

#define DEEPEST_TOLD  10   /* pairs of links; the rest are counted */
#define ALLOWED_DEPTH 1e-3 /* m */

/* "link 'arm'", or for what stands in the world its shape */
static void name_owner(const tabi_model *model, const tabi_shape_def *shape, char *text,
                       size_t size) {
  if (shape->link != TABI_WORLD) {
    (void)snprintf(text, size, "link '%.100s'",
                   tbi_doctor_shown(tabi_model_link(model, shape->link).name));
  } else {
    (void)snprintf(text, size, "the world's shape '%.100s'", tbi_doctor_shown(shape->name));
  }
}

/* the tree of a shape's body, or TABI_NONE in the world */
static int32_t tree_of(const tabi_model *model, const tabi_shape_def *shape) {
  int32_t body = shape->link == TABI_WORLD ? TABI_WORLD : tabi_model_link_body(model, shape->link);
  return body == TABI_WORLD ? TABI_NONE : model->body[body].tree;
}

/* Links of one robot are often drawn inside each other: scenes then leave the pair out; true. */
static bool tell_overlap(tbi_doctor *d, const tbi_overlap *overlap) {
  char first[128];
  char second[128];
  tabi_shape_def a = tabi_model_shape(d->model, overlap->shape_a);
  tabi_shape_def b = tabi_model_shape(d->model, overlap->shape_b);
  // the world is not to blame
  const tabi_shape_def *blamed = a.link != TABI_WORLD ? &a : &b;
  const tabi_shape_def *other = a.link != TABI_WORLD ? &b : &a;
  name_owner(d->model, blamed, first, sizeof first);
  name_owner(d->model, other, second, sizeof second);
  int32_t tree = tree_of(d->model, &a);
  bool by_design = tree != TABI_NONE && tree == tree_of(d->model, &b);
  tbi_doctor_find(d, by_design ? TBI_ADVICE : TBI_PROBLEM,
                  tabi_model_link(d->model, blamed->link).place,
                  "%s: is %.3g m inside %s in the initial state; %s", first, overlap->depth, second,
                  by_design ? "a scene leaves the pair out of self-collision"
                            : "move them apart, make the shapes smaller, or exclude the pair");
  return by_design;
}

static void tell_failure(tbi_doctor *d, const char *what, const tabi_error *err) {
  if (err->status == TABI_ERR_MODEL) {
    tbi_doctor_find(d, TBI_PROBLEM, (tabi_place){err->file, err->line}, "%s", err->message);
  } else {
    tbi_doctor_find(d, TBI_PROBLEM, (tabi_place){NULL, 0}, "%s could not be checked: %s", what,
                    err->message);
  }
}

/* those that were not told one by one */
static void tell_rest(tbi_doctor *d, tabi_status severity, int32_t count, const char *pairs) {
  int rest = (int)(count - DEEPEST_TOLD);
  if (rest <= 0) return;
  const tabi_place place = {tabi_model_link(d->model, 0).place.file, 1};
  tbi_doctor_find(d, severity, place,
                  "%d more pair%s of %s %s inside each other in the initial state", rest,
                  rest == 1 ? "" : "s", pairs, rest == 1 ? "is" : "are");
}

void tbi_doctor_check_overlaps(tbi_doctor *d) {
  tbi_overlap overlap[DEEPEST_TOLD];
  int32_t count = 0;
  tabi_error err = {0};
  tabi_status status = tbi_overlaps_find(d->model, d->model->start, ALLOWED_DEPTH, overlap,
                                         DEEPEST_TOLD, &count, &err);
  if (status != TABI_OK) tell_failure(d, "overlaps", &err);
  bool by_design = true;
  for (int32_t i = 0; i < count && i < DEEPEST_TOLD; ++i)
    by_design &= tell_overlap(d, &overlap[i]);
  tell_rest(d, by_design ? TBI_ADVICE : TBI_PROBLEM, count, "links");
}

static void tell_joined(tbi_doctor *d, const tbi_overlap *overlap) {
  char first[128];
  char second[128];
  tabi_shape_def a = tabi_model_shape(d->model, overlap->shape_a);
  tabi_shape_def b = tabi_model_shape(d->model, overlap->shape_b);
  tabi_connection_def c = tabi_model_connection(d->model, overlap->connection);
  name_owner(d->model, &a, first, sizeof first);
  name_owner(d->model, &b, second, sizeof second);
  tbi_doctor_find(d, c.collide ? TBI_PROBLEM : TBI_ADVICE, c.place,
                  "connection '%.100s': %s and %s overlap by %.3g m in the initial state; %s",
                  tbi_doctor_shown(c.name), first, second, overlap->depth,
                  c.collide
                      ? "contact works against the connection: leave collide out, or make the "
                        "shapes smaller"
                      : "they do not collide, because it joins them");
}

int32_t tabi_model_check_joined(const tabi_model *model, const double *q, tabi_warning_fn *report,
                                void *user) {
  TBI_ASSERT(model && q);
  tbi_doctor d = {.model = model, .report = report, .user = user};
  if (tabi_model_nconnection(model) == 0) return 0;
  tbi_overlap overlap[DEEPEST_TOLD];
  int32_t count = 0;
  tabi_error err = {0};
  tabi_status status =
      tbi_overlaps_find_joined(model, q, ALLOWED_DEPTH, overlap, DEEPEST_TOLD, &count, &err);
  if (status != TABI_OK) tell_failure(&d, "overlaps", &err);
  for (int32_t i = 0; i < count && i < DEEPEST_TOLD; ++i)
    tell_joined(&d, &overlap[i]);
  tell_rest(&d, TBI_ADVICE, count, "joined links");
  return d.count;
}

static void tell_error(tbi_doctor *d, const tabi_dynamics *dynamics, int32_t i) {
  tabi_connection_def c = tabi_model_connection(d->model, i);
  tbi_connection_error e = tbi_connection_error_of(dynamics, &c);
  if (e.gap > TBI_CONNECTION_GAP) {
    tbi_doctor_find(d, TBI_PROBLEM, c.place,
                    "connection '%s': is %.3g m open in the initial state; move its points, or "
                    "change the initial posture",
                    tbi_doctor_shown(c.name), e.gap);
  } else if (e.turn > TBI_CONNECTION_TURN) {
    tbi_doctor_find(d, TBI_PROBLEM, c.place,
                    "connection '%s': is twisted by %.3g rad in the initial state; turn its "
                    "frames, or change the initial posture",
                    tbi_doctor_shown(c.name), e.turn);
  }
}

void tbi_doctor_check_connections(tbi_doctor *d) {
  if (tabi_model_nconnection(d->model) == 0) return;
  tabi_error err = {.status = TABI_ERR_MEMORY, .message = "out of memory"};
  tabi_dynamics *dynamics = tabi_dynamics_create(d->model, &err);
  double *q =
      calloc((size_t)tabi_model_nq(d->model) + (size_t)tabi_model_nv(d->model) + 1, sizeof *q);
  if (dynamics && q) {
    tabi_model_initial_q(d->model, q);
    tabi_dynamics_set_state(dynamics, q, q + tabi_model_nq(d->model));
    for (int32_t i = 0; i < tabi_model_nconnection(d->model); ++i)
      tell_error(d, dynamics, i);
    d->count += tabi_model_check_joined(d->model, q, d->report, d->user);
  } else {
    tell_failure(d, "connections", &err);
  }
  free(q);
  tabi_dynamics_destroy(dynamics);
}
