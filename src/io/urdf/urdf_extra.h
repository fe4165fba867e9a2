/* urdf_extra.h - what other programs add to URDF: <transmission>, <gazebo>, <contact>, <mujoco>.
 *
 * Plain numbers that tabi has a meaning for are taken: gears and motors, springs, friction and
 * stiffness of surfaces, whether the robot moves at all, where meshes are. */
#ifndef TBI_URDF_EXTRA_H
#define TBI_URDF_EXTRA_H

#include "base/names.h"
#include "io/xml.h"
#include "tabi/tabi_io.h"

/* An element that speaks of a link or joint, and the one before that speaks of the same. */
typedef struct tbi_urdf_extra {
  tbi_xml_node *node;
  int32_t before;
} tbi_urdf_extra;

typedef struct tbi_urdf_extras {
  tabi_builder *builder;
  const char *path; /* of the robot file */
  const tabi_load_def *def;
  tbi_first_error *error;
  tbi_names gazebo;       /* the last <gazebo> of a link or joint, in items */
  tbi_names transmission; /* the last <transmission> of a joint, in items */
  tbi_urdf_extra *items;
  int32_t count, capacity;
  bool is_static;       /* <gazebo><static>: nothing in the robot moves */
  const char *mesh_dir; /* of <mujoco><compiler>, or NULL */
  bool strip_path;      /* from names of meshes, before mesh_dir is put there */
} tbi_urdf_extras;

/* Finds them below <robot>.  Free after an error as well. */
void tbi_urdf_extras_init(tbi_urdf_extras *x, tbi_xml_node *robot);
void tbi_urdf_extras_free(tbi_urdf_extras *x);

/* The material of a link's shapes, or TABI_NONE if nothing is said of it. */
int32_t tbi_urdf_extras_material(tbi_urdf_extras *x, tbi_xml_node *link, const char *name);
/* Whether gravity is switched off for a link. */
bool tbi_urdf_extras_is_weightless(const tbi_urdf_extras *x, const char *link);
/* What is said of the surface of a link that does not collide matters to nobody. */
void tbi_urdf_extras_no_surface(tbi_urdf_extras *x, tbi_xml_node *link, const char *name);
/* Gear, motor and spring of a joint, over what is there. */
void tbi_urdf_extras_joint(tbi_urdf_extras *x, const char *joint, tabi_joint_def *def);
/* The name of a mesh file after <mujoco><compiler meshdir strippath>, in memory that the caller
 * frees; NULL if there is no such file, or no memory: then it is as it stands. */
char *tbi_urdf_extras_mesh(const tbi_urdf_extras *x, const char *file);

#endif
