/* shapes.c - where the shapes are, and boxes around them.
 *
 * Every pass needs the boxes of all shapes, so those are made from the poses of bodies at once; the
 * axes of a shape are needed only where something is near. */
#include "base/assertion.h"
#include "collision/workspace.h"

/* pairs are listed for boxes that are wider than needed by this part of a shape's size, and by this
 * many margins: the wider, the longer a list lasts and the more it holds */
#define PLAY  0.02
#define AHEAD 8

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
  case TABI_SHAPE_ELLIPSOID:
    for (int i = 0; i < 3; ++i)
      half[i] = def->size[i];
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

static m4 columns(const m3 *a) {
  return (m4){v4_from(m3_column(a, 0)), v4_from(m3_column(a, 1)), v4_from(m3_column(a, 2))};
}

static void set_pose(tbi_solid *solid, const m4 *axes, v4 pos) {
  solid->axis[0] = v4_to(axes->x);
  solid->axis[1] = v4_to(axes->y);
  solid->axis[2] = v4_to(axes->z);
  solid->pos = v4_to(pos);
}

static tbi_solid make_solid(const tabi_model *model, const tabi_shape_def *def,
                            const tbi_frame *frame, const tbi_trimesh *ground) {
  tbi_solid solid = {.type = def->type, .ground = ground};
  set_half(def, solid.half);
  if (def->type == TABI_SHAPE_MESH) {
    solid.mesh = &model->mesh[def->mesh];
    solid.hull = &model->hull[def->mesh];
  }
  const m4 world = columns(&(m3){
      {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
  });
  m4 axes = m4_mul3(&world, &frame->rot);
  set_pose(&solid, &axes, m4_mulv3(&world, frame->pos));
  return solid;
}

/* a box in the axes of the shape, turned into those of the body */
static void set_cover(tbi_cover *cover, const tbi_frame *frame, v3 middle, const double half[3]) {
  m4 axes = columns(&frame->rot);
  m4 size = {v4_abs(axes.x), v4_abs(axes.y), v4_abs(axes.z)};
  cover->middle = v4_add(v4_from(frame->pos), m4_mulv3(&axes, middle));
  cover->half = m4_combine(&size, half[0], half[1], half[2]);
}

static void make_cover(const tabi_model *model, const tbi_fitting *fitting, const tbi_solid *solid,
                       tbi_cover *cover) {
  const tabi_shape_def *def = &model->shape[fitting->shape];
  v3 middle = v3_zero();
  double half[3] = {solid->half[0], solid->half[1], solid->half[2]};
  if (def->type == TABI_SHAPE_MESH || solid->ground) {
    bound_mesh(&model->mesh[def->mesh], &middle, half);
  }
  double size = half[0] + half[1] + half[2];
  /* balls, also those along a segment, are as wide whichever way they are turned */
  if (def->type == TABI_SHAPE_SPHERE || def->type == TABI_SHAPE_CAPSULE) {
    cover->radius = half[0];
    half[0] = half[1] = 0;
    if (def->type == TABI_SHAPE_SPHERE) half[2] = 0;
  }
  set_cover(cover, &fitting->frame, middle, half);
  bool moves = fitting->body != TABI_WORLD;
  cover->body = fitting->body;
  cover->tree = moves ? model->body[fitting->body].tree : TABI_NONE;
  cover->shape = fitting->shape;
  cover->play = moves ? PLAY * size : 0;
}

/* the home of an item that stands is the world, so its solid is placed for good */
void tbi_shapes_make(tbi_collision *c) {
  const tabi_model *model = c->model;
  for (int32_t item = 0; item < c->nitem; ++item) {
    tbi_fitting *fitting = &c->fitting[item];
    tbi_solid *solid = &c->solid[item];
    const tabi_shape_def *def = &model->shape[fitting->shape];
    tbi_frame in_link = tbi_frame_load(def->pos, def->quat);
    bool on_link = def->link != TABI_WORLD;
    fitting->body = on_link ? model->link_home[def->link].body : TABI_WORLD;
    fitting->frame =
        on_link ? tbi_frame_mul(&model->link_home[def->link].frame, &in_link) : in_link;
    *solid = make_solid(model, def, &fitting->frame, solid->ground);
    make_cover(model, fitting, solid, &c->cover[item]);
    if (fitting->body == TABI_WORLD) {
      c->placed[item] = UINT64_MAX;
    } else if (def->type == TABI_SHAPE_PLANE) {
      c->plane_moves = true;
    }
  }
}

/* moves the solid of an item that is part of a body to its pose */
static void place(const tbi_collision *c, const tabi_dynamics *d, int32_t item, tbi_solid *solid) {
  const tbi_fitting *fitting = &c->fitting[item];
  TBI_ASSERT(fitting->body >= 0 && fitting->body < c->model->nbody);
  const tbi_body_state *state = &d->body[fitting->body];
  m4 axes = m4_mul3(&state->rot, &fitting->frame.rot);
  v4 origin = v4_add(state->pos, v4_from(d->origin[c->cover[item].tree]));
  set_pose(solid, &axes, v4_add(origin, m4_mulv3(&state->rot, fitting->frame.pos)));
}

const tbi_solid *tbi_shapes_place(tbi_collision *c, const tabi_dynamics *d, int32_t item) {
  tbi_solid *solid = &c->solid[item];
  if (c->placed[item] >= c->pass) return solid;
  c->placed[item] = c->pass;
  place(c, d, item, solid);
  return solid;
}

tbi_solid tbi_shapes_solid(const tbi_collision *c, const tabi_dynamics *d, int32_t item) {
  tbi_solid solid = c->solid[item];
  if (c->fitting[item].body != TABI_WORLD) place(c, d, item, &solid);
  return solid;
}

void tbi_collision_margins(const tbi_collision *collision, const tabi_dynamics *d,
                           const double *radius, tbi_margin_rule rule, double *margin) {
  int32_t last = TABI_WORLD; /* shapes of one body mostly follow one another */
  double speed = 0;
  double spin = 0;
  for (int32_t item = 0; item < collision->nitem; ++item) {
    const tbi_cover *cover = &collision->cover[item];
    if (cover->body == TABI_WORLD) {
      margin[cover->shape] = 0;
      continue;
    }
    if (cover->body != last) {
      const tbi_body_state *state = &d->body[cover->body];
      speed = v3_norm(v4_to(sv_at(state->vel, state->pos)));
      spin = v3_norm(v4_to(state->vel.ang));
      last = cover->body;
    }
    margin[cover->shape] = rule.min + rule.time * (speed + spin * radius[cover->shape]);
  }
}

static tbi_bounds bounds_around(v4 middle, v4 half, double more) {
  v4 all = v4_add(half, v4_splat(more));
  return (tbi_bounds){v4_sub(middle, all), v4_add(middle, all)};
}

static tbi_bounds bounds_of(const tbi_cover *cover, const tabi_dynamics *d, double margin) {
  const tbi_body_state *state = &d->body[cover->body];
  v4 origin = cover->body == TABI_WORLD ? v4_zero() : v4_from(d->origin[cover->tree]);
  m4 size = {v4_abs(state->rot.x), v4_abs(state->rot.y), v4_abs(state->rot.z)};
  v4 middle = v4_add(v4_add(state->pos, origin), m4_mulv(&state->rot, cover->middle));
  return bounds_around(middle, m4_mulv(&size, cover->half), cover->radius + margin);
}

/* a height field goes on without end against its z axis */
static void bound_below(v3 up, tbi_bounds *bounds) {
  v4 below = v4_make(up.x > 1e-12 ? INFINITY : 0, up.y > 1e-12 ? INFINITY : 0,
                     up.z > 1e-12 ? INFINITY : 0);
  v4 above = v4_make(up.x < -1e-12 ? INFINITY : 0, up.y < -1e-12 ? INFINITY : 0,
                     up.z < -1e-12 ? INFINITY : 0);
  bounds->low = v4_sub(bounds->low, below);
  bounds->high = v4_add(bounds->high, above);
}

bool tbi_shapes_bound(tbi_collision *c, const tabi_dynamics *d, const double *margin) {
  ++c->pass;
  for (int32_t item = 0; item < c->nitem; ++item)
    c->bounds[item] = bounds_of(&c->cover[item], d, margin[c->cover[item].shape]);
  for (int32_t i = 0; i < c->nplane; ++i) {
    int32_t item = c->plane[i];
    c->bounds[item] = bounds_around(v4_zero(), v4_zero(), margin[c->cover[item].shape]);
  }
  for (int32_t i = 0; i < c->nground; ++i) {
    int32_t item = c->ground[i];
    if (c->solid[item].type != TABI_SHAPE_HEIGHTFIELD) continue;
    bound_below(tbi_shapes_place(c, d, item)->axis[2], &c->bounds[item]);
  }
  bool within = true;
  for (int32_t item = 0; item < c->nitem && within; ++item) {
    const tbi_bounds *now = &c->bounds[item];
    const tbi_bounds *wide = &c->wide[item];
    within = v4_all_le(wide->low, now->low) && v4_all_le(now->high, wide->high);
  }
  return within;
}

void tbi_shapes_widen(tbi_collision *c, const double *margin, bool tight) {
  for (int32_t item = 0; item < c->nitem; ++item) {
    const tbi_cover *cover = &c->cover[item];
    v4 more = v4_splat(tight ? 0 : cover->play + AHEAD * margin[cover->shape]);
    c->wide[item] =
        (tbi_bounds){v4_sub(c->bounds[item].low, more), v4_add(c->bounds[item].high, more)};
  }
}
