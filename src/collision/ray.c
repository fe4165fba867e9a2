/* ray.c - rays against planes, balls, capsules, cylinders and boxes, and against all shapes.
 *
 * A ray is brought into the axes of the shape, where it is o + t u with t >= 0.  Boxes and
 * cylinders are intersections of slabs and an infinite cylinder, each of which keeps an interval of
 * t; a capsule is the union of a cylinder's side and two balls, so that the first of them is met.
 */
#include "collision/ray.h"

#include "base/assertion.h"
#include "collision/closest.h"
#include "collision/workspace.h"

static v3 point_at(const tbi_ray *ray, double t) { return v3_axpy(ray->origin, t, ray->direction); }

static bool ray_plane(const tbi_ray *ray, tbi_ray_hit *hit) {
  if (ray->origin.z <= 0) return tbi_ray_inside(ray, hit);
  if (ray->direction.z >= 0) return false;
  hit->distance = -ray->origin.z / ray->direction.z;
  hit->normal = v3_make(0, 0, 1);
  return true;
}

static bool ray_sphere(v3 centre, double radius, const tbi_ray *ray, tbi_ray_hit *hit) {
  v3 from = v3_sub(ray->origin, centre);
  if (v3_dot(from, from) <= radius * radius) return tbi_ray_inside(ray, hit);
  double along = v3_dot(from, ray->direction);
  v3 nearest = v3_axpy(from, -along, ray->direction); /* of the line, from the centre */
  double square = radius * radius - v3_dot(nearest, nearest);
  if (along >= 0 || square < 0) return false;
  hit->distance = -along - sqrt(square);
  v3 normal = v3_axpy(from, hit->distance, ray->direction);
  /* a point has no normal */
  hit->normal = radius > 0 ? v3_scale(1 / v3_norm(normal), normal) : v3_neg(ray->direction);
  return true;
}

/* In axes that are scaled to make it a ball of radius 1, with its gradient as normal. */
static bool ray_ellipsoid(const double half[3], const tbi_ray *ray, tbi_ray_hit *hit) {
  const v3 by = {1 / half[0], 1 / half[1], 1 / half[2]};
  v3 along = v3_make(by.x * ray->direction.x, by.y * ray->direction.y, by.z * ray->direction.z);
  double speed = v3_norm(along);
  tbi_ray scaled = {
      v3_make(by.x * ray->origin.x, by.y * ray->origin.y, by.z * ray->origin.z),
      v3_scale(1 / speed, along),
  };
  if (!ray_sphere(v3_zero(), 1, &scaled, hit)) return false;
  if (hit->distance == 0) return tbi_ray_inside(ray, hit);
  hit->distance /= speed;
  v3 normal = v3_make(by.x * hit->normal.x, by.y * hit->normal.y, by.z * hit->normal.z);
  hit->normal = v3_scale(1 / v3_norm(normal), normal);
  return true;
}

/* The part of a line that is inside of all that it was clipped by, and the normal where it enters.
 */
typedef struct interval {
  double enter, exit;
  v3 normal;
} interval;

static void clip(interval *part, double enter, double exit, v3 normal) {
  if (enter > part->enter) {
    part->enter = enter;
    part->normal = normal;
  }
  part->exit = fmin(part->exit, exit);
}

static void clip_slab(interval *part, double o, double u, double half, v3 axis) {
  if (u == 0) {
    if (fabs(o) > half) part->exit = -INFINITY;
    return;
  }
  double near = u > 0 ? -half : half;
  clip(part, (near - o) / u, (-near - o) / u, u > 0 ? v3_neg(axis) : axis);
}

/* the infinite cylinder about z */
static void clip_tube(interval *part, const tbi_ray *ray, double radius) {
  v3 o = v3_make(ray->origin.x, ray->origin.y, 0);
  v3 u = v3_make(ray->direction.x, ray->direction.y, 0);
  double speed = v3_norm(u);
  if (speed == 0) {
    if (v3_norm(o) > radius) part->exit = -INFINITY;
    return;
  }
  u = v3_scale(1 / speed, u);
  double along = v3_dot(o, u);
  v3 nearest = v3_axpy(o, -along, u);
  double square = radius * radius - v3_dot(nearest, nearest);
  if (square < 0) {
    part->exit = -INFINITY;
    return;
  }
  double half_chord = sqrt(square);
  v3 normal = v3_scale(1 / radius, v3_axpy(nearest, -half_chord, u));
  clip(part, (-along - half_chord) / speed, (half_chord - along) / speed, normal);
}

static bool meet(const interval *part, const tbi_ray *ray, tbi_ray_hit *hit) {
  if (part->enter > part->exit || part->exit < 0) return false;
  if (part->enter <= 0) return tbi_ray_inside(ray, hit);
  hit->distance = part->enter;
  hit->normal = part->normal;
  return true;
}

static const interval whole = {
    -INFINITY, INFINITY, {0, 0, 0}
};

static bool ray_box(const double half[3], const tbi_ray *ray, tbi_ray_hit *hit) {
  interval part = whole;
  clip_slab(&part, ray->origin.x, ray->direction.x, half[0], v3_make(1, 0, 0));
  clip_slab(&part, ray->origin.y, ray->direction.y, half[1], v3_make(0, 1, 0));
  clip_slab(&part, ray->origin.z, ray->direction.z, half[2], v3_make(0, 0, 1));
  return meet(&part, ray, hit);
}

static bool ray_cylinder(double radius, double half, const tbi_ray *ray, tbi_ray_hit *hit) {
  interval part = whole;
  clip_tube(&part, ray, radius);
  clip_slab(&part, ray->origin.z, ray->direction.z, half, v3_make(0, 0, 1));
  return meet(&part, ray, hit);
}

static void keep_nearer(const tbi_ray_hit *found, bool *met, tbi_ray_hit *hit) {
  if (*met && found->distance >= hit->distance) return;
  hit->distance = found->distance;
  hit->normal = found->normal;
  *met = true;
}

static bool ray_capsule(double radius, double half, const tbi_ray *ray, tbi_ray_hit *hit) {
  bool met = false;
  tbi_ray_hit found;
  interval side = whole;
  clip_tube(&side, ray, radius);
  if (meet(&side, ray, &found) && fabs(point_at(ray, found.distance).z) <= half)
    keep_nearer(&found, &met, hit);
  for (int end = -1; end <= 1; end += 2) {
    if (ray_sphere(v3_make(0, 0, end * half), radius, ray, &found)) keep_nearer(&found, &met, hit);
  }
  return met;
}

static bool ray_local(const tbi_solid *solid, const tbi_ray *ray, tbi_ray_hit *hit) {
  switch (solid->type) {
  case TABI_SHAPE_PLANE:
    return ray_plane(ray, hit);
  case TABI_SHAPE_SPHERE:
    return ray_sphere(v3_zero(), solid->half[0], ray, hit);
  case TABI_SHAPE_CAPSULE:
    return ray_capsule(solid->half[0], solid->half[2], ray, hit);
  case TABI_SHAPE_CYLINDER:
    return ray_cylinder(solid->half[0], solid->half[2], ray, hit);
  case TABI_SHAPE_BOX:
    return ray_box(solid->half, ray, hit);
  case TABI_SHAPE_ELLIPSOID:
    return ray_ellipsoid(solid->half, ray, hit);
  case TABI_SHAPE_MESH:
    return tbi_ray_hull(solid->mesh, ray, hit);
  case TABI_SHAPE_TRIANGLES:
    return tbi_ray_triangles(solid->ground, ray, hit);
  case TABI_SHAPE_HEIGHTFIELD:
    return tbi_ray_heightfield(solid->ground, ray, hit);
  default:
    TBI_ASSERT(false);
    return false;
  }
}

bool tbi_ray_solid(const tbi_solid *solid, const tbi_ray *ray, tbi_ray_hit *hit) {
  TBI_CHECK_SLOW(fabs(v3_norm(ray->direction) - 1) < 1e-9);
  tbi_ray local = {tbi_solid_local(solid, v3_sub(ray->origin, solid->pos)),
                   tbi_solid_local(solid, ray->direction)};
  if (!ray_local(solid, &local, hit)) return false;
  hit->normal = tbi_solid_world(solid, hit->normal);
  return true;
}

/* Whether the ray passes the ball around an item that has an end on all sides. */
static bool may_meet(const tbi_collision *c, const tabi_dynamics *d, int32_t item,
                     const tbi_ray *ray) {
  const tbi_cover *cover = &c->cover[item];
  if (c->solid[item].type == TABI_SHAPE_PLANE || c->solid[item].ground) return true;
  const tbi_body_state *state = &d->body[cover->body];
  v4 middle = v4_add(state->pos, m4_mulv(&state->rot, cover->middle));
  v3 from = v3_sub(ray->origin, v3_add(v4_to(middle), tbi_tree_origin(d, cover->body)));
  double radius = (v3_norm(v4_to(cover->half)) + cover->radius) * (1 + 1e-9);
  double along = fmin(v3_dot(from, ray->direction), 0);
  v3 nearest = v3_axpy(from, -along, ray->direction);
  return v3_dot(nearest, nearest) <= radius * radius;
}

bool tbi_ray_cast(const tbi_collision *collision, const tabi_dynamics *d, const tbi_ray *ray,
                  double max, bool only_fixed, tbi_ray_hit *hit) {
  const tbi_collision *c = collision;
  TBI_ASSERT(d->model == c->model && max >= 0);
  bool met = false;
  for (int32_t item = 0; item < c->nitem; ++item) {
    if (only_fixed && c->fitting[item].body != TABI_WORLD) continue;
    if (!may_meet(c, d, item, ray)) continue;
    tbi_solid solid = tbi_shapes_solid(c, d, item);
    tbi_ray_hit found;
    if (!tbi_ray_solid(&solid, ray, &found) || found.distance > max) continue;
    if (met && found.distance >= hit->distance) continue;
    met = true;
    *hit = found;
    hit->shape = c->fitting[item].shape;
  }
  return met;
}
