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

static void place(tbi_solid *solid, const m4 *rot, v3 pos, const tbi_frame *frame) {
  solid->pos = v3_add(pos, v4_to(m4_mulv3(rot, frame->pos)));
  /* a ball looks the same from everywhere */
  if (solid->type == TABI_SHAPE_SPHERE) return;
  m4 turned = m4_mul3(rot, &frame->rot);
  solid->axis[0] = v4_to(turned.x);
  solid->axis[1] = v4_to(turned.y);
  solid->axis[2] = v4_to(turned.z);
}

/* the home of an item that stands is the world, so its solid is placed for good */
void tbi_shapes_make(tbi_collision *c) {
  const tabi_model *model = c->model;
  m3 straight = m3_identity();
  m4 world = m4_from(&straight);
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
    for (int i = 0; i < 3; ++i) {
      solid->axis[i] = m3_row(&straight, i);
      fitting->half[i] = solid->half[i];
    }
    if (def->type == TABI_SHAPE_CAPSULE) fitting->half[2] += solid->half[0];
    if (def->type == TABI_SHAPE_MESH) {
      solid->mesh = &model->mesh[def->mesh];
      bound_mesh(solid->mesh, &fitting->middle, fitting->half);
    }
    place(solid, &world, v3_zero(), &fitting->frame);
  }
}

/* half the extent of a solid along each axis of the world */
static v3 extent(const tbi_solid *s, const double half[3]) {
  v3 z = s->axis[2];
  double r = s->half[0];
  switch (s->type) {
  case TABI_SHAPE_SPHERE:
    return (v3){r, r, r};
  case TABI_SHAPE_CAPSULE: {
    double h = s->half[2];
    return (v3){r + h * fabs(z.x), r + h * fabs(z.y), r + h * fabs(z.z)};
  }
  default:
    break;
  }
  v3 x = s->axis[0];
  v3 y = s->axis[1];
  return (v3){half[0] * fabs(x.x) + half[1] * fabs(y.x) + half[2] * fabs(z.x),
              half[0] * fabs(x.y) + half[1] * fabs(y.y) + half[2] * fabs(z.y),
              half[0] * fabs(x.z) + half[1] * fabs(y.z) + half[2] * fabs(z.z)};
}

static void bound(const tbi_solid *solid, const tbi_fitting *fitting, double reach,
                  tbi_bounds *bounds) {
  v3 size = extent(solid, fitting->half);
  v3 middle = solid->pos;
  if (solid->type == TABI_SHAPE_MESH) {
    middle = v3_add(middle, tbi_solid_world(solid, fitting->middle));
  }
  v3 all = {size.x + reach, size.y + reach, size.z + reach};
  v3_store(v3_sub(middle, all), bounds->low);
  v3_store(v3_add(middle, all), bounds->high);
}

void tbi_shapes_place(tbi_collision *c, const tabi_dynamics *d, const double *reach) {
  const tabi_model *model = c->model;
  for (int32_t item = 0; item < c->nitem; ++item) {
    const tbi_fitting *fitting = &c->fitting[item];
    tbi_solid *solid = &c->solid[item];
    if (fitting->body != TABI_WORLD) {
      const tbi_body_state *body = &d->body[fitting->body];
      v3 origin = d->origin[model->body[fitting->body].tree];
      place(solid, &body->rot, v3_add(v4_to(body->pos), origin), &fitting->frame);
    }
    if (solid->type != TABI_SHAPE_PLANE) {
      bound(solid, fitting, reach[fitting->shape], &c->bounds[item]);
    }
  }
}
