/* test_separation.c - what collision keeps between passes saves time and changes nothing, and
 * farthest vertices of hulls are found by climbing. */
#include "collision/hulls.h"
#include "collision/scene.h"
#include "collision/support.h"
#include "collision/workspace.h"
#include "support/near.h"

#include <stdlib.h>
#include <string.h>

enum { LINKS = 7, PASSES = 400 };

static void add_hull(tabi_builder *builder, rng *r, int32_t link) {
  tabi_mesh_def mesh = hull_random(r, 0.2);
  tabi_shape_def shape = tabi_shape_def_default();
  shape.type = TABI_SHAPE_MESH;
  shape.link = link;
  shape.mesh = tabi_builder_add_mesh(builder, &mesh);
  tabi_builder_add_shape(builder, &shape);
  hull_free(&mesh);
}

static void add_shape(tabi_builder *builder, rng *r, int32_t link) {
  switch (rng_below(r, 5)) {
  case 0:
    scene_shape(builder, link, TABI_SHAPE_BOX, 0.2, 0.1, 0.3);
    break;
  case 1:
    scene_shape(builder, link, TABI_SHAPE_CAPSULE, 0.06, 0.2, 0);
    break;
  case 2:
    scene_shape(builder, link, TABI_SHAPE_CYLINDER, 0.08, 0.2, 0);
    break;
  default:
    add_hull(builder, r, link);
  }
}

/* A free root with limbs of ball joints whose shapes are at the end of an arm. */
static tabi_builder *build_robot(uint64_t seed) {
  rng r = rng_make(seed);
  tabi_builder *builder = tabi_builder_create();
  for (int32_t i = 0; i < LINKS; ++i) {
    tabi_link_def link = tabi_link_def_default();
    link.mass = 1;
    link.inertia[0] = link.inertia[1] = link.inertia[2] = 0.01;
    tabi_joint_def joint = tabi_joint_def_default();
    joint.child = tabi_builder_add_link(builder, &link);
    joint.parent = i == 0 ? TABI_WORLD : rng_below(&r, i);
    joint.type = i == 0 ? TABI_JOINT_FREE : TABI_JOINT_BALL;
    if (i > 0) rng_direction(&r, joint.pos, 3);
    for (int k = 0; k < 3; ++k)
      joint.pos[k] *= 0.3;
    tabi_builder_add_joint(builder, &joint);
    add_shape(builder, &r, joint.child);
  }
  return builder;
}

static void make_anew(scene *s) {
  size_t size = tbi_collision_memsize(s->model);
  memset(s->memory, 0, size + tbi_collision_scratch(s->model));
  s->collision = tbi_collision_make(s->model, s->memory, (char *)s->memory + size);
}

static void assert_same(const scene *a, const scene *b) {
  assert_int_equal(a->ncandidate, b->ncandidate);
  for (int32_t i = 0; i < a->ncandidate; ++i) {
    const tbi_candidate *x = &a->candidate[i];
    const tbi_candidate *y = &b->candidate[i];
    assert_int_equal(x->shape_a, y->shape_a);
    assert_int_equal(x->shape_b, y->shape_b);
    assert_int_equal(x->feature, y->feature);
    assert_memory_equal(&x->gap, &y->gap, sizeof x->gap);
    assert_memory_equal(&x->normal, &y->normal, sizeof x->normal);
  }
}

/* One robot thrashes about, now slowly, now in jumps: the workspace that remembers finds what one
 * that was made a moment ago finds, to the last bit. */
static void test_changes_nothing(void **state) {
  (void)state;
  int64_t touching = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    scene kept, anew;
    scene_make(&kept, build_robot(seed), 0.002);
    scene_make(&anew, build_robot(seed), 0.002);
    rng r = rng_make(seed + 100);
    assert_true(kept.collision->nseparation > 0);
    for (int pass = 0; pass < PASSES; ++pass) {
      double speed = rng_below(&r, 40) == 0 ? 3 : 0.02;
      for (int32_t i = 0; i < kept.model->nv; ++i)
        kept.v[i] = speed * (rng_unit(&r) - 0.5);
      tabi_model_integrate(kept.model, kept.q, kept.v, 1, kept.q);
      memcpy(anew.q, kept.q, (size_t)kept.model->nq * sizeof *kept.q);
      make_anew(&anew);
      scene_collide(&kept);
      scene_collide(&anew);
      assert_same(&kept, &anew);
      touching += kept.ncandidate;
    }
    scene_free(&kept);
    scene_free(&anew);
  }
  assert_true(touching > 1000);
}

static tabi_mesh_def round_hull(uint64_t seed) {
  enum { POINTS = 300 };
  rng r = rng_make(seed);
  double points[3 * POINTS];
  for (int32_t i = 0; i < POINTS; ++i)
    rng_direction(&r, points + 3 * (ptrdiff_t)i, 3);
  return hull_make(points, POINTS);
}

static double farthest_of_all(const tabi_mesh_def *mesh, v3 dir) {
  double max = -INFINITY;
  for (int32_t i = 0; i < mesh->nvertex; ++i)
    max = fmax(max, v3_dot(v3_load(mesh->vertices + 3 * (ptrdiff_t)i), dir));
  return max;
}

/* Adds a mesh, dented if wanted, as the shape of a free body. */
static tabi_builder *build_ball(uint64_t seed, bool dented) {
  tabi_mesh_def mesh = round_hull(seed);
  double *dent = (double *)mesh.vertices;
  for (int k = 0; dented && k < 3; ++k)
    dent[k] *= 0.5;
  tabi_builder *builder = tabi_builder_create();
  tabi_shape_def shape = tabi_shape_def_default();
  shape.type = TABI_SHAPE_MESH;
  shape.link = scene_link(builder, TABI_WORLD, TABI_JOINT_FREE);
  shape.mesh = tabi_builder_add_mesh(builder, &mesh);
  tabi_builder_add_shape(builder, &shape);
  hull_free(&mesh);
  return builder;
}

static void test_climbing(void **state) {
  (void)state;
  scene s;
  scene_make(&s, build_ball(7, false), 0);
  const tbi_hull *hull = &s.model->hull[0];
  assert_non_null(hull->first);
  tbi_solid solid = {.type = TABI_SHAPE_MESH, .mesh = &s.model->mesh[0], .hull = hull};
  solid.axis[0].x = solid.axis[1].y = solid.axis[2].z = 1;
  rng r = rng_make(8);
  for (int i = 0; i < 20000; ++i) {
    double d[3];
    rng_direction(&r, d, 3);
    v3 dir = v3_load(d);
    assert_near(v3_dot(tbi_support(&solid, dir), dir), farthest_of_all(solid.mesh, dir), 0);
  }
  scene_free(&s);
}

/* A mesh that is not convex has no graph, so that all its vertices are asked. */
static void test_dent(void **state) {
  (void)state;
  scene s;
  scene_make(&s, build_ball(7, true), 0);
  assert_null(s.model->hull[0].first);
  scene_free(&s);
}

/* Upper arm, forearm and hand, each a bar of 0.3 m with joints about y at its ends; elbow and wrist
 * turn so far. */
static void build_arm(tabi_builder *builder, double limit) {
  int32_t parent = TABI_WORLD;
  for (int i = 0; i < 3; ++i) {
    tabi_link_def link = tabi_link_def_default();
    link.mass = 1;
    link.inertia[0] = link.inertia[1] = link.inertia[2] = 0.01;
    tabi_joint_def joint = tabi_joint_def_default();
    joint.child = tabi_builder_add_link(builder, &link);
    joint.parent = parent;
    joint.type = i == 0 ? TABI_JOINT_FREE : TABI_JOINT_REVOLUTE;
    joint.pos[0] = i == 0 ? 0 : 0.3;
    joint.axis[0] = joint.axis[2] = 0;
    joint.axis[1] = 1;
    joint.lower = -limit;
    joint.upper = limit;
    tabi_builder_add_joint(builder, &joint);
    tabi_shape_def bar = tabi_shape_def_default();
    bar.type = TABI_SHAPE_BOX;
    bar.link = parent = joint.child;
    bar.pos[0] = 0.15;
    bar.size[0] = 0.28;
    bar.size[1] = bar.size[2] = 0.04;
    tabi_builder_add_shape(builder, &bar);
  }
}

/* Hand and upper arm meet first when elbow and wrist turn by about 2.1 rad each, since the three
 * bars then close a triangle. */
static void test_limits(void **state) {
  (void)state;
  static const struct {
    double limit;
    bool apart;
  } arm[] = {
      {0.5, true },
      {1.2, true },
      {2.5, false},
      {3,   false},
  };
  for (size_t i = 0; i < sizeof arm / sizeof *arm; ++i) {
    tabi_builder *builder = tabi_builder_create();
    build_arm(builder, arm[i].limit);
    scene s;
    scene_make(&s, builder, 0);
    int32_t budget = 5000;
    assert_int_equal(tbi_collision_never_meet(s.collision, 0, 2, &budget), arm[i].apart);
    assert_int_equal(tbi_collision_never_meet(s.collision, 2, 0, &budget), arm[i].apart);
    /* what it may not measure it cannot prove */
    budget = 0;
    assert_false(arm[i].limit > 1 && tbi_collision_never_meet(s.collision, 0, 2, &budget));
    scene_free(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_changes_nothing),
      cmocka_unit_test(test_climbing),
      cmocka_unit_test(test_dent),
      cmocka_unit_test(test_limits),
  };
  return cmocka_run_group_tests_name("collision.separation", tests, NULL, NULL);
}
