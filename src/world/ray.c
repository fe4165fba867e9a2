/* ray.c - what a ray meets in the world. */
#include "collision/ray.h"
#include "base/assertion.h"
#include "world/world.h"

#include <math.h>

static bool cast(tabi_world *world, const double origin[3], const double direction[3],
                 double max_distance, bool only_fixed, tabi_ray_hit *hit) {
  TBI_ASSERT(world && origin && direction && hit && max_distance >= 0);
  double length = v3_norm(v3_load(direction));
  TBI_ASSERT(length > 0 && isfinite(length));
  tbi_ray ray = {v3_load(origin), v3_scale(1 / length, v3_load(direction))};
  (void)tbi_world_dynamics(world); /* brings the poses to the present state */
  tbi_ray_hit found;
  if (!tbi_ray_cast(world->collision, world->d, &ray, max_distance, only_fixed, &found))
    return false;
  *hit = (tabi_ray_hit){.shape = found.shape,
                        .link = world->model->shape[found.shape].link,
                        .distance = found.distance};
  v3_store(v3_axpy(ray.origin, found.distance, ray.direction), hit->point);
  v3_store(found.normal, hit->normal);
  return true;
}

bool tabi_world_ray(tabi_world *world, const double origin[3], const double direction[3],
                    double max_distance, tabi_ray_hit *hit) {
  return cast(world, origin, direction, max_distance, false, hit);
}

double tabi_world_ground_below(tabi_world *world, const double point[3]) {
  static const double down[3] = {0, 0, -1};
  tabi_ray_hit hit;
  return cast(world, point, down, HUGE_VAL, true, &hit) ? hit.point[2] : (double)NAN;
}
