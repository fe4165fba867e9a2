/* test_mesh_simplify.c - simplified meshes keep to their budget, to the bounds and, by volume and
 * normals, to the shape of the original; whatever mesh it is. */
#include "mesh_simplify.h"
#include "support/near.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PI 3.14159265358979323846

/* A mesh that is made here; all zero is empty. */
typedef struct solid {
  double *vertices;
  int32_t *faces;
  int32_t nvertex, nface;
} solid;

static solid solid_make(size_t nvertex, size_t nface) {
  solid s = {.vertices = calloc(3 * nvertex + 1, sizeof *s.vertices),
             .faces = calloc(3 * nface + 1, sizeof *s.faces)};
  assert_true(s.vertices && s.faces);
  return s;
}

static void solid_free(solid *s) {
  free(s->vertices);
  free(s->faces);
}

static void put_vertex(solid *s, double x, double y, double z) {
  memcpy(s->vertices + 3 * (size_t)s->nvertex++, (const double[3]){x, y, z}, 3 * sizeof(double));
}

static void put_face(solid *s, int32_t a, int32_t b, int32_t c) {
  memcpy(s->faces + 3 * (size_t)s->nface++, (const int32_t[3]){a, b, c}, 3 * sizeof(int32_t));
}

static tabi_mesh_def mesh_of(const solid *s) {
  tabi_mesh_def mesh = tabi_mesh_def_default();
  mesh.nvertex = s->nvertex;
  mesh.nface = s->nface;
  mesh.vertices = s->vertices;
  mesh.faces = s->faces;
  return mesh;
}

static tbi_simple_mesh simple_of(const solid *s) {
  tbi_simple_mesh simple;
  tabi_mesh_def mesh = mesh_of(s);
  assert_true(tbi_simple_mesh_create(&simple, &mesh));
  return simple;
}

/* A round solid about z: rings of so many corners with radius and height profile[k][2], closed by a
 * point at either end.  Every corner has a vertex of its own, as in an STL file. */
static solid turned(int rings, int corners, double (*profile)[2]) {
  solid s = solid_make(6 * (size_t)rings * (size_t)corners, 2 * (size_t)rings * (size_t)corners);
  for (int i = 0; i <= rings; ++i) {
    for (int k = 0; k < corners; ++k) {
      double at[4][3];
      for (int e = 0; e < 4; ++e) {
        int ring = i - 1 + (e >> 1);
        bool end = ring < 0 || ring >= rings;
        double angle = 2 * PI * ((k + (e & 1)) % corners) / corners;
        double r = end ? 0 : profile[ring][0];
        double z = end ? profile[ring < 0 ? 0 : rings - 1][1] : profile[ring][1];
        memcpy(at[e], (const double[3]){r * cos(angle), r * sin(angle), z}, sizeof at[e]);
      }
      static const int order[2][3] = {
          {0, 1, 3},
          {0, 3, 2}
      };
      for (int t = 0; t < 2; ++t) {
        if ((i == 0 && t == 0) || (i == rings && t == 1)) continue;
        for (int c = 0; c < 3; ++c)
          put_vertex(&s, at[order[t][c]][0], at[order[t][c]][1], at[order[t][c]][2]);
        put_face(&s, s.nvertex - 3, s.nvertex - 2, s.nvertex - 1);
      }
    }
  }
  return s;
}

static solid ball(int rings, int corners, double size) {
  double(*profile)[2] = malloc((size_t)rings * sizeof *profile);
  assert_non_null(profile);
  for (int i = 0; i < rings; ++i) {
    double angle = PI * (i + 0.5) / rings;
    profile[i][0] = size * sin(angle);
    profile[i][1] = -size * cos(angle);
  }
  solid s = turned(rings, corners, profile);
  free(profile);
  return s;
}

static solid rod(int rings, int corners, double radius, double length) {
  double(*profile)[2] = malloc((size_t)rings * sizeof *profile);
  assert_non_null(profile);
  for (int i = 0; i < rings; ++i) {
    profile[i][0] = radius;
    profile[i][1] = length * i / (rings - 1);
  }
  solid s = turned(rings, corners, profile);
  free(profile);
  return s;
}

/* m^3, by the divergence theorem */
static double volume(const tbi_simple_mesh *m) {
  double sum = 0;
  for (size_t i = 0; i < m->ntriangle; ++i) {
    double p[3][3];
    for (int c = 0; c < 3; ++c) {
      for (int k = 0; k < 3; ++k)
        p[c][k] = (double)m->vertices[3 * (size_t)m->triangles[3 * i + (size_t)c] + (size_t)k];
    }
    for (int k = 0; k < 3; ++k) {
      int l = (k + 1) % 3, n = (k + 2) % 3;
      sum += p[0][k] * (p[1][l] * p[2][n] - p[1][n] * p[2][l]) / 6;
    }
  }
  return sum;
}

/* Indices are in range, and every vertex is one of the original, to single precision. */
static void check_bounds(const tbi_simple_mesh *m, const solid *s) {
  double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  for (size_t i = 0; i < 3 * (size_t)s->nvertex; ++i) {
    low[i % 3] = fmin(low[i % 3], s->vertices[i]);
    high[i % 3] = fmax(high[i % 3], s->vertices[i]);
  }
  for (size_t i = 0; i < 3 * m->ntriangle; ++i)
    assert_true(m->triangles[i] < m->nvertex);
  for (size_t i = 0; i < 3 * m->nvertex; ++i) {
    double x = (double)m->vertices[i], room = 1e-6 * (high[i % 3] - low[i % 3]) + 1e-9;
    assert_true(x >= low[i % 3] - room && x <= high[i % 3] + room);
  }
}

static double seconds(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A ball of 400 000 triangles: few are left, and they lie near the ball. */
static void balls_stay_round(void **state) {
  (void)state;
  static const size_t budget[] = {150000, 20000, 2000};
  const double size = 0.25;
  solid s = ball(450, 446, size);
  assert_true(s.nface > 400000);
  for (size_t b = 0; b < sizeof budget / sizeof *budget; ++b) {
    tbi_simple_mesh m = simple_of(&s);
    assert_true(m.nvertex < (size_t)s.nface); // welded: half as many vertices as triangles
    double begun = seconds();
    assert_true(tbi_simple_meshes_fit(&m, 1, budget[b]));
    assert_true(seconds() - begun < 20);
    assert_in_range(m.ntriangle, budget[b] * 9 / 10, budget[b]);
    check_bounds(&m, &s);
    // n even triangles of side a on a sphere: their middles are sunk by a^2 / 6 R
    double sunk = 4 * PI * size / (sqrt(3) * (double)budget[b] / 4) / 6;
    assert_near_rel(volume(&m), 4 * PI / 3 * size * size * size, 20 * sunk / size);
    for (size_t i = 0; i < m.ntriangle; ++i) {
      double middle = 0;
      for (size_t k = 0; k < 3; ++k) {
        double x = 0;
        for (size_t c = 0; c < 3; ++c)
          x += (double)m.vertices[3 * (size_t)m.triangles[3 * i + c] + k] / 3;
        middle += x * x;
      }
      // a pixel, where the ball is a thousand high
      assert_near(sqrt(middle), size, 2e-3 * size + 5 * sunk);
    }
    tbi_simple_mesh_destroy(&m);
  }
  solid_free(&s);
}

/* A shin beside a large trunk: thin parts keep their volume, and are no spikes. */
static void thin_parts_stay(void **state) {
  (void)state;
  solid shin = rod(600, 100, 4e-3, 0.4), trunk = ball(300, 300, 0.4);
  tbi_simple_mesh m[2] = {simple_of(&shin), simple_of(&trunk)};
  double before[2] = {volume(&m[0]), volume(&m[1])};
  assert_near_rel(before[0], PI * 1.6e-5 * 0.4, 1e-2);
  assert_true(tbi_simple_meshes_fit(m, 2, 15000));
  assert_in_range(m[0].ntriangle + m[1].ntriangle, 12000, 15000);
  assert_near_rel(volume(&m[0]), before[0], 0.1);
  assert_near_rel(volume(&m[1]), before[1], 0.01);
  check_bounds(&m[0], &shin);
  check_bounds(&m[1], &trunk);
  tbi_simple_mesh_destroy(&m[0]);
  tbi_simple_mesh_destroy(&m[1]);
  solid_free(&shin);
  solid_free(&trunk);
}

/* What is coarse already stays; the fine gives way. */
static void coarse_meshes_stay(void **state) {
  (void)state;
  solid fine = ball(300, 300, 0.1), coarse = ball(24, 24, 0.1);
  tbi_simple_mesh m[2] = {simple_of(&fine), simple_of(&coarse)};
  size_t had = m[1].ntriangle;
  assert_true(tbi_simple_meshes_fit(m, 2, 30000));
  assert_true(m[0].ntriangle + m[1].ntriangle <= 30000);
  assert_true(m[1].ntriangle >= had * 9 / 10);
  tbi_simple_mesh_destroy(&m[0]);
  tbi_simple_mesh_destroy(&m[1]);
  solid_free(&fine);
  solid_free(&coarse);
}

/* Within the budget nothing changes but that places are named once. */
static void small_meshes_are_welded_only(void **state) {
  (void)state;
  solid s = ball(40, 40, 1);
  tbi_simple_mesh m = simple_of(&s), same = simple_of(&s);
  assert_int_equal(m.ntriangle, s.nface);
  assert_int_equal(m.nvertex, s.nface / 2 + 2); // Euler
  assert_true(tbi_simple_meshes_fit(&m, 1, m.ntriangle));
  assert_int_equal(m.ntriangle, same.ntriangle);
  assert_memory_equal(m.vertices, same.vertices, 3 * m.nvertex * sizeof *m.vertices);
  assert_memory_equal(m.triangles, same.triangles, 3 * m.ntriangle * sizeof *m.triangles);
  assert_true(m.error == 0);
  tbi_simple_mesh_destroy(&m);
  tbi_simple_mesh_destroy(&same);
  solid_free(&s);
}

/* Fits and checks; what is left is for the caller to judge. */
static size_t left_of(const solid *s, size_t budget) {
  tbi_simple_mesh m = simple_of(s);
  assert_true(tbi_simple_meshes_fit(&m, 1, budget));
  check_bounds(&m, s);
  size_t left = m.ntriangle;
  tbi_simple_mesh_destroy(&m);
  return left;
}

/* Soups of triangles, fans around one edge, sheets without thickness: no topology to keep. */
static void anything_fits(void **state) {
  (void)state;
  rng r = rng_make(5);
  enum { MANY = 30000, BUDGET = 3000 };
  solid soup = solid_make(3 * (size_t)MANY, MANY), fan = solid_make(MANY + 2, MANY);
  for (int i = 0; i < MANY; ++i) {
    double at[3];
    rng_fill(&r, 1, at, 3);
    for (int c = 0; c < 3; ++c)
      put_vertex(&soup, at[0] + rng_between(&r, 0, 0.02), at[1] + rng_between(&r, 0, 0.02), at[2]);
    put_face(&soup, soup.nvertex - 3, soup.nvertex - 2, soup.nvertex - 1);
  }
  put_vertex(&fan, 0, 0, -1);
  put_vertex(&fan, 0, 0, 1);
  for (int i = 0; i < MANY; ++i) {
    put_vertex(&fan, cos(i * 2 * PI / MANY), sin(i * 2 * PI / MANY), 0);
    put_face(&fan, 0, 1, i + 2);
  }
  assert_in_range(left_of(&soup, BUDGET), 1, BUDGET);
  assert_in_range(left_of(&fan, BUDGET), 1, BUDGET);
  solid_free(&soup);
  solid_free(&fan);
}

static void degenerate_meshes_are_harmless(void **state) {
  (void)state;
  enum { MANY = 1000 };
  solid empty = solid_make(0, 0), point = solid_make(MANY, MANY), line = solid_make(MANY, MANY);
  solid twice = solid_make(4, 8), lonely = solid_make(MANY, 0);
  for (int i = 0; i < MANY; ++i) {
    put_vertex(&point, 1, 2, 3);
    put_vertex(&line, 0.001 * i, 0, 0);
    put_vertex(&lonely, i, i * i, 0);
    put_face(&point, i, (i + 1) % MANY, (i + 2) % MANY);
    put_face(&line, i, (i + 1) % MANY, (i + 2) % MANY);
  }
  for (int i = 0; i < 4; ++i)
    put_vertex(&twice, i == 1, i == 2, i == 3);
  for (int i = 0; i < 2; ++i) {
    put_face(&twice, 0, 2, 1);
    put_face(&twice, 0, 1, 3);
    put_face(&twice, 0, 3, 2);
    put_face(&twice, 1, 2, 3);
  }
  assert_int_equal(left_of(&empty, 10), 0);
  assert_int_equal(left_of(&lonely, 10), 0);
  assert_int_equal(left_of(&point, 10), 0);
  assert_int_equal(left_of(&line, 10), 0);
  assert_in_range(left_of(&twice, 4), 1, 8);
  assert_int_equal(left_of(&twice, 8), 8);
  assert_true(left_of(&twice, 0) <= 8);
  solid_free(&empty);
  solid_free(&lonely);
  solid_free(&point);
  solid_free(&line);
  solid_free(&twice);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(balls_stay_round),   cmocka_unit_test(thin_parts_stay),
      cmocka_unit_test(coarse_meshes_stay), cmocka_unit_test(small_meshes_are_welded_only),
      cmocka_unit_test(anything_fits),      cmocka_unit_test(degenerate_meshes_are_harmless),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
