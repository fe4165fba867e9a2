/* ray.h - where a ray first meets a shape.
 *
 * Solids are closed: a ray that starts inside one, or on its surface, meets it at distance 0 with a
 * normal against its direction.  Triangles and height fields are met from the free side of their
 * faces only; what is below a height field is inside. */
#ifndef TBI_RAY_H
#define TBI_RAY_H

#include "collision/collision.h"
#include "collision/pair_table.h"

typedef struct tbi_ray {
  v3 origin, direction; /* direction: unit */
} tbi_ray;

typedef struct tbi_ray_hit {
  double distance; /* m */
  v3 normal;       /* unit, out of the shape */
  int32_t shape;   /* in the model; only of tbi_ray_cast */
} tbi_ray_hit;

/* Whether a ray without end meets a solid, and where first. */
bool tbi_ray_solid(const tbi_solid *solid, const tbi_ray *ray, tbi_ray_hit *hit);
/* The nearest of all shapes that collide, at the poses of d, not farther than max; of equally near
 * ones the first.  only_fixed: of shapes that do not move. */
bool tbi_ray_cast(const tbi_collision *collision, const tabi_dynamics *d, const tbi_ray *ray,
                  double max, bool only_fixed, tbi_ray_hit *hit);

/* ray_mesh.c: rays and normals in the axes of the mesh. */
bool tbi_ray_hull(const tabi_mesh_def *mesh, const tbi_ray *ray, tbi_ray_hit *hit);
bool tbi_ray_triangles(const struct tbi_trimesh *t, const tbi_ray *ray, tbi_ray_hit *hit);
bool tbi_ray_heightfield(const struct tbi_trimesh *t, const tbi_ray *ray, tbi_ray_hit *hit);

/* What a ray that starts inside meets. */
static inline bool tbi_ray_inside(const tbi_ray *ray, tbi_ray_hit *hit) {
  hit->distance = 0;
  hit->normal = v3_neg(ray->direction);
  return true;
}

#endif
