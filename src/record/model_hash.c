/* model_hash.c - a hash of a model, so that a log is not continued with another robot.
 *
 * Numbers are taken field by field or in runs of doubles: structs hold pointers and padding, which
 * do not count. */
#include "base/assertion.h"
#include "record/record.h"

#include <string.h>

/* FNV-1a */
static void add(uint64_t *hash, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < size; ++i)
    *hash = (*hash ^ at[i]) * 0x100000001b3U;
}

static void add_number(uint64_t *hash, int64_t number) { add(hash, &number, sizeof number); }

static void add_name(uint64_t *hash, const char *name) {
  if (name) add(hash, name, strlen(name));
  add_number(hash, name != NULL);
}

/* The doubles of a struct from one member up to another. */
static void add_run(uint64_t *hash, const double *first, const void *behind) {
  TBI_ASSERT((const char *)behind > (const char *)first);
  add(hash, first, (size_t)((const char *)behind - (const char *)first));
}

static void add_links(uint64_t *hash, const tabi_model *model) {
  add_number(hash, tabi_model_nlink(model));
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    tabi_link_def link = tabi_model_link(model, i);
    add_name(hash, link.name);
    add_run(hash, &link.mass, &link.buoyancy);
    // only where there is any, so that logs from before there could be stay valid
    if (link.buoyancy != 0) add_run(hash, &link.buoyancy, &link.place);
  }
  add_number(hash, tabi_model_njoint(model));
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_joint_def joint = tabi_model_joint(model, i);
    add_name(hash, joint.name);
    add_number(hash, joint.type);
    add_number(hash, joint.parent);
    add_number(hash, joint.child);
    add_run(hash, joint.pos, &joint.id);
  }
}

static void add_shapes(uint64_t *hash, const tabi_model *model) {
  add_number(hash, tabi_model_nshape(model));
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def shape = tabi_model_shape(model, i);
    const int64_t numbers[] = {shape.type,     shape.link,
                               shape.mesh,     shape.material,
                               shape.collides, ((int64_t)shape.group << 32) | shape.mask};
    add(hash, numbers, sizeof numbers);
    add_run(hash, shape.pos, &shape.mesh);
  }
  for (int32_t i = 0; i < tabi_model_nmesh(model); ++i) {
    tabi_mesh_def mesh = tabi_model_mesh(model, i);
    add_number(hash, mesh.nvertex);
    add_number(hash, mesh.nface);
    if (mesh.nvertex > 0) add(hash, mesh.vertices, 3 * sizeof(double) * (size_t)mesh.nvertex);
    if (mesh.nface > 0) add(hash, mesh.faces, 3 * sizeof(int32_t) * (size_t)mesh.nface);
  }
  for (int32_t i = 0; i < tabi_model_nmaterial(model); ++i) {
    tabi_material_def material = tabi_model_material(model, i);
    add_run(hash, &material.friction, &material.rolling_friction);
    // only where there is any, so that logs from before there could be stay valid
    if (material.rolling_friction > 0 || material.torsional_friction > 0)
      add_run(hash, &material.rolling_friction, &material.place);
  }
}

static void add_drives(uint64_t *hash, const tabi_model *model) {
  for (int32_t i = 0; i < tabi_model_nactuator(model); ++i) {
    tabi_actuator_def actuator = tabi_model_actuator(model, i);
    add_number(hash, actuator.joint);
    add_run(hash, &actuator.gear, &actuator.place);
    if (actuator.tendon != TABI_NONE) add_number(hash, actuator.tendon);
  }
  for (int32_t i = 0; i < tabi_model_nsensor(model); ++i) {
    tabi_sensor_def sensor = tabi_model_sensor(model, i);
    const int64_t numbers[] = {sensor.type, sensor.link, sensor.joint};
    add(hash, numbers, sizeof numbers);
    add_run(hash, sensor.pos, &sensor.place);
  }
}

static void add_obstacle(uint64_t *hash, const tabi_tendon_point *point) {
  if (point->wrap == TABI_WRAP_NONE) return;
  add_number(hash, point->wrap);
  add(hash, &point->radius, sizeof point->radius);
  add(hash, point->axis, sizeof point->axis);
  if (!point->sided) return;
  add_number(hash, point->side_link);
  add(hash, point->side, sizeof point->side);
}

static void add_tendons(uint64_t *hash, const tabi_model *model) {
  for (int32_t i = 0; i < tabi_model_ntendon(model); ++i) {
    tabi_tendon_def tendon = tabi_model_tendon(model, i);
    for (int32_t k = 0; k < tendon.njoint; ++k) {
      add_number(hash, tendon.joints[k].joint);
      add(hash, &tendon.joints[k].coef, sizeof tendon.joints[k].coef);
    }
    for (int32_t k = 0; k < tendon.npoint; ++k) {
      add_number(hash, tendon.points[k].link);
      add(hash, tendon.points[k].pos, sizeof tendon.points[k].pos);
      add(hash, &tendon.points[k].share, sizeof tendon.points[k].share);
      add_obstacle(hash, &tendon.points[k]);
    }
    add_run(hash, &tendon.lower, &tendon.place);
  }
}

static void add_loops(uint64_t *hash, const tabi_model *model) {
  for (int32_t i = 0; i < tabi_model_ncoupling(model); ++i) {
    tabi_coupling_def coupling = tabi_model_coupling(model, i);
    add_number(hash, coupling.joint);
    add_number(hash, coupling.leader);
    add_run(hash, coupling.coef, &coupling.place);
    if (coupling.tendon != TABI_NONE) {
      add_number(hash, coupling.tendon);
      add_number(hash, coupling.tendon_leader);
    }
  }
  for (int32_t i = 0; i < tabi_model_nconnection(model); ++i) {
    tabi_connection_def connection = tabi_model_connection(model, i);
    const int64_t numbers[] = {connection.type, connection.a, connection.b, connection.axes};
    add(hash, numbers, sizeof numbers);
    add_run(hash, connection.pos_a, &connection.axes);
    add_run(hash, &connection.length, &connection.place);
    // only where it departs from the default, so that logs from before there was a choice stay
    // valid
    if (connection.collide) add_number(hash, connection.collide);
  }
  for (int32_t i = 0; i < tabi_model_nexclusion(model); ++i) {
    int32_t links[2];
    tabi_model_exclusion(model, i, links);
    add(hash, links, sizeof links);
  }
}

uint64_t tbi_model_hash(const tabi_model *model) {
  TBI_ASSERT(model);
  uint64_t hash = 0xcbf29ce484222325U;
  add_links(&hash, model);
  add_shapes(&hash, model);
  add_drives(&hash, model);
  add_loops(&hash, model);
  add_tendons(&hash, model);
  return hash;
}
