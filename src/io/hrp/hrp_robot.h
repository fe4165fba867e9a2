/* hrp_robot.h - robots of the OpenHRP family, on their way into a builder.
 *
 *   hrp_vrml.c, hrp_vrml_shape.c      OpenHRP3: Humanoid, Joint, Segment and sensors in VRML
 *   choreonoid.c, choreonoid_shape.c  Choreonoid: .body files, in YAML
 *       both fill a tbi_hrp: links with the joint above each, shapes, sensors, extra joints
 *   hrp_shape.c                       shapes below nested transforms
 *   hrp_build.c                       tbi_hrp to builder calls
 *   hrp_bush.c                        springs of bush joints
 *   hrp_vrml_format.c, choreonoid_format.c  what becomes of each element
 *
 * A link and its joint have one name, as in the files.  Links are gathered first because mass and
 * shapes of one link may come in several pieces, and because .body files name parents in any order.
 * Every function may be called after an error and then does nothing of consequence. */
#ifndef TBI_HRP_ROBOT_H
#define TBI_HRP_ROBOT_H

#include "base/names.h"
#include "base/text.h"
#include "io/first_error.h"
#include "io/format.h"
#include "io/mesh/mesh.h"
#include "io/path.h"
#include "math/quat.h"
#include "tabi/tabi_io.h"

#define TBI_HRP_MAX_LINKS  10000
#define TBI_HRP_MAX_SHAPES 20000
#define TBI_HRP_MAX_FACES  4000000 /* of all meshes of a robot */
#define TBI_HRP_MAX_DEPTH  256     /* of transforms, and of files that name each other */

/* A map from the frame of a shape to that of its link: x -> linear x + offset. */
typedef struct tbi_hrp_frame {
  m3 linear;
  v3 offset;
} tbi_hrp_frame;

typedef struct tbi_hrp_link {
  const char *name;
  const char *parent_name; /* NULL: parent is known, or the link is the root */
  int32_t parent;          /* of links; TABI_NONE: the root */
  tabi_place place;
  tabi_joint_def joint; /* parent, child and name are filled at the end */
  double mass;          /* of all pieces so far */
  v3 com;
  s3 inertia; /* about the com */
  int32_t index;
} tbi_hrp_link;

typedef struct tbi_hrp_shape {
  int32_t link;
  tabi_shape_def def; /* link, mesh and material are filled at the end */
  tbi_mesh mesh;      /* in the link's frame; of meshes only */
  const char *file;   /* a mesh file instead, */
  double scale[3];    /* stretched so; NULL: none */
} tbi_hrp_shape;

typedef struct tbi_hrp_sensor {
  int32_t link;
  tabi_sensor_def def; /* link and joint are filled at the end */
} tbi_hrp_sensor;

/* A joint that closes a loop. */
typedef struct tbi_hrp_extra {
  const char *name, *links[2];
  v3 points[2]; /* in the links' frames */
  v3 axis;      /* in the first one's */
  tabi_connection_type type;
  uint32_t axes; /* of TABI_CONNECTION_AXES, z along the axis */
  tabi_place place;
} tbi_hrp_extra;

typedef struct tbi_hrp {
  tabi_builder *builder;
  const char *path; /* of the file that is read */
  const tabi_load_def *def;
  tbi_first_error error;
  tbi_text_pool text;
  tbi_meshes *files;
  tbi_path_roots roots;
  tbi_hrp_link *links;
  tbi_hrp_shape *shapes;
  tbi_hrp_sensor *sensors;
  tbi_hrp_extra *extras;
  int32_t nlink, nshape, nsensor, nextra;
  int32_t cap_link, cap_shape, cap_sensor, cap_extra;
  int32_t nface, nvisit, depth;
  tbi_names link_names, sensor_names;
  tbi_names told; /* kinds of things that were reported as ignored */
} tbi_hrp;

/* ------------------------------------------------------------------------------ hrp_build.c */

/* Reads a robot by `read`, which fills the tbi_hrp, and adds it to the builder. */
tabi_status tbi_hrp_load(tabi_builder *builder, const char *path, const tabi_load_def *def,
                         bool (*read)(tbi_hrp *hrp, void *source), void *source, tabi_error *err);

/* A new link, or NULL after an error; valid until the next one is added. */
tbi_hrp_link *tbi_hrp_add_link(tbi_hrp *hrp, const char *name, tabi_place place);
/* One more rigid piece of a link: its inertia is about its own centre of mass. */
void tbi_hrp_add_mass(tbi_hrp *hrp, int32_t link, double mass, v3 com, s3 inertia);
/* NULL after an error. */
tbi_hrp_sensor *tbi_hrp_add_sensor(tbi_hrp *hrp, int32_t link, tabi_sensor_type type,
                                   const char *name, tabi_place place);
tbi_hrp_extra *tbi_hrp_add_extra(tbi_hrp *hrp, const char *name, tabi_place place);
/* A text that lives as long as the robot is read; NULL after an error. */
const char *tbi_hrp_keep(tbi_hrp *hrp, const char *text);
/* A joint with one coordinate: angle about, or way along its axis; without limits where they are
 * infinite. */
void tbi_hrp_set_axis_joint(tabi_joint_def *joint, bool slides, double lower, double upper);
/* The row of a node, or of a field, key or property of it; NULL if the table has none. */
const tbi_format_row *tbi_hrp_find_row(const tbi_format *format, const char *owner,
                                       const char *name);
/* "KIND NAME is ignored", once for each kind and name, unless the row says that it is used; a
 * note or a warning by the row. */
void tbi_hrp_tell(tbi_hrp *hrp, tabi_place place, const tbi_format_row *row, const char *kind,
                  const char *name);

/* ------------------------------------------------------------------------------ hrp_shape.c */

tbi_hrp_frame tbi_hrp_frame_identity(void);
tbi_hrp_frame tbi_hrp_frame_mul(const tbi_hrp_frame *a, const tbi_hrp_frame *b);
/* Moved by t, after turned by r, after stretched by s. */
tbi_hrp_frame tbi_hrp_frame_make(v3 t, q4 r, v3 s);
/* A rotation by an angle about an axis of any length but zero, which gives no rotation. */
q4 tbi_hrp_rotation(const double axis_angle[4]);
/* The rotation of a frame, without what it stretches. */
q4 tbi_hrp_frame_rotation(const tbi_hrp_frame *frame);

typedef enum tbi_hrp_solid {
  TBI_HRP_BOX,      /* size: edges */
  TBI_HRP_SPHERE,   /* size: radius */
  TBI_HRP_CYLINDER, /* size: radius, height; axis y */
  TBI_HRP_CAPSULE,  /* size: radius, height of the cylinder; axis y */
  TBI_HRP_CONE,     /* size: radius of the base, height; axis y, top at +height/2 */
} tbi_hrp_solid;

/* How a shape looks and what it is for. */
typedef struct tbi_hrp_look {
  double rgba[4];
  bool collides, visible;
  tabi_place place;
} tbi_hrp_look;

void tbi_hrp_add_solid(tbi_hrp *hrp, int32_t link, tbi_hrp_solid solid, const double size[3],
                       const tbi_hrp_frame *frame, const tbi_hrp_look *look);
/* Takes the mesh over, also after an error. */
void tbi_hrp_add_mesh(tbi_hrp *hrp, int32_t link, tbi_mesh *mesh, const tbi_hrp_frame *frame,
                      const tbi_hrp_look *look);
/* Polygons by indices of points, each ended by -1; wrong indices are errors. */
typedef struct tbi_hrp_polygons {
  const double *points, *indices;
  int32_t npoint, nindex;
  bool clockwise;
} tbi_hrp_polygons;
void tbi_hrp_add_polygons(tbi_hrp *hrp, int32_t link, const tbi_hrp_polygons *polygons,
                          const tbi_hrp_frame *frame, const tbi_hrp_look *look);
/* A mesh file: STL, OBJ and the like. */
void tbi_hrp_add_file(tbi_hrp *hrp, int32_t link, const char *file, const tbi_hrp_frame *frame,
                      const tbi_hrp_look *look);
/* Adds a gathered shape to the builder; its link is there, and stands in the world or moves. */
void tbi_hrp_build_shape(tbi_hrp *hrp, tbi_hrp_shape *shape, bool stands);

#endif
