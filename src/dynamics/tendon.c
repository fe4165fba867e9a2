/* tendon.c - see tendon.h.
 *
 * A straight piece from x_a to x_b has the length l = |x_b - x_a| and, with e its direction, the
 * rate e . (x_b' - x_a').  Its second derivative has what the ends accelerate along e, and the
 * square of their relative velocity across e, divided by l. */
#include "dynamics/tendon.h"

#include "base/assertion.h"

#include <string.h>

#define NO_LENGTH 1e-12 /* m: a piece without a direction */

/* One end of a straight piece. */
typedef struct end {
  int32_t body;
  v3 arm; /* from the origin of its tree, world axes */
  v3 x;   /* m, world */
} end;

static end end_of(const tabi_dynamics *d, const tabi_tendon_point *point) {
  end e = {.body = TABI_WORLD, .x = v3_load(point->pos)};
  if (point->link != TABI_WORLD) {
    tbi_frame frame = tbi_link_frame(d, point->link);
    e.x = v3_add(frame.pos, m3_mulv(&frame.rot, e.x));
    e.body = d->model->link_home[point->link].body;
  }
  e.arm = v3_sub(e.x, tbi_tree_origin(d, e.body));
  return e;
}

static int32_t last_dof(const tabi_model *model, int32_t body) {
  return body == TABI_WORLD ? TABI_NONE : model->body[body].v + model->body[body].nv - 1;
}

static void add_arm(const tabi_model *model, int32_t tendon, int32_t dof, double more,
                    double *arm) {
  const int32_t *list = tbi_tendon_dofs(model, tendon);
  int32_t low = 0;
  int32_t high = tbi_tendon_ndof(model, tendon) - 1;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (list[middle] < dof) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  TBI_ASSERT(list[low] == dof);
  arm[low] += more;
}

/* what a velocity moves the end along the direction e */
static double moved_along(const tabi_dynamics *d, int32_t dof, const end *at, v3 e) {
  return v4_dot(sv_at(d->axis[dof], v4_from(at->arm)), v4_from(e));
}

/* the joints between the ends; those above both move the piece as a whole */
static void add_arms(const tabi_dynamics *d, int32_t tendon, const end *a, const end *b, v3 pull,
                     double *arm) {
  const tabi_model *model = d->model;
  int32_t at_a = last_dof(model, a->body);
  int32_t at_b = last_dof(model, b->body);
  while (at_a != at_b) {
    if (at_a > at_b) {
      add_arm(model, tendon, at_a, -moved_along(d, at_a, a, pull), arm);
      at_a = model->dof_parent[at_a];
    } else {
      add_arm(model, tendon, at_b, moved_along(d, at_b, b, pull), arm);
      at_b = model->dof_parent[at_b];
    }
  }
}

double tbi_tendon_measure(const tabi_dynamics *d, int32_t tendon, double *arm) {
  const tabi_model *model = d->model;
  const tabi_tendon_def *def = &model->tendon[tendon];
  double length = 0;
  memset(arm, 0, sizeof *arm * (size_t)tbi_tendon_ndof(model, tendon));
  for (int32_t i = 0; i < def->njoint; ++i) {
    int32_t index = model->joint_body[def->joints[i].joint];
    if (index == TABI_NONE) continue;
    const tbi_body *body = &model->body[index];
    length += def->joints[i].coef * d->q[body->q];
    add_arm(model, tendon, body->v, def->joints[i].coef, arm);
  }
  for (int32_t i = 0; i + 1 < def->npoint; ++i) {
    double share = def->points[i].share;
    if (share == 0) continue;
    end a = end_of(d, &def->points[i]);
    end b = end_of(d, &def->points[i + 1]);
    v3 way = v3_sub(b.x, a.x);
    double distance = v3_norm(way);
    length += share * distance;
    if (distance > NO_LENGTH) add_arms(d, tendon, &a, &b, v3_scale(share / distance, way), arm);
  }
  return length;
}

/* velocity of an end, and its acceleration at zero joint acceleration */
static void motion_of(const tabi_dynamics *d, const end *at, v3 *velocity, v3 *acceleration) {
  v4 arm = v4_from(at->arm);
  sv twist = d->body[at->body].vel;
  *velocity = v4_to(sv_at(twist, arm));
  *acceleration =
      v3_add(v4_to(sv_at(d->acc[at->body], arm)), v3_cross(v4_to(twist.ang), *velocity));
}

double tbi_tendon_drift(const tabi_dynamics *d, int32_t tendon) {
  const tabi_tendon_def *def = &d->model->tendon[tendon];
  double drift = 0;
  for (int32_t i = 0; i + 1 < def->npoint; ++i) {
    if (def->points[i].share == 0) continue;
    end a = end_of(d, &def->points[i]);
    end b = end_of(d, &def->points[i + 1]);
    v3 way = v3_sub(b.x, a.x);
    double distance = v3_norm(way);
    if (!(distance > NO_LENGTH)) continue;
    v3 v[2];
    v3 acc[2];
    motion_of(d, &a, &v[0], &acc[0]);
    motion_of(d, &b, &v[1], &acc[1]);
    v3 e = v3_scale(1 / distance, way);
    v3 across = v3_sub(v[1], v[0]);
    across = v3_axpy(across, -v3_dot(across, e), e);
    drift += def->points[i].share *
             (v3_dot(e, v3_sub(acc[1], acc[0])) + v3_dot(across, across) / distance);
  }
  return drift;
}

double tabi_dynamics_tendon_length(const tabi_dynamics *d, int32_t tendon, double *jacobian) {
  TBI_ASSERT(d && tendon >= 0 && tendon < d->model->ntendon);
  const tabi_model *model = d->model;
  const int32_t *dof = tbi_tendon_dofs(model, tendon);
  int32_t count = tbi_tendon_ndof(model, tendon);
  double length = tbi_tendon_measure(d, tendon, d->rhs);
  if (!jacobian) return length;
  memset(jacobian, 0, sizeof *jacobian * (size_t)model->nv);
  for (int32_t k = 0; k < count; ++k)
    jacobian[dof[k]] = d->rhs[k];
  return length;
}
