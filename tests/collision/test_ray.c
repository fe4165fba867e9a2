/* test_ray.c - rays against closed forms; on random convex shapes against a march along the ray
 * that knows only what is inside; on triangles against a plain search over all of them; and in a
 * world. */
#include "collision/hulls.h"
#include "collision/ray.h"
#include "collision/solids.h"
#include "collision/terrain.h"
#include "support/near.h"
#include "support/scene_build.h"

#include <stdlib.h>

static tbi_ray ray_from(v3 origin, v3 direction) {
  return (tbi_ray){origin, v3_scale(1 / v3_norm(direction), direction)};
}

static void expect_hit(const tbi_solid *s, v3 origin, v3 direction, double distance, v3 normal) {
  tbi_ray ray = ray_from(origin, direction);
  tbi_ray_hit hit;
  assert_true(tbi_ray_solid(s, &ray, &hit));
  assert_near(hit.distance, distance, 1e-12);
  assert_near(v3_norm(v3_sub(hit.normal, normal)), 0, 1e-12);
}

static void expect_miss(const tbi_solid *s, v3 origin, v3 direction) {
  tbi_ray ray = ray_from(origin, direction);
  tbi_ray_hit hit;
  assert_false(tbi_ray_solid(s, &ray, &hit));
}

static void expect_inside(const tbi_solid *s, v3 origin, v3 direction) {
  expect_hit(s, origin, direction, 0, v3_scale(-1 / v3_norm(direction), direction));
}

static const v3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};

static void test_plane(void **state) {
  (void)state;
  tbi_solid plane = solid_make(TABI_SHAPE_PLANE, 0, 0, 0);
  expect_hit(&plane, v3_make(5, 3, 2), v3_neg(Z), 2, Z);
  expect_hit(&plane, v3_make(0, 0, 1), v3_make(3, 0, -4), 1.25, Z);
  expect_miss(&plane, v3_make(0, 0, 1), Z);
  expect_miss(&plane, v3_make(0, 0, 1), X);
  expect_inside(&plane, v3_make(0, 0, -1), Z);
}

static void test_round(void **state) {
  (void)state;
  tbi_solid ball =
      solid_at(solid_make(TABI_SHAPE_SPHERE, 0.5, 0, 0), v3_make(2, 0, 0), q_identity());
  expect_hit(&ball, v3_zero(), X, 1.5, v3_neg(X));
  expect_hit(&ball, v3_make(2.3, 0, 7), v3_neg(Z), 6.6, v3_make(0.6, 0, 0.8));
  expect_miss(&ball, v3_zero(), v3_neg(X));
  expect_miss(&ball, v3_make(0, 0.51, 0), X);
  expect_inside(&ball, v3_make(2.2, 0.2, -0.1), Y);
  tbi_solid capsule = solid_make(TABI_SHAPE_CAPSULE, 0.5, 2, 0);
  expect_hit(&capsule, v3_make(-3, 0, 0.9), X, 2.5, v3_neg(X));
  expect_hit(&capsule, v3_make(0, 0, 5), v3_neg(Z), 3.5, Z);
  expect_hit(&capsule, v3_make(0.3, 0, -5), Z, 3.6, v3_make(0.6, 0, -0.8));
  expect_hit(&capsule, v3_make(-3, 0, 1.3), X, 2.6, v3_make(-0.8, 0, 0.6));
  expect_miss(&capsule, v3_make(-3, 0, 1.51), X);
  expect_inside(&capsule, v3_make(0, 0, 1.4), X);
  expect_inside(&capsule, v3_make(0.4, 0, 0.5), X);
}

static void test_edged(void **state) {
  (void)state;
  tbi_solid cylinder = solid_make(TABI_SHAPE_CYLINDER, 0.5, 2, 0);
  expect_hit(&cylinder, v3_make(-3, 0.3, 0.9), X, 2.6, v3_make(-0.8, 0.6, 0));
  expect_hit(&cylinder, v3_make(0.4, 0, 5), v3_neg(Z), 4, Z);
  expect_miss(&cylinder, v3_make(-3, 0, 1.01), X);
  expect_miss(&cylinder, v3_make(0.51, 0, 5), v3_neg(Z));
  expect_inside(&cylinder, v3_make(0.3, 0.3, -0.9), v3_make(1, 2, 3));
  tbi_solid box = solid_make(TABI_SHAPE_BOX, 2, 4, 6);
  expect_hit(&box, v3_make(-3, 1.9, 2.9), X, 2, v3_neg(X));
  expect_hit(&box, v3_make(0.5, -4, 0), v3_make(0, 3, 4), 10.0 / 3, v3_neg(Y));
  expect_miss(&box, v3_make(-3, 2.1, 0), X);
  expect_miss(&box, v3_make(-3, 0, 0), v3_neg(X));
  expect_inside(&box, v3_make(0.9, 1.9, -2.9), v3_neg(Z));
}

static void test_hull(void **state) {
  (void)state;
  const double quat[4] = {1, 0, 0, 0};
  tabi_mesh_def mesh = hull_box(2, 4, 6, quat);
  tbi_solid hull = solid_make(TABI_SHAPE_BOX, 2, 4, 6);
  hull.type = TABI_SHAPE_MESH;
  hull.mesh = &mesh;
  expect_hit(&hull, v3_make(-3, 1.9, 2.8), X, 2, v3_neg(X));
  expect_hit(&hull, v3_make(-3, 0, 0), X, 2, v3_neg(X)); /* through the middle of everything */
  expect_hit(&hull, v3_make(0, 0, 9), v3_neg(Z), 6, Z);
  expect_hit(&hull, v3_make(0.5, -4, 0), v3_make(0, 3, 4), 10.0 / 3, v3_neg(Y));
  /* through pairs of vertices, along diagonals and in the planes of symmetry */
  tbi_solid box = solid_make(TABI_SHAPE_BOX, 2, 4, 6);
  for (int i = 0; i < 7 * 7 * 7; ++i) {
    int layer = i / 49;
    v3 from = v3_make(2 * (i % 7 - 3), 2 * (i / 7 % 7 - 3), 2 * (layer - 3));
    if (v3_norm(from) == 0) continue;
    tbi_ray ray = ray_from(from, v3_neg(from));
    tbi_ray_hit a, b;
    assert_true(tbi_ray_solid(&box, &ray, &a));
    assert_true(tbi_ray_solid(&hull, &ray, &b));
    assert_near(a.distance, b.distance, 1e-12);
  }
  expect_miss(&hull, v3_make(-3, 2.1, 0), X);
  expect_miss(&hull, v3_make(-3, 0, 0), v3_neg(X));
  expect_inside(&hull, v3_make(0.9, 1.9, -2.9), v3_neg(Z));
  hull_free(&mesh);
}

static bool is_inside(const tbi_solid *s, v3 p) {
  v3 at = tbi_solid_local(s, v3_sub(p, s->pos));
  switch (s->type) {
  case TABI_SHAPE_PLANE:
    return at.z <= 0;
  case TABI_SHAPE_CYLINDER:
    return at.x * at.x + at.y * at.y <= s->half[0] * s->half[0] && fabs(at.z) <= s->half[2];
  case TABI_SHAPE_BOX:
    return box_distance(s, p) == 0;
  case TABI_SHAPE_MESH:
    for (int32_t i = 0; i < s->mesh->nface; ++i) {
      v3 corner[3];
      for (int k = 0; k < 3; ++k)
        corner[k] = v3_load(s->mesh->vertices + 3 * (ptrdiff_t)s->mesh->faces[3 * i + k]);
      v3 n = v3_cross(v3_sub(corner[1], corner[0]), v3_sub(corner[2], corner[0]));
      if (v3_dot(n, v3_sub(at, corner[0])) > 0) return false;
    }
    return true;
  default:
    return core_distance(s, p) <= s->half[0];
  }
}

/* The first place inside, in steps and then by halving; infinite: none. */
static double march(const tbi_solid *s, const tbi_ray *ray, double step, double end) {
  for (int k = 0; k * step <= end; ++k) {
    double t = k * step;
    if (!is_inside(s, v3_axpy(ray->origin, t, ray->direction))) continue;
    double low = fmax(t - step, 0);
    double high = t;
    for (int i = 0; i < 60 && high > low; ++i) {
      double middle = 0.5 * (low + high);
      *(is_inside(s, v3_axpy(ray->origin, middle, ray->direction)) ? &high : &low) = middle;
    }
    return high;
  }
  return INFINITY;
}

/* The normal looks against the ray, and nothing of the solid is beyond the plane that it makes. */
static void check_normal(const tbi_solid *s, const tbi_ray *ray, const tbi_ray_hit *hit) {
  assert_near(v3_norm(hit->normal), 1, 1e-12);
  assert_true(v3_dot(hit->normal, ray->direction) < 1e-9);
  if (hit->distance == 0) return;
  v3 at = v3_axpy(ray->origin, hit->distance, ray->direction);
  if (s->type == TABI_SHAPE_MESH) {
    v3 local = tbi_solid_local(s, hit->normal);
    for (int32_t i = 0; i < s->mesh->nvertex; ++i) {
      v3 from = v3_sub(v3_load(s->mesh->vertices + 3 * (ptrdiff_t)i),
                       tbi_solid_local(s, v3_sub(at, s->pos)));
      assert_true(v3_dot(local, from) < 1e-9);
    }
  } else if (s->type != TABI_SHAPE_PLANE) {
    assert_near(solid_support(s, hit->normal), v3_dot(hit->normal, at), 1e-9);
  }
}

static int compare_with_march(const tbi_solid *s, const tbi_ray *ray) {
  const double step = 2e-3;
  const double end = 4;
  tbi_ray_hit hit;
  bool met = tbi_ray_solid(s, ray, &hit);
  double plain = march(s, ray, step, end);
  if (met) check_normal(s, ray, &hit);
  if (isfinite(plain)) {
    assert_true(met);
    assert_near(hit.distance, plain, 1e-9);
    return 1;
  }
  /* a corner between two steps, or something beyond the end */
  if (met && hit.distance < end) {
    assert_true(is_inside(s, v3_axpy(ray->origin, hit.distance + 1e-9, ray->direction)) ||
                fabs(v3_dot(hit.normal, ray->direction)) < 1e-2 ||
                !is_inside(s, v3_axpy(ray->origin, hit.distance + step, ray->direction)));
  }
  return 0;
}

static void test_random_solids(void **state) {
  (void)state;
  const tabi_shape_type types[] = {TABI_SHAPE_PLANE,    TABI_SHAPE_SPHERE, TABI_SHAPE_CAPSULE,
                                   TABI_SHAPE_CYLINDER, TABI_SHAPE_BOX,    TABI_SHAPE_MESH};
  rng r = rng_make(401);
  for (size_t k = 0; k < sizeof types / sizeof types[0]; ++k) {
    int hits = 0;
    for (int i = 0; i < 400; ++i) {
      tabi_shape_type type = types[k];
      tbi_solid s = random_solid(&r, type == TABI_SHAPE_MESH ? TABI_SHAPE_BOX : type, 0.5);
      tabi_mesh_def mesh = {0};
      if (type == TABI_SHAPE_MESH) {
        mesh = hull_random(&r, 0.4);
        s.type = type;
        s.mesh = &mesh;
      }
      /* from anywhere near, now and then inside, to somewhere near the middle */
      v3 from = v3_make(rng_between(&r, -1, 1), rng_between(&r, -1, 1), rng_between(&r, -1, 1));
      v3 to = v3_add(s.pos, v3_make(rng_between(&r, -0.2, 0.2), rng_between(&r, -0.2, 0.2),
                                    rng_between(&r, -0.2, 0.2)));
      tbi_ray ray = ray_from(from, v3_sub(to, from));
      hits += compare_with_march(&s, &ray);
      if (type == TABI_SHAPE_MESH) hull_free(&mesh);
    }
    assert_true(hits > 100);
  }
}

/* All triangles that look against the ray, by Moeller and Trumbore; infinite: none. */
static double search_all(const terrain *t, const tbi_ray *ray) {
  double min = INFINITY;
  for (int32_t i = 0; i < t->g.nface; ++i) {
    v3 p[3];
    for (int k = 0; k < 3; ++k)
      p[k] = tbi_trimesh_vertex(&t->trimesh, t->g.faces[3 * (size_t)i + (size_t)k]);
    v3 e1 = v3_sub(p[1], p[0]);
    v3 e2 = v3_sub(p[2], p[0]);
    v3 h = v3_cross(ray->direction, e2);
    double det = v3_dot(e1, h);
    if (det <= 0) continue;
    v3 s = v3_sub(ray->origin, p[0]);
    double u = v3_dot(s, h) / det;
    v3 q = v3_cross(s, e1);
    double v = v3_dot(ray->direction, q) / det;
    double distance = v3_dot(e2, q) / det;
    if (u >= 0 && v >= 0 && u + v <= 1 && distance >= 0) min = fmin(min, distance);
  }
  return min;
}

static double hills(double x, double y) {
  return 0.15 * sin(3.1 * x + 0.3) * cos(2.7 * y) + 0.04 * sin(11 * x - 7 * y);
}

static void test_triangles(void **state) {
  (void)state;
  rng r = rng_make(402);
  terrain t;
  terrain_make(&t, ground_grid(&r, 4, 3, 24, 18, 0.3, hills), TABI_SHAPE_MESH);
  int hits = 0;
  for (int i = 0; i < 3000; ++i) {
    v3 from = v3_make(rng_between(&r, -3, 3), rng_between(&r, -3, 3), rng_between(&r, -0.5, 1));
    v3 to = v3_make(rng_between(&r, -2, 2), rng_between(&r, -1.5, 1.5), rng_between(&r, -0.2, 0.2));
    tbi_ray ray = ray_from(from, v3_sub(to, from));
    tbi_ray_hit hit;
    bool met = tbi_ray_triangles(&t.trimesh, &ray, &hit);
    double plain = search_all(&t, &ray);
    assert_int_equal(met, isfinite(plain));
    if (!met) continue;
    assert_near(hit.distance, plain, 1e-9);
    assert_true(v3_dot(hit.normal, ray.direction) < 0);
    ++hits;
  }
  assert_true(hits > 1000);
  terrain_free(&t);
}

/* Straight down on vertices and the middles of edges: nothing slips through. */
static void test_no_gaps(void **state) {
  (void)state;
  rng r = rng_make(403);
  terrain t;
  terrain_make(&t, ground_grid(&r, 2, 2, 16, 16, 0, hills), TABI_SHAPE_MESH);
  for (int32_t i = 0; i < t.trimesh.nedge; ++i) {
    const tbi_trimesh_edge *edge = &t.trimesh.edge[i];
    v3 a = tbi_trimesh_vertex(&t.trimesh, edge->vertex[0]);
    v3 b = tbi_trimesh_vertex(&t.trimesh, edge->vertex[1]);
    for (int k = 1; k < 4 && edge->kind != TBI_EDGE_BORDER; ++k) {
      v3 at = v3_axpy(a, k / 4.0, v3_sub(b, a));
      tbi_ray ray = {v3_make(at.x, at.y, 3), v3_neg(Z)};
      tbi_ray_hit hit;
      assert_true(tbi_ray_triangles(&t.trimesh, &ray, &hit));
      assert_near(hit.distance, 3 - at.z, 1e-9);
    }
  }
  terrain_free(&t);
}

static void test_height_field(void **state) {
  (void)state;
  rng r = rng_make(404);
  terrain t;
  terrain_make(&t, ground_grid(&r, 2, 2, 16, 16, 0.2, hills), TABI_SHAPE_MESH);
  tbi_solid field = solid_make(TABI_SHAPE_PLANE, 0, 0, 0);
  field.type = TABI_SHAPE_HEIGHTFIELD;
  field.ground = &t.trimesh;
  for (int i = 0; i < 200; ++i) {
    v3 at = v3_make(rng_between(&r, -0.9, 0.9), rng_between(&r, -0.9, 0.9), 2);
    tbi_ray down = {at, v3_neg(Z)};
    tbi_ray_hit hit;
    assert_true(tbi_ray_solid(&field, &down, &hit));
    assert_near(hit.distance, search_all(&t, &down), 1e-9);
    /* what is below is solid without end */
    at.z = 2 - hit.distance - rng_between(&r, 1e-6, 50);
    expect_inside(&field, at, v3_make(rng_unit(&r), rng_unit(&r), rng_unit(&r)));
  }
  expect_miss(&field, v3_make(5, 0, -3), Z); /* beside it */
  field.type = TABI_SHAPE_TRIANGLES;
  expect_miss(&field, v3_make(0.1, 0.1, -3), Z); /* from behind */
  terrain_free(&t);
}

/* A closed mesh is met where the box is that it looks like. */
static void test_closed_mesh(void **state) {
  (void)state;
  rng r = rng_make(405);
  terrain t;
  terrain_make(&t, ground_box(v3_make(0.6, 0.8, 1.0)), TABI_SHAPE_MESH);
  tbi_solid box = solid_make(TABI_SHAPE_BOX, 0.6, 0.8, 1.0);
  for (int i = 0; i < 1000; ++i) {
    v3 from = v3_make(rng_between(&r, -2, 2), rng_between(&r, -2, 2), rng_between(&r, -2, 2));
    if (is_inside(&box, from)) continue;
    v3 to = v3_make(rng_between(&r, -0.5, 0.5), rng_between(&r, -0.5, 0.5), rng_between(&r, -1, 1));
    tbi_ray ray = ray_from(from, v3_sub(to, from));
    tbi_ray_hit a, b;
    bool met = tbi_ray_solid(&box, &ray, &a);
    assert_int_equal(met, tbi_ray_triangles(&t.trimesh, &ray, &b));
    if (met) assert_near(a.distance, b.distance, 1e-9);
    if (met) assert_near(v3_norm(v3_sub(a.normal, b.normal)), 0, 1e-9);
  }
  terrain_free(&t);
}

static void test_world(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t wood = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, wood);
  int32_t box = scene_box(&s, 1, v3_make(0.2, 0.2, 0.2), v3_make(0, 0, 0.1), wood);
  int32_t ball = scene_ball(&s, 1, 0.1, v3_make(1, 0, 2), wood);
  scene_open(&s, NULL);
  const double above[3] = {0.05, 0, 1};
  const double down[3] = {0, 0, -2}; /* of any length */
  tabi_ray_hit hit;
  assert_true(tabi_world_ray(s.world, above, down, INFINITY, &hit));
  assert_int_equal(hit.link, box);
  assert_int_equal(tabi_model_shape(s.model, hit.shape).link, box);
  assert_near(hit.distance, 0.8, 1e-9);
  assert_near(hit.point[0], 0.05, 1e-12);
  assert_near(hit.point[2], 0.2, 1e-9);
  assert_near(hit.normal[2], 1, 1e-12);
  assert_false(tabi_world_ray(s.world, above, down, 0.79, &hit));
  assert_true(tabi_world_ray(s.world, above, down, 0.81, &hit));
  const double aside[3] = {0.3, 0, 1};
  assert_true(tabi_world_ray(s.world, aside, down, INFINITY, &hit));
  assert_int_equal(hit.link, TABI_WORLD);
  assert_near(hit.distance, 1, 1e-12);
  const double inside[3] = {0, 0, 0.1};
  assert_true(tabi_world_ray(s.world, inside, down, INFINITY, &hit));
  assert_int_equal(hit.link, box);
  assert_near(hit.distance, 0, 0);
  assert_near(hit.normal[2], 1, 1e-12);
  /* the state is the present one, and asking changes nothing of the steps */
  const double over[3] = {1, 0, 3};
  size_t size = tabi_world_snapshot_size(s.world);
  void *start = malloc(size);
  assert_non_null(start);
  tabi_world_save(s.world, start);
  scene_run(&s, 700);
  uint64_t hash = tabi_world_hash(s.world);
  assert_int_equal(tabi_world_restore(s.world, start, size), TABI_OK);
  for (int i = 0; i < 700; ++i) {
    scene_run(&s, 1);
    assert_true(tabi_world_ray(s.world, over, down, INFINITY, &hit));
    assert_int_equal(hit.link, ball);
    assert_near(hit.distance, 3 - 0.1 - scene_q(&s, ball)[2], 1e-9);
  }
  assert_true(tabi_world_hash(s.world) == hash);
  free(start);
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plane),         cmocka_unit_test(test_round),
      cmocka_unit_test(test_edged),         cmocka_unit_test(test_hull),
      cmocka_unit_test(test_random_solids), cmocka_unit_test(test_triangles),
      cmocka_unit_test(test_no_gaps),       cmocka_unit_test(test_height_field),
      cmocka_unit_test(test_closed_mesh),   cmocka_unit_test(test_world),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
