/* place.c - a floating robot put on what is below it.
 *
 * Two convex shapes that are apart by a gap along a direction n stay apart until motion along d has
 * used it up, over gap / (n . d); of all pairs the least such way is safe, and repeated it ends
 * where the first pair touches.  Shapes that overlap must move apart by at least their depth, in
 * whichever direction.  So the robot first rises until it is free, and then descends. */
#include "base/assertion.h"
#include "base/error.h"
#include "doctor/overlap.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR       1e-9 /* m: touches */
#define SLACK      1e-7 /* m of overlap that counts as touching: rounding of the collision room */
#define LEVEL      0.1  /* cosine below which a face is a wall */
#define MAX_PASSES 400
#define MAX_MARGIN 1000.0 /* m below which nothing is looked for */

typedef struct search {
  tbi_posture_pass pass;
  bool *moves; /* [nshape] with the joint */
  double *q;
  double start[3];
  int32_t at; /* in q, of the joint's position */
  v3 up;
} search;

/* A shape moves with the joint when its body hangs on that of the joint. */
static bool hangs_on(const tabi_model *model, int32_t body, int32_t root) {
  while (body != TABI_WORLD && body != root)
    body = model->body[body].parent;
  return body == root;
}

static void set_margins(search *s, double wide) {
  const tabi_model *model = s->pass.model;
  double *margin = s->pass.numbers + model->nq + model->nv;
  for (int32_t i = 0; i < model->nshape; ++i)
    margin[i] = s->moves[i] ? wide : 0;
}

static tabi_status look(search *s, double rise, tabi_error *err) {
  const double up[3] = {s->up.x, s->up.y, s->up.z};
  for (int k = 0; k < 3; ++k)
    s->q[s->at + k] = s->start[k] + rise * up[k];
  return tbi_posture_pass_run(&s->pass, s->q, err);
}

/* cos: of the angle between up and the way from the other shape to the robot */
static bool is_outer(const search *s, const tbi_candidate *c, double *cos) {
  bool a = s->moves[c->shape_a];
  if (a == s->moves[c->shape_b]) return false;
  *cos = v3_dot(c->normal, s->up) * (a ? -1 : 1);
  return true;
}

/* How far to rise out of all that overlaps at least. */
static double way_up(const search *s) {
  double way = 0;
  for (int32_t i = 0; i < s->pass.count; ++i) {
    const tbi_candidate *c = &s->pass.candidate[i];
    double cos = 0;
    if (c->gap >= -SLACK || !is_outer(s, c, &cos)) continue;
    way = fmax(way, cos > LEVEL ? -c->gap / cos : -c->gap);
  }
  return way;
}

/* How far the robot can descend at least; HUGE_VAL: nothing is below. */
static double way_down(const search *s) {
  double way = HUGE_VAL;
  for (int32_t i = 0; i < s->pass.count; ++i) {
    const tbi_candidate *c = &s->pass.candidate[i];
    double cos = 0;
    if (is_outer(s, c, &cos) && cos > 0) way = fmin(way, fmax(c->gap, 0) / cos);
  }
  return way;
}

/* What a pass did not see is farther away than its margin. */
static tabi_status descend(search *s, double *rise, tabi_error *err) {
  double wide = 0.1;
  for (int i = 0; i < MAX_PASSES; ++i) {
    set_margins(s, wide);
    tabi_status status = look(s, *rise, err);
    double way = status == TABI_OK ? way_down(s) : 0;
    if (way <= NEAR) return status;
    if (way > wide && wide >= MAX_MARGIN) {
      *rise = -HUGE_VAL;
      return TABI_OK;
    }
    *rise -= fmin(way, wide);
    if (way > wide) wide *= 10;
  }
  return TABI_OK;
}

static tabi_status ascend(search *s, double *rise, tabi_error *err) {
  set_margins(s, 0);
  for (int i = 0; i < MAX_PASSES; ++i) {
    tabi_status status = look(s, *rise, err);
    double way = status == TABI_OK ? way_up(s) : 0;
    if (way <= 0) return status;
    *rise += way;
  }
  return TABI_OK;
}

static tabi_status begin(search *s, const double *q, int32_t joint, tabi_error *err) {
  const tabi_model *model = s->pass.model;
  tabi_status status = tbi_posture_pass_make(&s->pass, err);
  if (status != TABI_OK) return status;
  s->at = tabi_model_joint_q(model, joint).first;
  memcpy(s->q, q, (size_t)model->nq * sizeof *q);
  memcpy(s->start, q + s->at, sizeof s->start);
  for (int32_t i = 0; i < model->nshape; ++i) {
    int32_t link = model->shape[i].link;
    int32_t body = link == TABI_WORLD ? TABI_WORLD : tabi_model_link_body(model, link);
    s->moves[i] = hangs_on(model, body, model->joint_body[joint]);
  }
  return TABI_OK;
}

static tabi_status find(search *s, const double *q, int32_t joint, double *rise, tabi_error *err) {
  tabi_status status = begin(s, q, joint, err);
  *rise = 0;
  if (status == TABI_OK) status = ascend(s, rise, err);
  if (status == TABI_OK) status = descend(s, rise, err);
  // ground of triangles has faces that a pass does not see for others
  if (status == TABI_OK && isfinite(*rise)) status = ascend(s, rise, err);
  tbi_posture_pass_free(&s->pass);
  return status;
}

tabi_status tabi_model_find_rise(const tabi_model *model, const double *q, int32_t joint,
                                 const double up[3], double *rise, tabi_error *err) {
  TBI_ASSERT(model && q && up && rise && joint >= 0 && joint < tabi_model_njoint(model));
  TBI_ASSERT(tabi_model_joint(model, joint).type == TABI_JOINT_FREE);
  bool *moves = calloc((size_t)model->nshape + 1, sizeof *moves);
  double *at = calloc((size_t)model->nq + 1, sizeof *at);
  search s = {.pass = {.model = model}, .moves = moves, .q = at, .up = v3_load(up)};
  tabi_status status = moves && at ? find(&s, q, joint, rise, err) : tbi_error_memory(err);
  free(moves);
  free(at);
  return status;
}
