/* hrp_shape.c - shapes below nested transforms.
 *
 * A transform of VRML may turn, move and stretch, and a stretch above a turn shears.  What a
 * primitive shape of ours can represent becomes one; everything else becomes a mesh, whose vertices
 * are put where the transform puts them. */
#include "base/array.h"
#include "base/assertion.h"
#include "io/hrp/hrp_robot.h"
#include "io/report.h"
#include "io/weld.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIDES       32   /* of round solids that become meshes */
#define RINGS       8    /* of each half of a ball that does */
#define ORTHOGONAL  1e-9 /* cosine below which two axes are perpendicular */
#define MAX_PARTS   8    /* convex parts of one mesh; with more its hull counts */
#define CONVEX_GAP  1e-3 /* share of the hull's volume that a convex part may lack */
#define MIN_STRETCH 1e-9

tbi_hrp_frame tbi_hrp_frame_identity(void) { return (tbi_hrp_frame){m3_identity(), v3_zero()}; }

tbi_hrp_frame tbi_hrp_frame_mul(const tbi_hrp_frame *a, const tbi_hrp_frame *b) {
  return (tbi_hrp_frame){m3_mul(&a->linear, &b->linear),
                         v3_add(a->offset, m3_mulv(&a->linear, b->offset))};
}

tbi_hrp_frame tbi_hrp_frame_make(v3 t, q4 r, v3 s) {
  m3 turn = q_matrix(r);
  return (tbi_hrp_frame){m3_from_columns(v3_scale(s.x, m3_column(&turn, 0)),
                                         v3_scale(s.y, m3_column(&turn, 1)),
                                         v3_scale(s.z, m3_column(&turn, 2))),
                         t};
}

q4 tbi_hrp_rotation(const double axis_angle[4]) {
  v3 axis = v3_load(axis_angle);
  double length = v3_norm(axis);
  if (!(length > 0) || !isfinite(length)) return q_identity();
  return q_exp(v3_scale(axis_angle[3] / length, axis));
}

static v3 unit(v3 a) {
  double length = v3_norm(a);
  return length > 0 ? v3_scale(1 / length, a) : a;
}

/* Orthogonal axes near the columns of a matrix, right-handed. */
static m3 axes_of(const m3 *linear) {
  v3 x = unit(m3_column(linear, 0));
  v3 y = m3_column(linear, 1);
  y = unit(v3_axpy(y, -v3_dot(x, y), x));
  return m3_from_columns(x, y, v3_cross(x, y));
}

q4 tbi_hrp_frame_rotation(const tbi_hrp_frame *frame) {
  m3 axes = axes_of(&frame->linear);
  return q_from_matrix(&axes);
}

/* Fills the stretch along each axis; false if the frame also shears, or flattens. */
static bool is_stretch(const tbi_hrp_frame *frame, double stretch[3]) {
  v3 column[3];
  for (int i = 0; i < 3; ++i) {
    column[i] = m3_column(&frame->linear, i);
    stretch[i] = v3_norm(column[i]);
    if (!(stretch[i] > MIN_STRETCH)) return false;
  }
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3;
    if (fabs(v3_dot(column[i], column[j])) > ORTHOGONAL * stretch[i] * stretch[j]) return false;
  }
  return true;
}

static bool is_same(double a, double b) { return fabs(a - b) <= 1e-9 * tbi_max(a, b); }

static double determinant(const m3 *a) {
  return v3_dot(m3_column(a, 0), v3_cross(m3_column(a, 1), m3_column(a, 2)));
}

/* ------------------------------------------------------------------------------- gathering */

static tbi_hrp_shape *append(tbi_hrp *hrp, int32_t link, tabi_shape_type type,
                             const tbi_hrp_look *look) {
  TBI_ASSERT(link >= 0 && link < hrp->nlink);
  if (!tbi_ok(&hrp->error)) return NULL;
  if (hrp->nshape == TBI_HRP_MAX_SHAPES) {
    tbi_fail_at(&hrp->error, TABI_ERR_MODEL, look->place, "more than %d shapes",
                TBI_HRP_MAX_SHAPES);
    return NULL;
  }
  void *items = hrp->shapes;
  bool room = tbi_array_reserve(&items, &hrp->cap_shape, hrp->nshape, 1, sizeof *hrp->shapes);
  hrp->shapes = items;
  if (!room) {
    tbi_fail_memory(&hrp->error);
    return NULL;
  }
  tbi_hrp_shape *shape = &hrp->shapes[hrp->nshape++];
  *shape = (tbi_hrp_shape){.link = link, .def = tabi_shape_def_default()};
  shape->def.type = type;
  shape->def.place = look->place;
  shape->def.collides = look->collides;
  shape->def.visible = look->visible;
  memcpy(shape->def.rgba, look->rgba, sizeof look->rgba);
  return shape;
}

static bool count_faces(tbi_hrp *hrp, int32_t more, tabi_place place) {
  hrp->nface = more > TBI_HRP_MAX_FACES - hrp->nface ? TBI_HRP_MAX_FACES + 1 : hrp->nface + more;
  if (hrp->nface <= TBI_HRP_MAX_FACES) return tbi_ok(&hrp->error);
  return tbi_fail_at(&hrp->error, TABI_ERR_MODEL, place, "more than %d faces in all meshes",
                     TBI_HRP_MAX_FACES);
}

static void turn_faces(tbi_mesh *mesh) {
  for (int32_t i = 0; i < mesh->nface; ++i) {
    int32_t *face = mesh->faces + 3 * (size_t)i;
    int32_t second = face[1];
    face[1] = face[2];
    face[2] = second;
  }
}

void tbi_hrp_add_mesh(tbi_hrp *hrp, int32_t link, tbi_mesh *mesh, const tbi_hrp_frame *frame,
                      const tbi_hrp_look *look) {
  bool good = count_faces(hrp, mesh->nface, look->place);
  for (int32_t i = 0; good && i < mesh->nvertex; ++i) {
    double *v = mesh->vertices + 3 * (size_t)i;
    v3_store(v3_add(frame->offset, m3_mulv(&frame->linear, v3_load(v))), v);
  }
  if (good && determinant(&frame->linear) < 0) turn_faces(mesh);
  tbi_hrp_shape *shape = good ? append(hrp, link, TABI_SHAPE_MESH, look) : NULL;
  if (shape) {
    shape->mesh = *mesh;
    *mesh = (tbi_mesh){0};
  } else {
    tbi_mesh_free(mesh);
  }
}

/* ---------------------------------------------------------------------------------- solids */

typedef struct tessellation {
  tbi_weld weld;
  tbi_mesh mesh;
} tessellation;

static void add_triangle(tessellation *t, v3 a, v3 b, v3 c) {
  double corners[9];
  v3_store(a, corners);
  v3_store(b, corners + 3);
  v3_store(c, corners + 6);
  (void)tbi_weld_face(&t->weld, corners);
}

/* A body of revolution about y: points (radius, y) from bottom to top. */
static void revolve(tessellation *t, const double (*profile)[2], int count) {
  for (int i = 0; i + 1 < count; ++i) {
    for (int k = 0; k < SIDES; ++k) {
      double a = 2 * M_PI * k / SIDES;
      double b = 2 * M_PI * ((k + 1) % SIDES) / SIDES;
      const double *low = profile[i];
      const double *high = profile[i + 1];
      v3 la = {low[0] * sin(a), low[1], low[0] * cos(a)};
      v3 lb = {low[0] * sin(b), low[1], low[0] * cos(b)};
      v3 ha = {high[0] * sin(a), high[1], high[0] * cos(a)};
      v3 hb = {high[0] * sin(b), high[1], high[0] * cos(b)};
      add_triangle(t, la, lb, hb);
      add_triangle(t, la, hb, ha);
    }
  }
}

static void add_box(tessellation *t, const double size[3]) {
  static const int sides[6][4] = {
      {0, 2, 3, 1},
      {4, 5, 7, 6},
      {0, 1, 5, 4},
      {2, 6, 7, 3},
      {0, 4, 6, 2},
      {1, 3, 7, 5}
  };
  v3 corner[8];
  for (int i = 0; i < 8; ++i) {
    corner[i] = v3_make((i & 1 ? 0.5 : -0.5) * size[0], (i & 2 ? 0.5 : -0.5) * size[1],
                        (i & 4 ? 0.5 : -0.5) * size[2]);
  }
  for (int i = 0; i < 6; ++i) {
    const int *s = sides[i];
    add_triangle(t, corner[s[0]], corner[s[1]], corner[s[2]]);
    add_triangle(t, corner[s[0]], corner[s[2]], corner[s[3]]);
  }
}

/* Points (radius, y) of the outline of a round solid; how many. */
static int outline(tbi_hrp_solid solid, const double size[3], double (*profile)[2]) {
  double r = size[0];
  double half = solid == TBI_HRP_SPHERE ? 0 : 0.5 * size[1];
  int n = 0;
  profile[n][0] = 0;
  profile[n++][1] = solid == TBI_HRP_SPHERE || solid == TBI_HRP_CAPSULE ? -half - r : -half;
  if (solid == TBI_HRP_CONE || solid == TBI_HRP_CYLINDER) {
    profile[n][0] = r;
    profile[n++][1] = -half;
  }
  if (solid == TBI_HRP_CYLINDER) {
    profile[n][0] = r;
    profile[n++][1] = half;
  }
  for (int i = 1; (solid == TBI_HRP_SPHERE || solid == TBI_HRP_CAPSULE) && i < 2 * RINGS; ++i) {
    double angle = M_PI * ((double)i / (2 * RINGS) - 0.5);
    profile[n][0] = r * cos(angle);
    profile[n++][1] = r * sin(angle) + (i < RINGS ? -half : half);
    if (i != RINGS || half == 0) continue;
    profile[n - 1][1] = -half;
    profile[n][0] = r;
    profile[n++][1] = half;
  }
  profile[n][0] = 0;
  profile[n][1] = -profile[0][1];
  return n + 1;
}

static void add_as_mesh(tbi_hrp *hrp, int32_t link, tbi_hrp_solid solid, const double size[3],
                        const tbi_hrp_frame *frame, const tbi_hrp_look *look) {
  double profile[2 * RINGS + 4][2];
  tessellation t = {0};
  tbi_weld_begin(&t.weld, &t.mesh, (size_t)2 * SIDES * (2 * RINGS + 3));
  if (solid == TBI_HRP_BOX) {
    add_box(&t, size);
  } else {
    revolve(&t, (const double(*)[2])profile, outline(solid, size, profile));
  }
  (void)tbi_weld_finish(&t.weld, &hrp->error, "of a solid", look->place);
  if (tbi_ok(&hrp->error)) tbi_hrp_add_mesh(hrp, link, &t.mesh, frame, look);
}

/* The shape of ours for a solid under a stretch; false: none fits. */
static bool fit(tbi_hrp_solid solid, const double size[3], const double s[3], tabi_shape_type *type,
                double to[3]) {
  bool round = is_same(s[0], s[2]);
  bool even = round && is_same(s[0], s[1]);
  to[0] = to[1] = to[2] = 0;
  switch (solid) {
  case TBI_HRP_BOX:
    *type = TABI_SHAPE_BOX;
    for (int i = 0; i < 3; ++i)
      to[i] = size[i] * s[i];
    return true;
  case TBI_HRP_SPHERE:
    *type = even ? TABI_SHAPE_SPHERE : TABI_SHAPE_ELLIPSOID;
    for (int i = 0; i < (even ? 1 : 3); ++i)
      to[i] = size[0] * s[i];
    return true;
  case TBI_HRP_CYLINDER:
    *type = TABI_SHAPE_CYLINDER;
    to[0] = size[0] * s[0];
    to[1] = size[1] * s[1];
    return round;
  case TBI_HRP_CAPSULE:
    *type = TABI_SHAPE_CAPSULE;
    to[0] = size[0] * s[0];
    to[1] = size[1] * s[1];
    return even;
  default:
    return false;
  }
}

/* Cylinders of VRML stand along y, ours along z. */
static m3 z_along_y(const m3 *axes) {
  return m3_from_columns(m3_column(axes, 0), v3_neg(m3_column(axes, 2)), m3_column(axes, 1));
}

void tbi_hrp_add_solid(tbi_hrp *hrp, int32_t link, tbi_hrp_solid solid, const double size[3],
                       const tbi_hrp_frame *frame, const tbi_hrp_look *look) {
  double stretch[3];
  double fitted[3];
  tabi_shape_type type;
  int needed = solid == TBI_HRP_BOX ? 3 : solid == TBI_HRP_SPHERE ? 1 : 2;
  for (int i = 0; i < needed; ++i) {
    if (size[i] > 0 && isfinite(size[i])) continue;
    tbi_note(hrp->def, look->place, "shape of size %g left out", size[i]);
    return;
  }
  if (!is_stretch(frame, stretch) || !fit(solid, size, stretch, &type, fitted)) {
    add_as_mesh(hrp, link, solid, size, frame, look);
    return;
  }
  tbi_hrp_shape *shape = append(hrp, link, type, look);
  if (!shape) return;
  m3 axes = axes_of(&frame->linear);
  if (type == TABI_SHAPE_CYLINDER || type == TABI_SHAPE_CAPSULE) axes = z_along_y(&axes);
  memcpy(shape->def.size, fitted, sizeof fitted);
  v3_store(frame->offset, shape->def.pos);
  q_store(q_from_matrix(&axes), shape->def.quat);
}

/* -------------------------------------------------------------------------------- polygons */

typedef struct polygon {
  tbi_hrp *hrp;
  const tbi_hrp_polygons *all;
  tabi_place place;
  tbi_weld weld;
} polygon;

static bool find_corner(const polygon *p, int32_t i, double corner[3]) {
  double index = p->all->indices[i];
  if (!(index >= 0 && index < p->all->npoint) || index != floor(index)) {
    return tbi_fail_at(&p->hrp->error, TABI_ERR_PARSE, p->place, "index %g of %d points", index,
                       p->all->npoint);
  }
  const double *point = p->all->points + 3 * (size_t)index;
  memcpy(corner, point, 3 * sizeof *corner);
  if (isfinite(point[0]) && isfinite(point[1]) && isfinite(point[2])) return true;
  return tbi_fail_at(&p->hrp->error, TABI_ERR_PARSE, p->place, "point %d is not finite",
                     (int)index);
}

/* A fan about the first corner. */
static void add_fan(polygon *p, int32_t first, int32_t end) {
  double corners[9];
  for (int32_t i = first + 1; i + 1 < end; ++i) {
    int32_t second = p->all->clockwise ? i + 1 : i;
    int32_t third = p->all->clockwise ? i : i + 1;
    if (!find_corner(p, first, corners) || !find_corner(p, second, corners + 3) ||
        !find_corner(p, third, corners + 6))
      return;
    if (!tbi_weld_face(&p->weld, corners)) return;
  }
}

static void add_fans(polygon *p) {
  int32_t first = 0;
  for (int32_t i = 0; i <= p->all->nindex && tbi_ok(&p->hrp->error); ++i) {
    if (i < p->all->nindex && p->all->indices[i] >= 0) continue;
    add_fan(p, first, i);
    first = i + 1;
  }
}

void tbi_hrp_add_polygons(tbi_hrp *hrp, int32_t link, const tbi_hrp_polygons *polygons,
                          const tbi_hrp_frame *frame, const tbi_hrp_look *look) {
  if (!tbi_ok(&hrp->error) || polygons->nindex < 3) return;
  if (polygons->nindex > TBI_HRP_MAX_FACES) {
    (void)count_faces(hrp, polygons->nindex, look->place);
    return;
  }
  tbi_mesh mesh = {0};
  polygon p = {.hrp = hrp, .all = polygons, .place = look->place};
  tbi_weld_begin(&p.weld, &mesh, (size_t)polygons->nindex);
  add_fans(&p);
  bool empty = tbi_ok(&hrp->error) && mesh.nface == 0 && !p.weld.no_memory;
  tbi_first_error ignored = {0};
  (void)tbi_weld_finish(&p.weld, empty ? &ignored : &hrp->error, "of faces", look->place);
  if (empty) {
    tbi_note(hrp->def, look->place, "faces without area left out");
  } else if (tbi_ok(&hrp->error)) {
    tbi_hrp_add_mesh(hrp, link, &mesh, frame, look);
  }
}

/* ----------------------------------------------------------------------------------- files */

/* A sheared mesh is read into its place; others are shared. */
static void add_sheared(tbi_hrp *hrp, int32_t link, const char *file, const tbi_hrp_frame *frame,
                        const tbi_hrp_look *look) {
  tbi_mesh mesh = {0};
  if (tbi_take(&hrp->error,
               tbi_meshes_read(hrp->files, file, look->place, &mesh, hrp->error.err)) &&
      mesh.nface > 0) {
    tbi_hrp_add_mesh(hrp, link, &mesh, frame, look);
  } else {
    tbi_mesh_free(&mesh);
  }
}

void tbi_hrp_add_file(tbi_hrp *hrp, int32_t link, const char *file, const tbi_hrp_frame *frame,
                      const tbi_hrp_look *look) {
  double stretch[3];
  if (!tbi_ok(&hrp->error)) return;
  if (!is_stretch(frame, stretch)) {
    add_sheared(hrp, link, file, frame, look);
    return;
  }
  const char *kept = tbi_hrp_keep(hrp, file);
  tbi_hrp_shape *shape = kept ? append(hrp, link, TABI_SHAPE_MESH, look) : NULL;
  if (!shape) return;
  m3 axes = axes_of(&frame->linear);
  // what is left-handed is mirrored along z
  if (determinant(&frame->linear) < 0) stretch[2] = -stretch[2];
  shape->file = kept;
  memcpy(shape->scale, stretch, sizeof stretch);
  v3_store(frame->offset, shape->def.pos);
  q_store(q_from_matrix(&axes), shape->def.quat);
}

/* -------------------------------------------------------------------------------- building */

static void build_one(tbi_hrp *hrp, tabi_shape_def *def) {
  if (!tbi_ok(&hrp->error)) return;
  (void)tabi_builder_add_shape(hrp->builder, def);
  tbi_take_builder(&hrp->error, hrp->builder);
}

static int32_t build_mesh(tbi_hrp *hrp, const tbi_mesh *mesh, tabi_place place) {
  tabi_mesh_def def = tabi_mesh_def_default();
  def.nvertex = mesh->nvertex;
  def.nface = mesh->nface;
  def.vertices = mesh->vertices;
  def.faces = mesh->faces;
  def.place = place;
  int32_t index = tabi_builder_add_mesh(hrp->builder, &def);
  tbi_take_builder(&hrp->error, hrp->builder);
  return index;
}

static int32_t root_of(int32_t *parent, int32_t i) {
  for (; parent[i] != i; i = parent[i])
    parent[i] = parent[parent[i]];
  return i;
}

/* Numbers the parts of a mesh that share no vertex, by vertex; how many there are. */
static int32_t find_parts(const tbi_mesh *mesh, int32_t *part) {
  int32_t count = 0;
  for (int32_t i = 0; i < mesh->nvertex; ++i)
    part[i] = i;
  for (int32_t i = 0; i < mesh->nface; ++i) {
    const int32_t *face = mesh->faces + 3 * (size_t)i;
    part[root_of(part, face[1])] = root_of(part, face[0]);
    part[root_of(part, face[2])] = root_of(part, face[0]);
  }
  // roots first, so that they can be told apart from numbers
  for (int32_t i = 0; i < mesh->nvertex; ++i)
    part[i] = root_of(part, i);
  for (int32_t i = 0; i < mesh->nvertex; ++i) {
    if (part[i] == i) part[i] = -1 - count++;
  }
  for (int32_t i = 0; i < mesh->nvertex; ++i) {
    if (part[i] >= 0) part[i] = part[part[i]];
  }
  for (int32_t i = 0; i < mesh->nvertex; ++i)
    part[i] = -1 - part[i];
  return count;
}

/* The faces of one part, or of all (which < 0); the caller frees them. */
static bool take_part(tbi_hrp *hrp, const tbi_hrp_shape *shape, const int32_t *part, int32_t which,
                      tbi_mesh *to) {
  const tbi_mesh *mesh = &shape->mesh;
  tbi_weld weld;
  tbi_weld_begin(&weld, to, which < 0 ? (size_t)mesh->nface : 0);
  for (int32_t i = 0; i < mesh->nface; ++i) {
    const int32_t *face = mesh->faces + 3 * (size_t)i;
    if (which >= 0 && part[face[0]] != which) continue;
    double corners[9];
    for (size_t k = 0; k < 3; ++k)
      memcpy(corners + 3 * k, mesh->vertices + 3 * (size_t)face[k], 3 * sizeof(double));
    if (!tbi_weld_face(&weld, corners)) break;
  }
  // a flattening transform may have left none
  bool empty = to->nface == 0 && !weld.no_memory;
  tbi_first_error ignored = {0};
  tbi_first_error *error = empty ? &ignored : &hrp->error;
  return tbi_weld_finish(&weld, error, "of faces", shape->def.place) == TABI_OK;
}

/* Whether a closed mesh fills its hull. */
static bool is_convex(const tbi_mesh *mesh, const tbi_mesh *hull, tabi_place place) {
  tbi_solid solid;
  tbi_solid whole;
  if (hull->nface == 0) return false;
  if (tbi_mesh_solid(mesh, "", place, &solid, NULL) != TABI_OK ||
      tbi_mesh_solid(hull, "", place, &whole, NULL) != TABI_OK)
    return false;
  return fabs(solid.volume - whole.volume) <= CONVEX_GAP * whole.volume;
}

/* One part as its hull; where it stands in the world, faces that are not convex count as they
 * are. */
static void build_part(tbi_hrp *hrp, const tbi_hrp_shape *shape, const tbi_mesh *part,
                       bool stands) {
  tabi_shape_def def = shape->def;
  tabi_load_def quiet = *hrp->def;
  tbi_mesh hull = {0};
  if (stands) quiet.warn = NULL;
  tabi_status status = tbi_mesh_hull(part, "of faces", def.place, &quiet, &hull, hrp->error.err);
  if (!tbi_take(&hrp->error, status)) return;
  bool exact = stands && !is_convex(part, &hull, def.place);
  if (exact) def.type = TABI_SHAPE_TRIANGLES;
  if (exact || hull.nface > 0) {
    def.mesh = build_mesh(hrp, exact ? part : &hull, def.place);
    build_one(hrp, &def);
  }
  tbi_mesh_free(&hull);
}

static void build_parts(tbi_hrp *hrp, const tbi_hrp_shape *shape, bool stands) {
  int32_t *part = calloc((size_t)shape->mesh.nvertex + 1, sizeof *part);
  int32_t count = part ? find_parts(&shape->mesh, part) : 0;
  bool whole = count > MAX_PARTS;
  if (!part) tbi_fail_memory(&hrp->error);
  for (int32_t i = 0; i < (whole ? 1 : count) && tbi_ok(&hrp->error); ++i) {
    tbi_mesh piece = {0};
    if (take_part(hrp, shape, part, whole ? -1 : i, &piece)) build_part(hrp, shape, &piece, stands);
    tbi_mesh_free(&piece);
  }
  free(part);
}

/* The mesh to look at, then what collides. */
static void build_polygons(tbi_hrp *hrp, tbi_hrp_shape *shape, bool stands) {
  bool collides = shape->def.collides;
  if (shape->def.visible) {
    shape->def.collides = false;
    shape->def.mesh = build_mesh(hrp, &shape->mesh, shape->def.place);
    build_one(hrp, &shape->def);
  }
  shape->def.visible = false;
  shape->def.collides = true;
  if (collides && tbi_ok(&hrp->error)) build_parts(hrp, shape, stands);
}

static void build_file(tbi_hrp *hrp, tbi_hrp_shape *shape) {
  tabi_shape_def *def = &shape->def;
  tabi_error *err = hrp->error.err;
  bool collides = def->collides;
  if (def->visible && tbi_take(&hrp->error, tbi_meshes_add(hrp->files, shape->file, shape->scale,
                                                           def->place, &def->mesh, err))) {
    def->collides = false;
    if (def->mesh != TABI_NONE) build_one(hrp, def);
  }
  if (!collides || !tbi_ok(&hrp->error)) return;
  if (!tbi_take(&hrp->error, tbi_meshes_add_hull(hrp->files, shape->file, shape->scale, def->place,
                                                 &def->mesh, err)))
    return;
  def->collides = true;
  def->visible = false;
  if (def->mesh != TABI_NONE) build_one(hrp, def);
}

void tbi_hrp_build_shape(tbi_hrp *hrp, tbi_hrp_shape *shape, bool stands) {
  shape->def.link = hrp->links[shape->link].index;
  if (shape->file) {
    build_file(hrp, shape);
  } else if (shape->def.type == TABI_SHAPE_MESH) {
    build_polygons(hrp, shape, stands);
  } else {
    build_one(hrp, &shape->def);
  }
}
