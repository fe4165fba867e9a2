/* polyhedra.c - see polyhedra.h; nothing here is fast. */
#include "collision/polyhedra.h"

#include "collision/closest.h"
#include "support/near.h"

static void add_edge(polyhedron *p, int32_t from, int32_t to) {
  if (from > to) return; /* each edge once: the other triangle has it the other way round */
  assert_true(p->nedge < 2 * POLYHEDRON_ROOM);
  p->edge[p->nedge][0] = from;
  p->edge[p->nedge++][1] = to;
}

static void add_face(polyhedron *p, int32_t i, int32_t j, int32_t k) {
  v3 x = p->corner[i];
  v3 n = v3_cross(v3_sub(p->corner[j], x), v3_sub(p->corner[k], x));
  assert_true(p->nface < POLYHEDRON_ROOM && v3_norm(n) > 0);
  const int32_t corners[3] = {i, j, k};
  for (int c = 0; c < 3; ++c) {
    p->face[p->nface][c] = corners[c];
    add_edge(p, corners[c], corners[(c + 1) % 3]);
  }
  p->normal[p->nface++] = v3_scale(1 / v3_norm(n), n);
}

static void add_box(polyhedron *p, const tbi_solid *box) {
  for (int k = 0; k < 8; ++k) {
    v3 x = v3_make(k & 1 ? box->half[0] : -box->half[0], k & 2 ? box->half[1] : -box->half[1],
                   k & 4 ? box->half[2] : -box->half[2]);
    p->corner[p->ncorner++] = v3_add(box->pos, tbi_solid_world(box, x));
  }
  static const int32_t side[6][4] = {
      {0, 4, 6, 2},
      {1, 3, 7, 5},
      {0, 1, 5, 4},
      {2, 6, 7, 3},
      {0, 2, 3, 1},
      {4, 5, 7, 6}
  };
  for (int s = 0; s < 6; ++s) {
    add_face(p, side[s][0], side[s][1], side[s][2]);
    add_face(p, side[s][0], side[s][2], side[s][3]);
  }
}

polyhedron polyhedron_of(const tbi_solid *solid) {
  polyhedron p = {.ncorner = 0};
  if (solid->type == TABI_SHAPE_BOX) {
    add_box(&p, solid);
    return p;
  }
  const tabi_mesh_def *mesh = solid->mesh;
  assert_true(mesh->nvertex <= POLYHEDRON_ROOM);
  for (int32_t i = 0; i < mesh->nvertex; ++i)
    p.corner[p.ncorner++] =
        v3_add(solid->pos, tbi_solid_world(solid, v3_load(mesh->vertices + 3 * (size_t)i)));
  for (int32_t i = 0; i < mesh->nface; ++i) {
    const int32_t *f = mesh->faces + 3 * (size_t)i;
    add_face(&p, f[0], f[1], f[2]);
  }
  return p;
}

static double reach(const polyhedron *p, v3 n) {
  double max = -INFINITY;
  for (int32_t i = 0; i < p->ncorner; ++i)
    max = fmax(max, v3_dot(p->corner[i], n));
  return max;
}

static void keep_best(const polyhedron *a, const polyhedron *b, v3 n, double *best, v3 *normal) {
  double gap = -reach(b, v3_neg(n)) - reach(a, n);
  if (!(gap > *best)) return;
  *best = gap;
  *normal = n;
}

/* the largest gap along any normal of a face or of two edges */
static double part(const polyhedron *a, const polyhedron *b, v3 *normal) {
  double best = -INFINITY;
  for (int32_t i = 0; i < a->nface; ++i)
    keep_best(a, b, a->normal[i], &best, normal);
  for (int32_t i = 0; i < b->nface; ++i)
    keep_best(a, b, v3_neg(b->normal[i]), &best, normal);
  for (int32_t i = 0; i < a->nedge; ++i) {
    v3 along = v3_sub(a->corner[a->edge[i][1]], a->corner[a->edge[i][0]]);
    for (int32_t j = 0; j < b->nedge; ++j) {
      v3 n = v3_cross(along, v3_sub(b->corner[b->edge[j][1]], b->corner[b->edge[j][0]]));
      double length = v3_norm(n);
      if (!(length > 1e-9 * v3_norm(along))) continue;
      keep_best(a, b, v3_scale(1 / length, n), &best, normal);
      keep_best(a, b, v3_scale(-1 / length, n), &best, normal);
    }
  }
  return best;
}

/* The nearest point of a triangle, where it is inside; the edges are tried by themselves. */
static bool drop_on_face(const polyhedron *p, int32_t face, v3 x, v3 *foot) {
  v3 n = p->normal[face];
  *foot = v3_axpy(x, -v3_dot(n, v3_sub(x, p->corner[p->face[face][0]])), n);
  for (int k = 0; k < 3; ++k) {
    v3 from = p->corner[p->face[face][k]];
    v3 along = v3_sub(p->corner[p->face[face][(k + 1) % 3]], from);
    if (v3_dot(v3_cross(along, v3_sub(*foot, from)), n) < 0) return false;
  }
  return true;
}

static void keep_nearer(v3 from, v3 to, double *nearest, v3 *line) {
  v3 apart = v3_sub(to, from);
  double distance = v3_norm(apart);
  if (!(distance < *nearest)) return;
  *nearest = distance;
  *line = apart;
}

static void corners_to_faces(const polyhedron *a, const polyhedron *b, double sign, double *nearest,
                             v3 *line) {
  for (int32_t i = 0; i < b->ncorner; ++i) {
    for (int32_t j = 0; j < a->nface; ++j) {
      v3 foot;
      double before = *nearest;
      if (drop_on_face(a, j, b->corner[i], &foot)) keep_nearer(foot, b->corner[i], nearest, line);
      if (*nearest < before) *line = v3_scale(sign, *line);
    }
  }
}

static tbi_segment segment_of(const polyhedron *p, int32_t edge) {
  v3 from = p->corner[p->edge[edge][0]];
  v3 along = v3_sub(p->corner[p->edge[edge][1]], from);
  double length = v3_norm(along);
  return (tbi_segment){v3_axpy(from, 0.5, along), v3_scale(1 / length, along), 0.5 * length};
}

static double distance(const polyhedron *a, const polyhedron *b, v3 *line) {
  double nearest = INFINITY;
  corners_to_faces(a, b, 1, &nearest, line);
  corners_to_faces(b, a, -1, &nearest, line);
  for (int32_t i = 0; i < a->nedge; ++i) {
    tbi_segment s = segment_of(a, i);
    for (int32_t j = 0; j < b->nedge; ++j) {
      tbi_segment o = segment_of(b, j);
      double t[2];
      tbi_nearest_segments(&s, &o, t);
      keep_nearer(tbi_segment_at(&s, t[0]), tbi_segment_at(&o, t[1]), &nearest, line);
    }
  }
  return nearest;
}

double polyhedra_separation(const polyhedron *a, const polyhedron *b, v3 *normal) {
  double gap = part(a, b, normal);
  if (gap <= 0) return gap;
  v3 line;
  double apart = distance(a, b, &line);
  /* bodies that all but touch have no line between them */
  if (apart > gap) *normal = v3_scale(1 / apart, line);
  return fmax(apart, gap);
}
