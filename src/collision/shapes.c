/* shapes.c - where the shapes are, and boxes around them. */
#include "collision/workspace.h"

static void set_half(const tabi_shape_def *def, double half[3]) {
  switch (def->type) {
  case TABI_SHAPE_SPHERE:
    half[0] = half[1] = half[2] = def->size[0];
    break;
  case TABI_SHAPE_CAPSULE:
  case TABI_SHAPE_CYLINDER:
    half[0] = half[1] = def->size[0];
    half[2] = 0.5 * def->size[1];
    break;
  case TABI_SHAPE_BOX:
    for (int i = 0; i < 3; ++i)
      half[i] = 0.5 * def->size[i];
    break;
  default:
    half[0] = half[1] = half[2] = 0;
  }
}

static void bound_mesh(const tabi_mesh_def *mesh, v3 *middle, double half[3]) {
  double centre[3] = {0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    double low = INFINITY;
    double high = -INFINITY;
    for (int32_t k = 0; k < mesh->nvertex; ++k) {
      low = fmin(low, mesh->vertices[3 * k + i]);
      high = fmax(high, mesh->vertices[3 * k + i]);
    }
    if (low > high) low = high = 0;
    centre[i] = 0.5 * (low + high);
    half[i] = 0.5 * (high - low);
  }
  *middle = v3_load(centre);
}

/* Axes and origin of a solid.  By value from the body to the bounds: read back from where they were
 * stored, other halves of the vectors would wait for the store. */
typedef struct pose {
  v3 x, y, z, pos;
} pose;

static v3 turn(const pose *p, double x, double y, double z) {
  return v3_axpy(v3_axpy(v3_scale(x, p->x), y, p->y), z, p->z);
}

/* a frame in the axes of a body to one in the world */
static pose place(const pose *body, const tbi_frame *frame) {
  const m3 *r = &frame->rot;
  return (pose){turn(body, r->m[0][0], r->m[1][0], r->m[2][0]),
                turn(body, r->m[0][1], r->m[1][1], r->m[2][1]),
                turn(body, r->m[0][2], r->m[1][2], r->m[2][2]),
                v3_add(body->pos, turn(body, frame->pos.x, frame->pos.y, frame->pos.z))};
}

static void set_pose(tbi_solid *solid, const pose *p) {
  solid->axis[0] = p->x;
  solid->axis[1] = p->y;
  solid->axis[2] = p->z;
  solid->pos = p->pos;
}

static pose get_pose(const tbi_solid *solid) {
  return (pose){solid->axis[0], solid->axis[1], solid->axis[2], solid->pos};
}

/* the home of an item that stands is the world, so its solid is placed for good */
void tbi_shapes_make(tbi_collision *c) {
  const tabi_model *model = c->model;
  const pose world = {
      {1, 0, 0},
      {0, 1, 0},
      {0, 0, 1},
      {0, 0, 0}
  };
  for (int32_t item = 0; item < c->nitem; ++item) {
    tbi_fitting *fitting = &c->fitting[item];
    tbi_solid *solid = &c->solid[item];
    const tabi_shape_def *def = &model->shape[fitting->shape];
    tbi_frame in_link = tbi_frame_load(def->pos, def->quat);
    bool on_link = def->link != TABI_WORLD;
    fitting->body = on_link ? model->link_home[def->link].body : TABI_WORLD;
    fitting->frame =
        on_link ? tbi_frame_mul(&model->link_home[def->link].frame, &in_link) : in_link;

    solid->type = def->type;
    set_half(def, solid->half);
    for (int i = 0; i < 3; ++i)
      fitting->half[i] = solid->half[i];
    if (def->type == TABI_SHAPE_CAPSULE) fitting->half[2] += solid->half[0];
    if (def->type == TABI_SHAPE_MESH) solid->mesh = &model->mesh[def->mesh];
    if (def->type == TABI_SHAPE_MESH || solid->ground) {
      bound_mesh(&model->mesh[def->mesh], &fitting->middle, fitting->half);
    }
    pose standing = place(&world, &fitting->frame);
    set_pose(solid, &standing);
  }
}

/* half the extent of a solid along each axis of the world */
static v3 extent(const pose *p, const tbi_solid *solid, const double half[3]) {
  double r = solid->half[0];
  double h = solid->half[2];
  if (solid->type == TABI_SHAPE_SPHERE) return (v3){r, r, r};
  if (solid->type == TABI_SHAPE_CAPSULE) {
    return (v3){r + h * fabs(p->z.x), r + h * fabs(p->z.y), r + h * fabs(p->z.z)};
  }
  return (v3){half[0] * fabs(p->x.x) + half[1] * fabs(p->y.x) + half[2] * fabs(p->z.x),
              half[0] * fabs(p->x.y) + half[1] * fabs(p->y.y) + half[2] * fabs(p->z.y),
              half[0] * fabs(p->x.z) + half[1] * fabs(p->y.z) + half[2] * fabs(p->z.z)};
}

/* the ground goes on without end against its z axis */
static void bound_below(v3 up, tbi_bounds *bounds) {
  double along[3];
  v3_store(up, along);
  for (int i = 0; i < 3; ++i) {
    if (along[i] > 1e-12) bounds->low[i] = -INFINITY;
    if (along[i] < -1e-12) bounds->high[i] = INFINITY;
  }
}

static void bound(const pose *p, const tbi_solid *solid, const tbi_fitting *fitting, double reach,
                  tbi_bounds *bounds) {
  v3 size = extent(p, solid, fitting->half);
  v3 middle = p->pos;
  if (solid->type == TABI_SHAPE_MESH || solid->ground) {
    v3 off = fitting->middle;
    middle = v3_add(middle, turn(p, off.x, off.y, off.z));
  }
  v3 all = {size.x + reach, size.y + reach, size.z + reach};
  v3_store(v3_sub(middle, all), bounds->low);
  v3_store(v3_add(middle, all), bounds->high);
  if (solid->type == TABI_SHAPE_HEIGHTFIELD) bound_below(p->z, bounds);
}

void tbi_shapes_place(tbi_collision *c, const tabi_dynamics *d, const double *reach) {
  const tabi_model *model = c->model;
  for (int32_t item = 0; item < c->nitem; ++item) {
    const tbi_fitting *fitting = &c->fitting[item];
    tbi_solid *solid = &c->solid[item];
    pose p;
    if (fitting->body == TABI_WORLD) {
      p = get_pose(solid);
    } else {
      const tbi_body_state *state = &d->body[fitting->body];
      v3 origin = d->origin[model->body[fitting->body].tree];
      pose body = {v4_to(state->rot.x), v4_to(state->rot.y), v4_to(state->rot.z),
                   v3_add(v4_to(state->pos), origin)};
      p = place(&body, &fitting->frame);
      set_pose(solid, &p);
    }
    if (solid->type != TABI_SHAPE_PLANE) {
      bound(&p, solid, fitting, reach[fitting->shape], &c->bounds[item]);
    }
  }
}
