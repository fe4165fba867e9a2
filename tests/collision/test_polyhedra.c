/* test_polyhedra.c - hulls and boxes against each other, measured by trying all that can part them.
 *
 * Faces on faces and edges along edges, parallel but for angles of 1e-8 to 0.1, and bodies turned
 * at random; overlapping, touching and apart, some deep in each other.  The deepest point is as
 * deep as they are, but for the micrometre by which normals of faces are preferred. */
#include "collision/hulls.h"
#include "collision/polyhedra.h"
#include "support/near.h"

#define TRIALS 400 /* of each kind */
#define MARGIN 0.02

typedef struct couple {
  tbi_solid a, b;
  tabi_mesh_def hull_a, hull_b;
} couple;

static tbi_solid make_solid(rng *r, tabi_shape_type type, tabi_mesh_def *hull) {
  tbi_solid solid = random_solid(r, type, 0.1);
  const double straight[4] = {1, 0, 0, 0};
  *hull = rng_below(r, 4) == 0 ? hull_box(rng_between(r, 0.05, 0.5), rng_between(r, 0.05, 0.5),
                                          rng_between(r, 0.05, 0.5), straight)
                               : hull_random(r, rng_between(r, 0.1, 0.4));
  if (type == TABI_SHAPE_MESH) solid.mesh = hull;
  return solid;
}

static v3 random_direction(rng *r) {
  double way[3];
  rng_direction(r, way, 3);
  return v3_load(way);
}

/* b turned so that `from` looks along `to`, both unit, and a little more */
static void turn_to(rng *r, tbi_solid *b, v3 from, v3 to) {
  v3 axis = v3_cross(from, to);
  double sine = v3_norm(axis);
  v3 turn = sine > 0 ? v3_scale(atan2(sine, v3_dot(from, to)) / sine, axis) : v3_zero();
  tbi_frame there = {q_matrix(q_exp(turn)), v3_zero()};
  double little = pow(10, -rng_between(r, 1, 8));
  tbi_frame more = {q_matrix(q_exp(v3_scale(little, random_direction(r)))), v3_zero()};
  *b = solid_moved(b, &there);
  *b = solid_moved(b, &more);
}

static v3 edge_of(const polyhedron *p, int32_t i, v3 *middle) {
  v3 from = p->corner[p->edge[i][0]];
  v3 along = v3_sub(p->corner[p->edge[i][1]], from);
  *middle = v3_axpy(from, 0.5, along);
  return v3_scale(1 / v3_norm(along), along);
}

static v3 face_of(const polyhedron *p, int32_t i, v3 *middle) {
  v3 sum = v3_zero();
  for (int k = 0; k < 3; ++k)
    sum = v3_axpy(sum, 1.0 / 3, p->corner[p->face[i][k]]);
  *middle = sum;
  return p->normal[i];
}

typedef enum placing { TURNED, FACE_ON_FACE, EDGE_ON_EDGE, DEEP, KINDS } placing;

/* A face or edge of b on one of a, or anything near anything. */
static void place(couple *c, rng *r, placing kind) {
  v3 (*part_of)(const polyhedron *, int32_t, v3 *) = kind == EDGE_ON_EDGE ? edge_of : face_of;
  polyhedron a = polyhedron_of(&c->a);
  polyhedron b = polyhedron_of(&c->b);
  int32_t ia = rng_below(r, kind == EDGE_ON_EDGE ? a.nedge : a.nface);
  int32_t ib = rng_below(r, kind == EDGE_ON_EDGE ? b.nedge : b.nface);
  v3 at, to;
  v3 on_a = part_of(&a, ia, &at);
  v3 on_b = part_of(&b, ib, &to);
  if (kind == FACE_ON_FACE) turn_to(r, &c->b, on_b, v3_neg(on_a));
  if (kind == EDGE_ON_EDGE) turn_to(r, &c->b, on_b, on_a);
  b = polyhedron_of(&c->b);
  (void)part_of(&b, ib, &to);
  v3 beside = v3_scale(rng_between(r, 0, 0.05), random_direction(r));
  c->b.pos = v3_add(c->b.pos, v3_add(beside, v3_sub(at, to)));
}

/* b moved so that the two are so far apart */
static double press(couple *c, double wanted) {
  polyhedron a = polyhedron_of(&c->a);
  double gap = 0;
  for (int i = 0; i < 4; ++i) {
    v3 normal;
    polyhedron b = polyhedron_of(&c->b);
    gap = polyhedra_separation(&a, &b, &normal);
    if (fabs(gap - wanted) < 1e-12 || i == 3) break;
    c->b.pos = v3_axpy(c->b.pos, wanted - gap, normal);
  }
  return gap;
}

/* Where parallel edges meet, the normal is between those of the faces around them, and what it
 * parts is deeper than they are. */
static void check(const couple *c, double exact, placing kind, int trial) {
  tbi_pair_point points[TBI_PAIR_ROOM];
  int32_t count = tbi_pair_collide(&c->a, &c->b, MARGIN, points);
  assert_true(count > 0);
  check_manifold(&c->a, &c->b, MARGIN, points, count);
  double gap = min_gap(points, count);
  if (!(fabs(gap - exact) <= 1.1e-6))
    fail_msg("kind %d, trial %d: gap %.9g m, exact %.9g m", (int)kind, trial, gap, exact);
  double along = solid_gap_along(&c->a, &c->b, points[0].normal);
  assert_true(along >= exact - (1e-5 + 0.5 * fabs(exact)));
}

static void test_kind(rng *r, tabi_shape_type type, placing kind) {
  for (int trial = 0; trial < TRIALS; ++trial) {
    couple c;
    c.a = make_solid(r, type, &c.hull_a);
    c.b = make_solid(r, TABI_SHAPE_MESH, &c.hull_b);
    place(&c, r, kind);
    double wanted = copysign(pow(10, -rng_between(r, 2.3, 8)), rng_between(r, -1, 0.5));
    if (kind == DEEP) wanted = -rng_between(r, 5e-3, 0.05);
    check(&c, press(&c, wanted), kind, trial);
    hull_free(&c.hull_a);
    hull_free(&c.hull_b);
  }
}

static void test_separation(void **state) {
  (void)state;
  rng r = rng_make(91);
  for (placing kind = TURNED; kind < KINDS; ++kind) {
    test_kind(&r, TABI_SHAPE_MESH, kind);
    test_kind(&r, TABI_SHAPE_BOX, kind);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_separation)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
