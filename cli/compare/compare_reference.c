/* compare_reference.c - runs compared with the first one, coordinate by coordinate.
 *
 * Samples of two runs are at multiples of their spacings.  Two of them are compared when they are
 * nearer in time than half the smaller spacing, so that each is the nearest of the other, and
 * nothing is interpolated. */
#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void find_coordinates(tbi_reference *r, const tabi_model *model) {
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    tabi_range v = tabi_model_joint_v(model, j);
    tabi_joint_type type = tabi_model_joint(model, j).type;
    for (int32_t i = 0; i < v.count; ++i) {
      bool moves = type == TABI_JOINT_PRISMATIC || (type == TABI_JOINT_FREE && i < 3) ||
                   (type == TABI_JOINT_PLANAR && i < 2);
      r->coordinate[v.first + i] = (tbi_coordinate){.joint = j, .dof = i, .turns = !moves};
    }
  }
}

bool tbi_reference_begin(tbi_reference *r, const tabi_scene *scene, double spacing) {
  const tabi_model *model = tabi_scene_model(scene);
  *r = (tbi_reference){.scene = scene,
                       .spacing = spacing,
                       .nq = tabi_model_nq(model),
                       .nv = tabi_model_nv(model),
                       .nrobot = tabi_scene_nrobot(scene)};
  r->coordinate = calloc((size_t)r->nv + 1, sizeof *r->coordinate);
  r->off = calloc((size_t)r->nv + 1, sizeof *r->off);
  if (!r->coordinate || !r->off) return false;
  find_coordinates(r, model);
  return true;
}

void tbi_reference_free(tbi_reference *r) {
  free(r->coordinate);
  free(r->off);
  free(r->time);
  free(r->q);
  free(r->zmp);
  *r = (tbi_reference){0};
}

/* -- recording */

static bool grow(double **array, int64_t count, int32_t width) {
  double *more = realloc(*array, ((size_t)count * (size_t)width + 1) * sizeof *more);
  if (more) *array = more;
  return more != NULL;
}

bool tbi_reference_add(tbi_reference *r, const tabi_sample *sample) {
  if (r->count == r->capacity) {
    int64_t capacity = r->capacity > 0 ? 2 * r->capacity : 1024;
    if (!grow(&r->time, capacity, 1) || !grow(&r->q, capacity, r->nq) ||
        !grow(&r->zmp, capacity, 2 * r->nrobot)) {
      return false;
    }
    r->capacity = capacity;
  }
  r->time[r->count] = sample->time;
  if (r->nq > 0) memcpy(r->q + r->count * r->nq, sample->q, (size_t)r->nq * sizeof *r->q);
  double *zmp = r->zmp + r->count * r->nrobot * 2;
  for (int32_t i = 0; i < r->nrobot; ++i) {
    const tabi_balance *b = &sample->balance[i];
    for (int k = 0; k < 2; ++k)
      *zmp++ = b->force[2] > 0 ? b->zmp[k] : (double)NAN;
  }
  ++r->count;
  return true;
}

/* -- comparing */

/* The turn from one orientation to another, as a vector in the axes of the first. */
static void turn_between(const double a[4], const double b[4], double turn[3]) {
  // in pairs, so that equal ones give zero to the last bit
  double w = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  double x = (a[0] * b[1] - a[1] * b[0]) + (a[3] * b[2] - a[2] * b[3]);
  double y = (a[0] * b[2] - a[2] * b[0]) + (a[1] * b[3] - a[3] * b[1]);
  double z = (a[0] * b[3] - a[3] * b[0]) + (a[2] * b[1] - a[1] * b[2]);
  double sine = sqrt(x * x + y * y + z * z);
  double factor = sine > 0 ? 2 * atan2(sine, fabs(w)) / sine : 0;
  if (w < 0) factor = -factor;
  turn[0] = factor * x;
  turn[1] = factor * y;
  turn[2] = factor * z;
}

/* off[nv] of q from the reference's. */
static void subtract(tbi_reference *r, const double *q, const double *ref) {
  const tabi_model *model = tabi_scene_model(r->scene);
  for (int32_t i = 0; i < r->nv;) {
    int32_t joint = r->coordinate[i].joint;
    tabi_range qs = tabi_model_joint_q(model, joint);
    int32_t nv = tabi_model_joint_v(model, joint).count;
    int32_t line = qs.count == nv ? nv : nv - 3; /* the rest is a quaternion */
    for (int32_t k = 0; k < line; ++k)
      r->off[i + k] = q[qs.first + k] - ref[qs.first + k];
    if (line < nv) turn_between(ref + qs.first + line, q + qs.first + line, r->off + i + line);
    i += nv;
  }
}

static void note(const tbi_reference *r, tbi_deviation *d, double time) {
  int32_t worst = 0;
  for (int32_t i = 0; i < r->nv; ++i) {
    double off = fabs(r->off[i]);
    double *max = r->coordinate[i].turns ? &d->angle : &d->position;
    *max = fmax(*max, off);
    if (off > fabs(r->off[worst])) worst = i;
  }
  if (d->divergence.diverged || r->nv == 0 || !(fabs(r->off[worst]) > TBI_DIVERGENCE)) return;
  d->divergence =
      (tbi_divergence){.diverged = true, .time = time, .dof = worst, .off = fabs(r->off[worst])};
}

static void note_zmp(const tbi_reference *r, tbi_deviation *d, const tabi_sample *sample,
                     const double *zmp) {
  for (int32_t i = 0; i < r->nrobot; ++i, zmp += 2) {
    const tabi_balance *b = &sample->balance[i];
    double x = b->zmp[0] - zmp[0];
    double y = b->zmp[1] - zmp[1];
    if (!(b->force[2] > 0) || isnan(x)) continue;
    d->zmp_square += x * x + y * y;
    ++d->zmp_count;
  }
}

void tbi_reference_compare(tbi_reference *r, tbi_deviation *d, const tabi_sample *sample) {
  double half = fmin(r->spacing, d->spacing) / 2;
  while (d->at + 1 < r->count &&
         fabs(r->time[d->at + 1] - sample->time) <= fabs(r->time[d->at] - sample->time)) {
    ++d->at;
  }
  // one in the middle between two belongs to none
  if (r->count == 0 || fabs(r->time[d->at] - sample->time) > half * (1 - 1e-6)) return;
  subtract(r, sample->q, r->q + d->at * r->nq);
  note(r, d, sample->time);
  note_zmp(r, d, sample, r->zmp + d->at * r->nrobot * 2);
  d->until = sample->time;
  ++d->pairs;
}

/* -- joints */

static bool same_name(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static const char *shown(const char *name) { return name ? name : "(unnamed)"; }

/* Names what one model has and the other has not, or as another type; returns how many. */
static int list_missing(const tabi_model *model, const tabi_model *other, char *text, size_t size) {
  enum { MOST = 4 };
  int count = 0;
  size_t used = 0;
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_joint_def joint = tabi_model_joint(model, i);
    int32_t found = joint.name ? tabi_model_find_joint(other, joint.name) : TABI_NONE;
    if (found != TABI_NONE && tabi_model_joint(other, found).type == joint.type) continue;
    if (!joint.name && i < tabi_model_njoint(other) && !tabi_model_joint(other, i).name) continue;
    if (++count > MOST) continue;
    int n = snprintf(text + used, size - used, "%s'%s'%s", count > 1 ? ", " : "", shown(joint.name),
                     count == MOST ? ", ..." : "");
    if (n > 0 && (size_t)n < size - used) used += (size_t)n;
  }
  return count;
}

static bool same_joints(const tabi_model *a, const tabi_model *b) {
  if (tabi_model_njoint(a) != tabi_model_njoint(b) || tabi_model_nq(a) != tabi_model_nq(b))
    return false;
  for (int32_t i = 0; i < tabi_model_njoint(a); ++i) {
    tabi_joint_def one = tabi_model_joint(a, i);
    tabi_joint_def other = tabi_model_joint(b, i);
    if (one.type != other.type || !same_name(one.name, other.name)) return false;
  }
  return true;
}

bool tbi_reference_fits(const tbi_reference *r, const tabi_scene *scene, char *text, size_t size) {
  const tabi_model *model = tabi_scene_model(scene);
  const tabi_model *first = tabi_scene_model(r->scene);
  if (same_joints(model, first) && tabi_scene_nrobot(scene) == r->nrobot) return true;
  char more[160] = "";
  char less[160] = "";
  bool has = list_missing(model, first, more, sizeof more) > 0;
  bool lacks = list_missing(first, model, less, sizeof less) > 0;
  (void)snprintf(text, size, "%s%s%s%s%s%s", has ? "it has " : "", more,
                 has && lacks ? " and " : "", lacks ? "lacks " : "", less,
                 has || lacks ? "" : "they stand in another order");
  return false;
}

void tbi_reference_signal(const tbi_reference *r, int32_t dof, char *text, size_t size) {
  static const char *const turns[] = {".qx", ".qy", ".qz"};
  const tabi_model *model = tabi_scene_model(r->scene);
  const tbi_coordinate *coordinate = &r->coordinate[dof];
  tabi_joint_def joint = tabi_model_joint(model, coordinate->joint);
  if (joint.type != TABI_JOINT_FREE) {
    (void)snprintf(text, size, "%s.q%s", shown(joint.name),
                   tbi_dof_suffix(joint.type, coordinate->dof));
    return;
  }
  (void)snprintf(text, size, "%s%s", shown(tabi_model_link(model, joint.child).name),
                 coordinate->turns ? turns[coordinate->dof - 3]
                                   : tbi_dof_suffix(joint.type, coordinate->dof));
}
