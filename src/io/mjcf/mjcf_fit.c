/* mjcf_fit.c - primitives fitted to meshes.
 *
 * MuJoCo moves a mesh to its centre of mass and principal axes, moments falling, and fits to the
 * box that has its inertia, or with fitaabb to its bounding box there. */
#include "io/mjcf/mjcf_reader.h"

#include "io/principal.h"

#include <math.h>

/* Principal axes by falling moment, right-handed. */
static m3 sorted_axes(const tbi_principal *p, double value[3]) {
  int order[3] = {0, 1, 2};
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2 - i; ++j) {
      if (p->value[order[j]] >= p->value[order[j + 1]]) continue;
      int swapped = order[j];
      order[j] = order[j + 1];
      order[j + 1] = swapped;
    }
  }
  v3 column[3];
  for (int k = 0; k < 3; ++k) {
    value[k] = p->value[order[k]];
    column[k] = v3_make(p->axes.m[0][order[k]], p->axes.m[1][order[k]], p->axes.m[2][order[k]]);
  }
  return m3_from_columns(column[0], column[1], v3_cross(column[0], column[1]));
}

/* Half edges of the box that has these moments per kg: I_x = (y^2 + z^2) / 3. */
static void inertia_box(const double value[3], double half[3]) {
  double sum = value[0] + value[1] + value[2];
  for (int k = 0; k < 3; ++k)
    half[k] = sqrt(fmax(0, 1.5 * (sum - 2 * value[k])));
}

static void bounding_box(const tbi_mjcf_mesh *mesh, const m3 *axes, double low[3], double high[3]) {
  for (int32_t i = 0; i < mesh->triangles.nvertex; ++i) {
    v3 vertex = v3_load(mesh->triangles.vertices + 3 * (size_t)i);
    double local[3];
    v3_store(m3_tmulv(axes, v3_sub(vertex, mesh->com)), local);
    for (int k = 0; k < 3; ++k) {
      low[k] = i == 0 ? local[k] : fmin(low[k], local[k]);
      high[k] = i == 0 ? local[k] : fmax(high[k], local[k]);
    }
  }
}

static void size_by_inertia(tbi_mjcf_fit type, const double half[3], double size[3]) {
  double across = 0.5 * (half[0] + half[1]);
  v3_store(v3_load(half), size);
  if (type == TBI_MJCF_FIT_SPHERE) size[0] = (half[0] + half[1] + half[2]) / 3;
  if (type == TBI_MJCF_FIT_CAPSULE || type == TBI_MJCF_FIT_CYLINDER) {
    size[0] = across;
    size[1] = type == TBI_MJCF_FIT_CAPSULE ? fmax(0, half[2] - 0.5 * across) : half[2];
  }
}

static void size_by_bounds(tbi_mjcf_fit type, const double half[3], double size[3]) {
  double across = fmax(half[0], half[1]);
  v3_store(v3_load(half), size);
  if (type == TBI_MJCF_FIT_SPHERE) size[0] = fmax(across, half[2]);
  if (type == TBI_MJCF_FIT_CAPSULE || type == TBI_MJCF_FIT_CYLINDER) {
    size[0] = across;
    size[1] = type == TBI_MJCF_FIT_CAPSULE ? fmax(0, half[2] - across) : half[2];
  }
}

void tbi_mjcf_fit_mesh(const tbi_mjcf_item *item, tbi_mjcf_mesh *mesh, tbi_mjcf_fit type,
                       tbi_mjcf_fitted *fitted) {
  tbi_mjcf_measure_mesh(item->reader, mesh);
  if (!tbi_ok(&item->reader->error)) return;
  double value[3];
  double half[3];
  double scale = 1;
  tbi_principal principal = tbi_principal_of(mesh->inertia);
  m3 axes = sorted_axes(&principal, value);
  fitted->pos = mesh->com;
  fitted->rot = q_from_matrix(&axes);
  if (tbi_mjcf_compiler_of(item->reader, item->node)->fit_aabb) {
    double low[3] = {0, 0, 0};
    double high[3] = {0, 0, 0};
    bounding_box(mesh, &axes, low, high);
    v3_store(v3_scale(0.5, v3_sub(v3_load(high), v3_load(low))), half);
    v3 centre = v3_scale(0.5, v3_add(v3_load(high), v3_load(low)));
    fitted->pos = v3_add(mesh->com, m3_mulv(&axes, centre));
    size_by_bounds(type, half, fitted->size);
  } else {
    inertia_box(value, half);
    size_by_inertia(type, half, fitted->size);
  }
  (void)tbi_mjcf_number(item, "fitscale", &scale);
  for (int k = 0; k < 3; ++k)
    fitted->size[k] = fmax(1e-6, scale * fitted->size[k]);
}
