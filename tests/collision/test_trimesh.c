/* test_trimesh.c - ground made of triangles: distances and normals against a plain search over
 * all of them, what edges and borders may do, ids, and how much of the tree is looked at. */
#include "collision/gjk.h"
#include "collision/terrain.h"
#include "support/near.h"

#include <stdlib.h>

static double hills(double x, double y) {
  return 0.15 * sin(3.1 * x + 0.3) * cos(2.7 * y) + 0.04 * sin(11 * x - 7 * y);
}

/* The nearest triangle of all, by the distance between convex bodies; *way from ground to shape. */
static double plain_distance(const terrain *t, const tbi_solid *shape, v3 *way) {
  static const int32_t faces[3] = {0, 1, 2};
  double min = INFINITY;
  for (int32_t i = 0; i < t->g.nface; ++i) {
    double corner[9];
    for (int k = 0; k < 3; ++k)
      v3_store(tbi_trimesh_vertex(&t->trimesh, t->g.faces[3 * (size_t)i + (size_t)k]),
               corner + 3 * (size_t)k);
    tabi_mesh_def mesh = {.nvertex = 3, .nface = 1, .vertices = corner, .faces = faces};
    tbi_solid triangle = t->solid;
    triangle.type = TABI_SHAPE_MESH;
    triangle.mesh = &mesh;
    v3 guess = v3_sub(tbi_support_centre(shape), v3_load(corner));
    v3 apart = tbi_gjk(&triangle, shape, v3_zero(), guess).apart;
    double distance = v3_norm(apart);
    if (distance < min) {
      min = distance;
      *way = v3_scale(1 / distance, apart);
    }
  }
  return min - tbi_support_radius(shape);
}

static tbi_solid random_mover(rng *r, tabi_shape_type type, tabi_mesh_def *hull) {
  tbi_solid s = random_solid(r, type == TABI_SHAPE_MESH ? TABI_SHAPE_BOX : type, 1.0);
  if (type == TABI_SHAPE_MESH) {
    s.type = TABI_SHAPE_MESH;
    s.mesh = hull;
  }
  return s;
}

/* Lifts a shape until it is about as far above the ground as asked for. */
static void lift(const terrain *t, tbi_solid *s, double clearance) {
  v3 way;
  s->pos.z = 1.5;
  for (int i = 0; i < 60; ++i) {
    double gap = plain_distance(t, s, &way);
    if (gap < clearance + 1e-3) break;
    s->pos.z -= gap - clearance;
  }
}

/* What is near but does not touch: the least gap is the distance, and its normal the direction. */
static void check_distances(tabi_shape_type type, uint64_t seed, int tries) {
  const double corners[24] = {-0.2, -0.1, -0.1, 0.2, -0.1, -0.1, 0.15, 0.15, -0.12, -0.2, 0.1, -0.1,
                              -0.1, -0.1, 0.1,  0.1, -0.1, 0.1,  0.1,  0.1,  0.15,  -0.1, 0.1, 0.1};
  static const int32_t faces[36] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                    1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};
  tabi_mesh_def hull = {.nvertex = 8, .nface = 12, .vertices = corners, .faces = faces};
  rng r = rng_make(seed);
  terrain t;
  terrain_make(&t, ground_grid(&r, 5, 5, 20, 20, 0.3, hills), TABI_SHAPE_TRIANGLES);
  double worst = 0;
  for (int i = 0; i < tries; ++i) {
    tbi_solid s = random_mover(&r, type, &hull);
    const double clearance = rng_between(&r, 0.001, 0.05);
    const double margin = 0.08;
    lift(&t, &s, clearance);
    v3 way = v3_zero();
    double distance = plain_distance(&t, &s, &way);
    tbi_pair_point p[TBI_PAIR_ROOM];
    int32_t count = tbi_pair_collide(&s, &t.solid, margin, p);
    assert_true(count > 0 && count <= TBI_PAIR_POINTS);
    int32_t deepest = 0;
    for (int32_t k = 0; k < count; ++k) {
      assert_near(v3_norm(p[k].normal), 1, 1e-12);
      assert_true(p[k].feature < 65536 && (k == 0 || p[k - 1].feature < p[k].feature));
      if (p[k].gap < p[deepest].gap) deepest = k;
    }
    worst = fmax(worst, fabs(p[deepest].gap - distance));
    assert_near(p[deepest].gap, distance, 1e-8);
    assert_true(-v3_dot(p[deepest].normal, way) > 1 - 1e-6);
  }
  print_message("type %d: %d tries, worst %.1e m\n", (int)type, tries, worst);
  terrain_free(&t);
}

static void test_distances(void **state) {
  (void)state;
  check_distances(TABI_SHAPE_SPHERE, 1, 40);
  check_distances(TABI_SHAPE_CAPSULE, 2, 40);
  check_distances(TABI_SHAPE_BOX, 3, 40);
  check_distances(TABI_SHAPE_MESH, 4, 40);
  check_distances(TABI_SHAPE_CYLINDER, 5, 40);
}

/* A ball that is in the ground a little: every point where it is nearest to the surface, and no
 * other.  Held against all triangles: a nearest point counts if no triangle near it is nearer. */
static void test_ball_touches_where_it_is_nearest(void **state) {
  (void)state;
  rng r = rng_make(6);
  terrain t;
  terrain_make(&t, ground_grid(&r, 5, 5, 20, 20, 0.3, hills), TABI_SHAPE_TRIANGLES);
  int32_t several = 0;
  for (int i = 0; i < 300; ++i) {
    tbi_solid s = random_solid(&r, TABI_SHAPE_SPHERE, 1.0);
    lift(&t, &s, 0.001);
    s.pos.z -= 0.02 * s.half[0];
    tbi_pair_point p[TBI_PAIR_ROOM];
    int32_t count = tbi_pair_collide(&s, &t.solid, 0.3 * s.half[0], p);
    int32_t nearest = 0;
    several += count > 1;
    for (int32_t k = 0; k < count; ++k) {
      v3 on = v3_axpy(s.pos, s.half[0] + p[k].gap, p[k].normal);
      double off = INFINITY;
      double min = INFINITY;
      for (int32_t f = 0; f < t.g.nface; ++f) {
        v3 near = tbi_trimesh_nearest(&t.trimesh, f, s.pos);
        off = fmin(off, v3_norm(v3_sub(tbi_trimesh_nearest(&t.trimesh, f, on), on)));
        if (v3_norm(v3_sub(near, on)) < 1e-3) min = fmin(min, v3_norm(v3_sub(near, s.pos)));
      }
      /* what the ball may come to lies beside the face, and is not touched yet */
      if (off > 1e-9) assert_true(p[k].gap > 0);
      if (off <= 1e-9) assert_near(min, s.half[0] + p[k].gap, 1e-9);
      nearest += off <= 1e-9;
    }
    assert_true(nearest > 0);
  }
  assert_true(several > 20);
  terrain_free(&t);
}

/* Turned and moved, ground and shape meet in the same points. */
static void test_motion(void **state) {
  (void)state;
  rng r = rng_make(7);
  terrain t;
  terrain_make(&t, ground_grid(&r, 5, 5, 20, 20, 0.3, hills), TABI_SHAPE_TRIANGLES);
  for (int i = 0; i < 100; ++i) {
    tbi_solid s = random_solid(&r, (tabi_shape_type)(TABI_SHAPE_SPHERE + i % 4), 1.0);
    lift(&t, &s, 0.002);
    /* where a rim is nearest to an edge is searched for, not calculated */
    double near = s.type == TABI_SHAPE_CYLINDER ? 1e-4 : 1e-8;
    tbi_frame motion = random_motion(&r, 3);
    tbi_solid s2 = solid_moved(&s, &motion);
    tbi_solid ground2 = solid_moved(&t.solid, &motion);
    tbi_pair_point p[TBI_PAIR_ROOM], q[TBI_PAIR_ROOM];
    int32_t count = tbi_pair_collide(&s, &t.solid, 0.01, p);
    assert_int_equal(tbi_pair_collide(&ground2, &s2, 0.01, q), count);
    for (int32_t k = 0; k < count; ++k) {
      assert_int_equal(p[k].feature, q[k].feature);
      assert_near(p[k].gap, q[k].gap, 1e-2 * near);
      v3 point = v3_add(motion.pos, m3_mulv(&motion.rot, p[k].point));
      v3 normal = m3_mulv(&motion.rot, p[k].normal);
      assert_true(v3_norm(v3_sub(point, q[k].point)) < near);
      /* the other way round, the normal is too */
      assert_true(v3_norm(v3_add(normal, q[k].normal)) < near);
    }
  }
  terrain_free(&t);
}

static double step_up(double x, double y) {
  (void)y;
  return x < 0 ? 0 : 0.1;
}

/* A steep rise of 0.1 m between x = -0.001 and x = 0, cut into many triangles. */
static void make_step(terrain *t, rng *r) {
  ground g = ground_grid(r, 2, 2, 16, 12, 0, step_up);
  for (int32_t i = 0; i < g.nvertex; ++i) {
    double *v = g.vertices + 3 * (size_t)i;
    if (fabs(v[0] + 0.125) < 1e-9) v[0] = -0.001;
  }
  terrain_make(t, g, TABI_SHAPE_TRIANGLES);
}

static int32_t count_along(const tbi_pair_point *p, int32_t count, v3 way, double *min) {
  int32_t found = 0;
  *min = INFINITY;
  for (int32_t i = 0; i < count; ++i) {
    if (-v3_dot(p[i].normal, way) < 0.999) continue;
    *min = fmin(*min, p[i].gap);
    ++found;
  }
  return found;
}

/* A box on the lower floor and against the rise, a little in both, touches both and is not told
 * that it is 0.1 m below the upper floor. */
static void test_concave_corner(void **state) {
  (void)state;
  rng r = rng_make(8);
  terrain t;
  make_step(&t, &r);
  v3 rise = v3_scale(1 / sqrt(0.1 * 0.1 + 1e-6), v3_make(-0.1, 0, 0.001));
  for (int i = 0; i < 50; ++i) {
    tbi_solid s = solid_make(TABI_SHAPE_BOX, 0.3, 0.2, i % 2 ? 0.3 : 0.05);
    double in = rng_between(&r, 1e-9, 1e-5);
    s.pos = v3_make(-0.001 - 0.15 + in, rng_between(&r, -0.5, 0.5), s.half[2] - in);
    tbi_pair_point p[TBI_PAIR_ROOM];
    double floor_gap, rise_gap;
    int32_t count = tbi_pair_collide(&s, &t.solid, 1e-4, p);
    assert_int_equal(count_along(p, count, v3_make(0, 0, 1), &floor_gap), 4);
    assert_true(count_along(p, count, rise, &rise_gap) >= 2);
    assert_near(floor_gap, -in, 1e-9);
    assert_near(rise_gap, -in, 2e-6 + in);
  }
  terrain_free(&t);
}

/* On the upper floor and over its border by a third. */
static void test_convex_edge(void **state) {
  (void)state;
  rng r = rng_make(9);
  terrain t;
  make_step(&t, &r);
  for (int i = 0; i < 50; ++i) {
    tbi_solid s = solid_make(TABI_SHAPE_BOX, 0.3, 0.2, 0.1);
    double in = rng_between(&r, 1e-9, 1e-5);
    s.pos = v3_make(0.05, rng_between(&r, -0.5, 0.5), 0.1 + 0.05 - in);
    tbi_pair_point p[TBI_PAIR_ROOM];
    int32_t count = tbi_pair_collide(&s, &t.solid, 1e-4, p);
    double min;
    double border = 1;
    assert_int_equal(count_along(p, count, v3_make(0, 0, 1), &min), count);
    assert_near(min, -in, 1e-9);
    for (int32_t k = 0; k < count; ++k)
      border = fmin(border, p[k].point.x);
    assert_near(border, 0, 1e-5); /* the edge bears it */
  }
  terrain_free(&t);
}

/* A box slides over triangles that are not in one plane: corners keep their ids. */
static void test_ids_persist(void **state) {
  (void)state;
  rng r = rng_make(10);
  terrain t;
  terrain_make(&t, ground_grid(&r, 4, 4, 80, 80, 0.3, NULL), TABI_SHAPE_HEIGHTFIELD);
  for (int i = 0; i < 500; ++i) {
    tbi_solid s = solid_make(TABI_SHAPE_BOX, 0.3, 0.2, 0.1);
    s = solid_at(s, v3_make(-1 + 0.004 * i, 0.3 - 0.001 * i, 0.05),
                 (q4){cos(0.001 * i), 0, 0, sin(0.001 * i)});
    tbi_pair_point p[TBI_PAIR_ROOM];
    assert_int_equal(tbi_pair_collide(&s, &t.solid, 1e-4, p), 4);
    for (uint32_t k = 0; k < 4; ++k)
      assert_int_equal(p[k].feature, 6 * k);
  }
  terrain_free(&t);
}

/* What is below a height field is pushed up from any depth; what is behind the nearest face of a
 * closed mesh leaves by it, and what is outside does not feel the faces behind. */
static void test_solid_below(void **state) {
  (void)state;
  rng r = rng_make(12);
  terrain t;
  terrain_make(&t, ground_grid(&r, 5, 5, 20, 20, 0.3, hills), TABI_SHAPE_HEIGHTFIELD);
  for (int i = 0; i < 100; ++i) {
    tbi_solid s = random_solid(&r, (tabi_shape_type)(TABI_SHAPE_SPHERE + i % 4), 1.0);
    s.pos.z = rng_between(&r, -5, -0.8);
    tbi_pair_point p[TBI_PAIR_ROOM];
    int32_t count = tbi_pair_collide(&s, &t.solid, 0.001, p);
    assert_true(count > 0);
    for (int32_t k = 0; k < count; ++k)
      assert_true(p[k].normal.z < -0.3 && p[k].gap < -0.1);
  }
  terrain_free(&t);

  terrain_make(&t, ground_box(v3_make(2, 2, 0.02)), TABI_SHAPE_TRIANGLES);
  tbi_pair_point p[TBI_PAIR_ROOM];
  tbi_solid ball = solid_make(TABI_SHAPE_SPHERE, 0.1, 0, 0);
  ball.pos = v3_make(0.3, 0.2, -0.1099);
  assert_int_equal(tbi_pair_collide(&ball, &t.solid, 0.001, p), 1);
  assert_near(p[0].gap, -1e-4, 1e-12); /* held from below by a plate of 2 cm */
  assert_near(p[0].normal.z, 1, 1e-12);
  ball.pos.z = 0.004; /* its middle is in the plate, nearer to its top */
  assert_int_equal(tbi_pair_collide(&ball, &t.solid, 0.001, p), 1);
  assert_near(p[0].gap, -0.106, 1e-12);
  assert_near(p[0].normal.z, -1, 1e-12);
  terrain_free(&t);
}

/* The nodes looked at for one small box grow as the depth of the tree does. */
static void test_tree_is_logarithmic(void **state) {
  (void)state;
  rng r = rng_make(13);
  const int32_t cells[3] = {8, 48, 288};
  for (int k = 0; k < 3; ++k) {
    terrain t;
    double width = cells[k];
    terrain_make(&t, ground_grid(&r, width, width, cells[k], cells[k], 0.3, NULL),
                 TABI_SHAPE_TRIANGLES);
    double visited = 0;
    for (int i = 0; i < 500; ++i) {
      double x = rng_between(&r, -0.5 * width, 0.5 * width);
      double y = rng_between(&r, -0.5 * width, 0.5 * width);
      const double low[3] = {x - 0.2, y - 0.2, -0.1};
      const double high[3] = {x + 0.2, y + 0.2, 0.1};
      tbi_trimesh_walk walk = tbi_trimesh_begin(&t.trimesh, low, high);
      while (tbi_trimesh_next(&walk) != TABI_NONE) {
      }
      visited += walk.visited / 500.0;
    }
    double depth = log2(t.g.nface);
    print_message("%7d triangles: %.0f nodes, %.1f levels\n", t.g.nface, visited, depth);
    assert_true(visited < 4 * depth + 20);
    terrain_free(&t);
  }
}

static bool box_meets(const ground *g, int32_t face, const double low[3], const double high[3]) {
  for (int k = 0; k < 3; ++k) {
    double min = INFINITY;
    double max = -INFINITY;
    for (int corner = 0; corner < 3; ++corner) {
      size_t vertex = (size_t)g->faces[3 * (size_t)face + (size_t)corner];
      min = fmin(min, g->vertices[3 * vertex + (size_t)k]);
      max = fmax(max, g->vertices[3 * vertex + (size_t)k]);
    }
    if (min > high[k] || max < low[k]) return false;
  }
  return true;
}

/* The walk misses none of the faces whose boxes meet its own, and tells of none twice. */
static void test_walk_is_complete(void **state) {
  (void)state;
  rng r = rng_make(14);
  terrain t;
  terrain_make(&t, ground_grid(&r, 5, 5, 20, 20, 0.3, hills), TABI_SHAPE_TRIANGLES);
  for (int i = 0; i < 200; ++i) {
    double low[3], high[3];
    bool seen[800] = {false};
    rng_fill(&r, 2, low, 3);
    for (int k = 0; k < 3; ++k)
      high[k] = low[k] + rng_between(&r, 0, 1);
    tbi_trimesh_walk walk = tbi_trimesh_begin(&t.trimesh, low, high);
    for (int32_t f = tbi_trimesh_next(&walk); f != TABI_NONE; f = tbi_trimesh_next(&walk)) {
      assert_false(seen[f]);
      seen[f] = true;
    }
    for (int32_t f = 0; f < t.g.nface; ++f)
      assert_int_equal(seen[f], box_meets(&t.g, f, low, high));
  }
  terrain_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_distances),
      cmocka_unit_test(test_ball_touches_where_it_is_nearest),
      cmocka_unit_test(test_motion),
      cmocka_unit_test(test_concave_corner),
      cmocka_unit_test(test_convex_edge),
      cmocka_unit_test(test_ids_persist),
      cmocka_unit_test(test_solid_below),
      cmocka_unit_test(test_tree_is_logarithmic),
      cmocka_unit_test(test_walk_is_complete),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
