/* foothold.c - see foothold.h.
 *
 * Five rays go down, through the middle and the corners of a sole.  The middle gives height and
 * normal; the ground is even if the corners are in that plane.  Where it is not, as at the edge of
 * a stair, the sole is moved forward or back until it is. */
#include "control/foothold.h"

#include "world/world.h"

#include <math.h>

enum { TRIES = 12, MAX_PASSES = 120 };
#define STEEPEST 0.8 /* cosine of a slope on which no foot is put */

/* The first point below that is no part of the robot. */
static bool look_down(const tbi_foothold_eye *eye, const double at[2], tabi_ray_hit *hit) {
  const double down[3] = {0, 0, -1};
  double from[3] = {at[0], at[1], eye->above};
  const tabi_model *model = eye->world->model;
  for (int pass = 0; pass < MAX_PASSES; ++pass) {
    if (!tabi_world_ray(eye->world, from, down, HUGE_VAL, hit)) return false;
    bool own = hit->link != TABI_WORLD && model->link_home[hit->link].body >= 0 &&
               model->body[model->link_home[hit->link].body].tree == eye->tree;
    if (!own) return true;
    from[2] -= hit->distance + 5e-3;
  }
  return false;
}

static bool is_even(const tbi_foothold_eye *eye, double yaw, tbi_foothold *f) {
  tabi_ray_hit middle;
  if (!look_down(eye, f->place, &middle) || middle.normal[2] < STEEPEST) return false;
  v3 point = v3_load(middle.point);
  v3 normal = v3_load(middle.normal);
  for (int i = 0; i < 4; ++i) {
    double x = (i & 1 ? -1 : 1) * eye->half[0];
    double y = (i & 2 ? -1 : 1) * eye->half[1];
    const double at[2] = {f->place[0] + cos(yaw) * x - sin(yaw) * y,
                          f->place[1] + sin(yaw) * x + cos(yaw) * y};
    tabi_ray_hit corner;
    if (!look_down(eye, at, &corner)) return false;
    if (fabs(v3_dot(normal, v3_sub(v3_load(corner.point), point))) > eye->uneven) return false;
  }
  f->height = point.z;
  f->normal = normal;
  return true;
}

static bool try_place(const tbi_foothold_eye *eye, double yaw, double way, tbi_foothold *foothold) {
  tbi_foothold tried = {
      .place = {foothold->place[0] + cos(yaw) * way, foothold->place[1] + sin(yaw) * way}
  };
  if (!is_even(eye, yaw, &tried)) return false;
  *foothold = tried;
  return true;
}

bool tbi_foothold_find(const tbi_foothold_eye *eye, double yaw, tbi_foothold *foothold) {
  if (try_place(eye, yaw, 0, foothold)) return true;
  double step = 1.1 * eye->half[0] / TRIES;
  for (int i = 1; i * step < fabs(eye->ahead); ++i) {
    if (try_place(eye, yaw, copysign(i * step, eye->ahead), foothold)) return true;
  }
  for (int i = 1; i <= TRIES; ++i) {
    if (try_place(eye, yaw, i * step, foothold) || try_place(eye, yaw, -i * step, foothold))
      return true;
  }
  return false;
}
