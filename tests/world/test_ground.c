/* test_ground.c - ground made of triangles holds, carries and lets slide what a plane does: the
 * cuts between its triangles are not felt, and what is not flat is stood on without creeping. */
#include "support/ground.h"
#include "support/near.h"
#include "support/scene_build.h"

#include <stdlib.h>
#include <string.h>

typedef enum cut { CUT_PLANE, CUT_RANDOM, CUT_THIN, CUT_FIELD, CUT_ROUNDED } cut;

static const char *const cut_names[] = {"plane", "random", "thin", "field"};

/* as good as random, a micrometre at most */
static double grain(double x, double y) {
  double noise = 1e5 * sin(12.9898 * x + 78.233 * y);
  return 1e-6 * (noise - floor(noise));
}

/* A flat floor around the origin, tilted about y. */
static void add_floor(scene *s, cut how, double tilt, int32_t material) {
  rng r = rng_make(11);
  double quat[4];
  q_store(scene_tilt(tilt), quat);
  ground g;
  switch (how) {
  case CUT_RANDOM:
    g = ground_grid(&r, 12, 6, 90, 45, 0.35, NULL);
    ground_add(s->builder, &g, TABI_SHAPE_TRIANGLES, quat, material);
    break;
  case CUT_ROUNDED:
    g = ground_grid(&r, 12, 6, 240, 120, 0.35, grain);
    ground_add(s->builder, &g, TABI_SHAPE_TRIANGLES, quat, material);
    break;
  case CUT_THIN:
    g = ground_grid(&r, 12, 6, 1200, 2, 0.2, NULL);
    ground_add(s->builder, &g, TABI_SHAPE_TRIANGLES, quat, material);
    break;
  case CUT_FIELD:
    g = ground_grid(&r, 12, 6, 120, 60, 0, NULL);
    ground_add(s->builder, &g, TABI_SHAPE_HEIGHTFIELD, quat, material);
    break;
  default:
    scene_plane(s, tilt, material);
  }
}

/* a hull with eight corners, of no symmetry but flat below */
static int32_t add_hull(scene *s) {
  static const double vertices[24] = {-0.1,  -0.05, -0.04, 0.12,  -0.06, -0.04, 0.1,  0.07,
                                      -0.04, -0.09, 0.06,  -0.04, -0.05, -0.03, 0.05, 0.06,
                                      -0.02, 0.05,  0.05,  0.03,  0.06,  -0.04, 0.04, 0.05};
  static const int32_t faces[36] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                    1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};
  tabi_mesh_def mesh = tabi_mesh_def_default();
  mesh.name = "hull";
  mesh.nvertex = 8;
  mesh.nface = 12;
  mesh.vertices = vertices;
  mesh.faces = faces;
  return tabi_builder_add_mesh(s->builder, &mesh);
}

typedef struct mover {
  const char *name;
  tabi_shape_type type;
  v3 size;
  double height; /* of its middle above the floor */
  q4 turn;
} mover;

static const double half_root = 0.70710678118654752;

static v3 turned(q4 turn, v3 a) {
  m3 rot = q_matrix(turn);
  return m3_mulv(&rot, a);
}

static int32_t add_mover(scene *s, const mover *m, int32_t material) {
  int32_t link = scene_free(s, 2, v3_make(0.01, 0.012, 0.015), v3_make(0, 0, m->height));
  tabi_shape_def def = tabi_shape_def_default();
  def.type = m->type;
  def.link = link;
  def.material = material;
  v3_store(m->size, def.size);
  if (m->type == TABI_SHAPE_MESH) def.mesh = add_hull(s);
  tabi_builder_add_shape(s->builder, &def);
  return link;
}

/* Runs for some seconds and keeps pose and velocity after every step. */
static double *record(const mover *m, cut how, double tilt, int steps) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.3, 0);
  int32_t link = add_mover(&s, m, stuff);
  add_floor(&s, how, tilt, stuff);
  scene_open(&s, NULL);
  q4 lean = scene_tilt(tilt);
  double q[7];
  v3_store(turned(lean, v3_make(-1, 0.3, m->height)), q);
  q_store(q_mul(lean, m->turn), q + 3);
  scene_set(&s, link, q, NULL);
  scene_set_velocity(&s, link, turned(lean, v3_make(1.2, 0.4, 0)),
                     turned(lean, v3_make(0, 0, 0.5)));
  double *track = malloc(13 * sizeof *track * (size_t)steps);
  assert_non_null(track);
  for (int i = 0; i < steps; ++i) {
    scene_run(&s, 1);
    double *to = track + 13 * (size_t)i;
    memcpy(to, scene_q(&s, link), 7 * sizeof *to);
    memcpy(to + 7, scene_v(&s, link), 6 * sizeof *to);
  }
  scene_close(&s);
  return track;
}

static double worst(const double *a, const double *b, int steps, int from, int to) {
  double max = 0;
  for (int i = 0; i < steps; ++i) {
    for (int k = from; k < to; ++k)
      max = fmax(max, fabs(a[13 * i + k] - b[13 * i + k]));
  }
  return max;
}

/* speed away from the floor */
static double rise(const double *track, int steps, double tilt) {
  v3 up = turned(scene_tilt(tilt), v3_make(0, 0, 1));
  double max = 0;
  for (int i = 0; i < steps; ++i)
    max = fmax(max, fabs(v3_dot(up, v3_load(track + 13 * (size_t)i + 7))));
  return max;
}

static void check_slide(const mover *m, double tilt) {
  const int steps = TEST_SHORT ? 800 : 2000;
  double *plane = record(m, CUT_PLANE, tilt, steps);
  for (cut how = CUT_RANDOM; how <= CUT_FIELD; ++how) {
    double *track = record(m, how, tilt, steps);
    double apart = worst(plane, track, steps, 0, 7);
    double faster = worst(plane, track, steps, 7, 13);
    double up = rise(track, steps, tilt) - rise(plane, steps, tilt);
    print_message("%-8s on %-6s tilted %.1f: off by %.1e m, %.1e m/s; rising by %.1e\n", m->name,
                  cut_names[how], tilt, apart, faster, up);
    assert_true(apart < 1e-9 && faster < 1e-9);
    assert_true(up < 1e-9);
    free(track);
  }
  free(plane);
}

static void test_slides_as_on_plane(void **state) {
  (void)state;
  const mover movers[] = {
      {"sphere",   TABI_SHAPE_SPHERE,   {0.1, 0, 0},     0.1,  {1, 0, 0, 0}                },
      {"capsule",  TABI_SHAPE_CAPSULE,  {0.06, 0.3, 0},  0.06, {half_root, 0, half_root, 0}},
      {"cylinder", TABI_SHAPE_CYLINDER, {0.07, 0.1, 0},  0.05, {1, 0, 0, 0}                },
      {"box",      TABI_SHAPE_BOX,      {0.3, 0.2, 0.1}, 0.05, {1, 0, 0, 0}                },
      {"hull",     TABI_SHAPE_MESH,     {0, 0, 0},       0.04, {1, 0, 0, 0}                },
  };
  for (size_t i = 0; i < sizeof movers / sizeof *movers; ++i) {
    check_slide(&movers[i], 0);
    check_slide(&movers[i], 0.2);
  }
}

/* A plane whose file has rounded its coordinates to a micrometre: what slides over it feels no more
 * than that, and is caught by no edge. */
static void test_rounding_does_not_catch(void **state) {
  (void)state;
  const mover box = {
      "box", TABI_SHAPE_BOX, {0.3, 0.2, 0.1},
        0.05 + 2e-6, { 1,  0,   0,   0}
  };
  const int steps = TEST_SHORT ? 600 : 1000;
  double *plane = record(&box, CUT_PLANE, 0, steps);
  double *track = record(&box, CUT_ROUNDED, 0, steps);
  double apart = worst(plane, track, steps, 0, 2);
  double up = rise(track, steps, 0);
  print_message("on a rounded plane: off by %.1e m, rising at %.1e m/s\n", apart, up);
  assert_true(apart < 1e-3);
  assert_true(up < 0.03);
  free(plane);
  free(track);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_slides_as_on_plane),
      cmocka_unit_test(test_rounding_does_not_catch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
