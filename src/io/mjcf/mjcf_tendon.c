/* mjcf_tendon.c - tendons: fixed ones (sums of joint coordinates) and spatial ones (through sites).
 *
 * A pulley ends a branch of a spatial tendon; what follows counts by one over its divisor.  A geom
 * between two sites is an obstacle that the path bends around.
 *
 * Rest lengths that are not given are those with all joints at springref, and lengths that an
 * equality couples count from those at ref.  For both the builder's model is made once. */
#include "io/mjcf/mjcf_reader.h"

#include "base/array.h"
#include "model/builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The parts of a tendon while it is read. */
typedef struct parts {
  tabi_tendon_joint *joints;
  tabi_tendon_point *points;
  int32_t njoint, cap_joint, npoint, cap_point;
  double share; /* of what comes next */
} parts;

static void add_joint(const tbi_mjcf_item *item, tbi_xml_node *node, parts *p) {
  tbi_mjcf *reader = item->reader;
  tbi_mjcf_item part = tbi_mjcf_item_of(reader, node, NULL, 0);
  int32_t index = tbi_mjcf_reference(&part, "joint", &reader->joint_names, "joint", true);
  double coef = 0;
  if (!tbi_mjcf_number(&part, "coef", &coef)) tbi_mjcf_fail(item, "a joint needs a coef");
  if (!tbi_ok(&reader->error)) return;
  const tbi_mjcf_joint *joint = &reader->joints[index];
  if (joint->type != TBI_MJCF_SLIDE && joint->type != TBI_MJCF_HINGE) {
    tbi_mjcf_fail(item, "only hinge and slide joints can be part of a fixed tendon");
    return;
  }
  if (!tbi_array_reserve((void **)&p->joints, &p->cap_joint, p->njoint, 1, sizeof *p->joints)) {
    tbi_fail_memory(&reader->error);
    return;
  }
  p->joints[p->njoint++] = (tabi_tendon_joint){joint->index, coef};
}

/* NULL: out of memory */
static tabi_tendon_point *add_point(tbi_mjcf *reader, int32_t body, parts *p) {
  if (!tbi_array_reserve((void **)&p->points, &p->cap_point, p->npoint, 1, sizeof *p->points)) {
    tbi_fail_memory(&reader->error);
    return NULL;
  }
  tabi_tendon_point *point = &p->points[p->npoint++];
  *point = (tabi_tendon_point){.link = reader->bodies[body].link, .share = p->share};
  return point;
}

static void add_site(tbi_mjcf *reader, tbi_xml_node *node, parts *p) {
  tbi_mjcf_item part = tbi_mjcf_item_of(reader, node, NULL, 0);
  int32_t index = tbi_mjcf_reference(&part, "site", &reader->site_names, "site", true);
  if (!tbi_ok(&reader->error)) return;
  const tbi_mjcf_site *site = &reader->sites[index];
  tabi_tendon_point *point = add_point(reader, site->body, p);
  if (point) v3_store(site->pos, point->pos);
}

static void set_side(tbi_mjcf *reader, const tbi_mjcf_item *part, tabi_tendon_point *point) {
  int32_t index = tbi_mjcf_reference(part, "sidesite", &reader->site_names, "site", false);
  if (!tbi_ok(&reader->error) || index == TABI_NONE) return;
  const tbi_mjcf_site *site = &reader->sites[index];
  point->sided = true;
  point->side_link = reader->bodies[site->body].link;
  v3_store(site->pos, point->side);
}

/* An obstacle between two sites of one branch. */
static void add_geom(const tbi_mjcf_item *item, tbi_xml_node *node, parts *p) {
  tbi_mjcf *reader = item->reader;
  tbi_mjcf_item part = tbi_mjcf_item_of(reader, node, NULL, 0);
  int32_t index = tbi_mjcf_reference(&part, "geom", &reader->geom_names, "geom", true);
  if (!tbi_ok(&reader->error)) return;
  const tabi_shape_def *shape = &reader->geoms[index].shape;
  if (shape->type != TABI_SHAPE_SPHERE && shape->type != TABI_SHAPE_CYLINDER) {
    tbi_mjcf_fail(item,
                  "geom '%.60s' is neither a sphere nor a cylinder, around which a path bends",
                  reader->geoms[index].name);
    return;
  }
  tabi_tendon_point *point = add_point(reader, reader->geoms[index].body, p);
  if (!point) return;
  point->wrap = shape->type == TABI_SHAPE_SPHERE ? TABI_WRAP_SPHERE : TABI_WRAP_CYLINDER;
  point->radius = shape->size[0];
  memcpy(point->pos, shape->pos, sizeof point->pos);
  m3 rot = q_matrix(q_load(shape->quat));
  v3_store(m3_column(&rot, 2), point->axis);
  set_side(reader, &part, point);
}

/* MuJoCo's rule: a site before each geom and one behind it. */
static void check_path(const tbi_mjcf_item *item, const parts *p) {
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tabi_tendon_point *point = &p->points[i];
    if (point->wrap == TABI_WRAP_NONE) continue;
    bool between = i > 0 && i + 1 < p->npoint && point->share > 0 && point[-1].share > 0 &&
                   point[-1].wrap == TABI_WRAP_NONE && point[1].wrap == TABI_WRAP_NONE;
    if (!between) tbi_mjcf_fail(item, "a geom needs a site before it and one behind it");
  }
}

static void end_branch(parts *p) {
  if (p->npoint > 0) p->points[p->npoint - 1].share = 0;
}

static void add_pulley(const tbi_mjcf_item *item, tbi_xml_node *node, parts *p) {
  tbi_mjcf_item part = tbi_mjcf_item_of(item->reader, node, NULL, 0);
  double divisor = 0;
  (void)tbi_mjcf_number(&part, "divisor", &divisor);
  if (!(divisor > 0)) {
    tbi_mjcf_fail(item, "a pulley needs a divisor above 0");
    return;
  }
  end_branch(p);
  p->share = 1 / divisor;
}

static void read_parts(const tbi_mjcf_item *item, bool spatial, parts *p) {
  tbi_mjcf *reader = item->reader;
  tbi_xml_node *node = item->node->first;
  for (; node && tbi_ok(&reader->error); node = node->next) {
    node->used = true;
    if (!spatial && strcmp(node->name, "joint") == 0) {
      add_joint(item, node, p);
    } else if (spatial && strcmp(node->name, "site") == 0) {
      add_site(reader, node, p);
    } else if (spatial && strcmp(node->name, "pulley") == 0) {
      add_pulley(item, node, p);
    } else if (spatial && strcmp(node->name, "geom") == 0) {
      add_geom(item, node, p);
    } else {
      node->used = false; /* is reported */
    }
  }
  end_branch(p);
  if (tbi_ok(&reader->error)) check_path(item, p);
}

static void read_bounds(const tbi_mjcf_item *item, const char *range, const char *limited,
                        double bounds[2]) {
  tbi_mjcf_limits limits = {
      {0, 0},
      TBI_MJCF_LIMITS_AUTO
  };
  tbi_mjcf_read_range(item, range, limited, &limits);
  tbi_mjcf_settle_range(item, range, &limits, bounds);
}

/* one rest length or two; false: none is given */
static bool read_rest(const tbi_mjcf_item *item, tabi_tendon_def *def) {
  double rest[2] = {-1, -1};
  int32_t count = tbi_mjcf_numbers(item, "springlength", 1, 2, rest);
  if (count == 1) rest[1] = rest[0];
  if (rest[0] == -1 && rest[1] == -1) return false;
  if (rest[0] > rest[1]) tbi_mjcf_fail(item, "springlength has its ends swapped");
  def->rest_lower = rest[0];
  def->rest_upper = rest[1];
  return true;
}

static double at_least_zero(const tbi_mjcf_item *item, const char *attribute, double value) {
  if (value >= 0) return value;
  tbi_warn(item->reader->def, item->node->place, "%s: %s %g is taken as 0", item->label, attribute,
           value);
  return 0;
}

static void read_law(const tbi_mjcf_item *item, tbi_mjcf_tendon *tendon, tabi_tendon_def *def) {
  double bounds[2];
  tbi_mjcf_read_linear(item, "stiffness", &def->stiffness);
  tbi_mjcf_read_linear(item, "damping", &def->damping);
  (void)tbi_mjcf_number(item, "frictionloss", &def->friction);
  (void)tbi_mjcf_number(item, "armature", &def->inertia);
  def->stiffness = at_least_zero(item, "stiffness", def->stiffness);
  def->damping = at_least_zero(item, "damping", def->damping);
  def->friction = at_least_zero(item, "frictionloss", def->friction);
  def->inertia = at_least_zero(item, "armature", def->inertia);
  read_bounds(item, "range", "limited", bounds);
  def->lower = tendon->range[0] = bounds[0];
  def->upper = tendon->range[1] = bounds[1];
  read_bounds(item, "actuatorfrcrange", "actuatorfrclimited", tendon->drive);
  tendon->rests_at_reference = !read_rest(item, def);
  const tbi_mjcf_disabled *off = &item->reader->disabled;
  if (off->spring) def->stiffness = 0;
  if (off->damper) def->damping = 0;
  if (off->friction) def->friction = 0;
  if (off->limit) def->lower = -(double)INFINITY, def->upper = (double)INFINITY;
}

static void keep_tendon(const tbi_mjcf_item *item, const tbi_mjcf_tendon *tendon) {
  tbi_mjcf *reader = item->reader;
  if (tbi_mjcf_add_name(item, &reader->tendon_names, reader->ntendon) >= 0)
    tbi_mjcf_fail(item, "defined twice");
  if (!tbi_ok(&reader->error)) return;
  if (!tbi_array_reserve((void **)&reader->tendons, &reader->cap_tendon, reader->ntendon, 1,
                         sizeof *reader->tendons)) {
    tbi_fail_memory(&reader->error);
    return;
  }
  reader->tendons[reader->ntendon++] = *tendon;
}

static void read_tendon(tbi_mjcf *reader, tbi_xml_node *node) {
  bool spatial = strcmp(node->name, "spatial") == 0;
  if (!spatial && strcmp(node->name, "fixed") != 0) return; /* stays unused and is reported */
  node->used = true;
  tbi_mjcf_item item = tbi_mjcf_item_of(reader, node, "tendon", 0);
  tabi_tendon_def def = tabi_tendon_def_default();
  tbi_mjcf_tendon tendon = {.index = TABI_NONE};
  parts p = {.share = 1};
  read_parts(&item, spatial, &p);
  read_law(&item, &tendon, &def);
  def.name = tbi_mjcf_full_name(reader, item.name, "tendon", reader->ntendon);
  def.joints = p.joints;
  def.njoint = p.njoint;
  def.points = p.points;
  def.npoint = p.npoint;
  def.place = node->place;
  if (tbi_ok(&reader->error)) tendon.index = tabi_builder_add_tendon(reader->builder, &def);
  if (tendon.index != TABI_NONE) keep_tendon(&item, &tendon);
  free(p.joints);
  free(p.points);
}

/* -- lengths at the reference */

/* all joints at springref; what has no such number stays at ref */
static void set_springs(const tbi_mjcf *reader, const tabi_model *model, double *q) {
  for (int32_t i = 0; i < reader->njoint; ++i) {
    const tbi_mjcf_joint *joint = &reader->joints[i];
    bool single = joint->type == TBI_MJCF_SLIDE || joint->type == TBI_MJCF_HINGE;
    if (joint->index == TABI_NONE || !single) continue;
    tabi_range at = tabi_model_joint_q(model, joint->index);
    if (at.count == 1) q[at.first] = joint->def.rest_position;
  }
}

static void set_lengths(tbi_mjcf *reader, const tabi_model *model, tabi_dynamics *d, double *q) {
  const double *still = q + tabi_model_nq(model);
  tabi_model_initial_q(model, q);
  tabi_dynamics_set_state(d, q, still);
  for (int32_t i = 0; i < reader->ntendon; ++i)
    reader->tendons[i].length = tabi_dynamics_tendon_length(d, reader->tendons[i].index, NULL);
  set_springs(reader, model, q);
  tabi_dynamics_set_state(d, q, still);
  tabi_tendon_def *def = reader->builder->tendons.items;
  for (int32_t i = 0; i < reader->ntendon; ++i) {
    const tbi_mjcf_tendon *tendon = &reader->tendons[i];
    if (!tendon->rests_at_reference) continue;
    double length = tabi_dynamics_tendon_length(d, tendon->index, NULL);
    if (!isfinite(length)) continue;
    def[tendon->index].rest_lower = def[tendon->index].rest_upper = length;
  }
}

/* A model that cannot be built is told later. */
static void settle_lengths(tbi_mjcf *reader) {
  if (reader->ntendon == 0 || !tbi_ok(&reader->error)) return;
  tabi_model *model = tabi_builder_build(reader->builder, NULL);
  tabi_dynamics *d = model ? tabi_dynamics_create(model, NULL) : NULL;
  if (d) {
    size_t room = (size_t)tabi_model_nq(model) + (size_t)tabi_model_nv(model) + 1;
    double *state = calloc(room, sizeof *state);
    if (state) {
      set_lengths(reader, model, d, state);
    } else {
      tbi_fail_memory(&reader->error);
    }
    free(state);
  }
  tabi_dynamics_destroy(d);
  tabi_model_destroy(model);
}

void tbi_mjcf_read_tendons(tbi_mjcf *reader) {
  tbi_xml_node *section = tbi_xml_child(reader->root, "tendon");
  for (; section; section = tbi_xml_next(section)) {
    tbi_xml_node *node = section->first;
    for (; node && tbi_ok(&reader->error); node = node->next)
      read_tendon(reader, node);
  }
  settle_lengths(reader);
}
