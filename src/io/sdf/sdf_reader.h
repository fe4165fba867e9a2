/* sdf_reader.h - the parts of the SDF reader, and what they share.
 *
 *   sdf_file.c    the files: <include> and what it opens
 *   sdf_read.c    values of elements: numbers, words, poses
 *   sdf_tree.c    models in models become flat lists of models and frames
 *   sdf_frame.c   where every frame is, by <pose relative_to>
 *   sdf_link.c    links: inertia, sensors
 *   sdf_shape.c   shapes and surfaces
 *   sdf_joint.c   joints: a tree, and connections where they close loops
 *   sdf_motion.c  what one joint element becomes: axes, limits, springs
 *   sdf.c         all in order
 *   sdf_scene.c   a world as a scene
 *
 * A frame is anything that has a pose and a name: the world, a model, a link, a joint, a <frame>.
 * Its full name leads through the models that it is in, "robot::arm::hand". */
#ifndef TBI_SDF_READER_H
#define TBI_SDF_READER_H

#include "base/names.h"
#include "base/text.h"
#include "io/mesh/mesh.h"
#include "io/xml.h"
#include "math/quat.h"
#include "tabi/tabi_io.h"

#define TBI_SDF_WHAT     200  /* "joint 'robot::knee'" */
#define TBI_SDF_NO_LIMIT 1e15 /* Gazebo writes 1e16 where there is none */

typedef struct tbi_pose {
  v3 pos;
  q4 rot;
} tbi_pose;

typedef enum tbi_sdf_kind {
  TBI_SDF_WORLD,
  TBI_SDF_MODEL,
  TBI_SDF_LINK,
  TBI_SDF_JOINT,
  TBI_SDF_FRAME,
} tbi_sdf_kind;

typedef struct tbi_sdf_frame {
  tbi_sdf_kind kind;
  tbi_xml_node *node;
  tbi_xml_node *pose; /* <pose> of it, or NULL */
  const char *name;   /* full */
  int32_t model;      /* whose names it sees */
  int32_t relative;   /* frame that its pose is given in */
  int32_t attached;   /* of joints the child, of frames what they are fixed to: a frame */
  int32_t link;       /* of links: in the builder */
  tbi_pose local;     /* as given, in `relative` */
  tbi_pose world;
  bool placed; /* world is known */
  bool open;   /* being looked at, to find circles */
} tbi_sdf_frame;

typedef struct tbi_sdf_model {
  const char *path;      /* before the names of what is in it: "robot::arm::" */
  const char *placement; /* the frame that its pose speaks of, or NULL */
  int32_t frame;         /* its own */
  int32_t base;          /* where its elements are by default: its own frame */
  int32_t parent, top;   /* models; top: the outermost, whose name may be left out */
  int32_t depth;         /* how many models it is in */
  int32_t source;        /* the file it is in */
  int32_t canonical;     /* frame of its first link, or the one that it names; TABI_NONE */
  int32_t version;       /* of version 1.7 the 7 */
  bool is_static, self_collide;
  bool has_links; /* of its own */
  bool wanted;    /* not another part than the one that the caller asked for */
} tbi_sdf_model;

typedef struct tbi_sdf_source {
  tbi_xml *xml; /* NULL for the file that is being loaded */
  const char *path;
  tbi_meshes *meshes;
  bool told; /* what was ignored in it */
} tbi_sdf_source;

/* A joint while the tree is made. */
typedef struct tbi_sdf_joint {
  int32_t frame;
  int32_t parent, child; /* frames of links; 0: the world */
  bool reversed;         /* parent and child are exchanged: what stands is never a child */
  bool closes;           /* a loop: it becomes a connection */
  bool is_gearbox;       /* it joins nothing, but couples two others */
  int32_t first, index;  /* the first and last joint that it became; index TABI_NONE: none */
} tbi_sdf_joint;

typedef struct tbi_sdf {
  tabi_builder *builder;
  const tabi_load_def *def;
  tbi_first_error *error;
  tbi_xml_node *root;
  tbi_text_pool text;
  tbi_names names; /* full names to frames */
  tbi_names files; /* paths to sources */
  tbi_sdf_frame *frames;
  tbi_sdf_model *models;
  tbi_sdf_source *sources;
  tbi_sdf_joint *joints;
  int32_t nframe, frame_capacity, nmodel, model_capacity;
  int32_t nsource, source_capacity, njoint, joint_capacity;
  int32_t *above;      /* of every frame that is a link: its joint in joints, or TABI_NONE */
  int32_t ntop;        /* outermost models */
  int32_t nested;      /* models within models, at present */
  tbi_xml_node *world; /* <world>, or else the root */
  bool has_world;
} tbi_sdf;

/* -- sdf_read.c */

/* a pose within another */
static inline tbi_pose tbi_pose_compose(tbi_pose a, tbi_pose b) {
  m3 r = q_matrix(a.rot);
  return (tbi_pose){v3_add(a.pos, m3_mulv(&r, b.pos)), q_normalize(q_mul(a.rot, b.rot))};
}
static inline tbi_pose tbi_pose_inverse(tbi_pose a) {
  q4 back = {a.rot.w, -a.rot.x, -a.rot.y, -a.rot.z};
  m3 r = q_matrix(back);
  return (tbi_pose){v3_neg(m3_mulv(&r, a.pos)), back};
}
static inline tbi_pose tbi_pose_identity(void) { return (tbi_pose){v3_zero(), q_identity()}; }
static inline void tbi_pose_store(tbi_pose a, double pos[3], double quat[4]) {
  v3_store(a.pos, pos);
  q_store(a.rot, quat);
}

/* Values of child elements; one that is not there leaves the value as it was and gives false. */
bool tbi_sdf_number(const tbi_sdf *s, tbi_xml_node *node, const char *child, double *value);
bool tbi_sdf_numbers(const tbi_sdf *s, tbi_xml_node *node, const char *child, int32_t n,
                     double *values);
bool tbi_sdf_flag(tbi_xml_node *node, const char *child, bool otherwise);
/* Its text, or NULL. */
const char *tbi_sdf_text(tbi_xml_node *node, const char *child);
/* What a <pose> says; none is no displacement. */
bool tbi_sdf_read_pose(const tbi_sdf *s, tbi_xml_node *pose, tbi_pose *value);
/* "link 'robot::foot'" */
void tbi_sdf_what(const tbi_sdf_frame *frame, char what[TBI_SDF_WHAT]);
/* The name of a frame in the builder, until the text pool goes; NULL after an error. */
const char *tbi_sdf_output_name(tbi_sdf *s, int32_t frame, const char *ending);

/* -- sdf_file.c */

/* The model that an <include> names, and its source; NULL after an error, or after a warning that
 * it is left out. */
tbi_xml_node *tbi_sdf_include(tbi_sdf *s, tbi_xml_node *include, int32_t from, int32_t *source);
/* Meshes are looked for beside the file of a source. */
int32_t tbi_sdf_add_source(tbi_sdf *s, tbi_xml *xml, const char *path);

/* -- sdf.c */

/* Gravity and time step of a world to the builder. */
void tbi_sdf_read_world(tbi_sdf *s, tbi_xml_node *world);
/* A reader of what is below <sdf>; false after an error.  Free after that as well. */
bool tbi_sdf_begin(tbi_sdf *s, const char *path);
void tbi_sdf_end(tbi_sdf *s);

/* -- sdf_tree.c */

/* All models and frames below a <world> or <sdf>. */
void tbi_sdf_list(tbi_sdf *s, tbi_xml_node *world);

/* -- sdf_frame.c */

/* A frame by a name as a model sees it; TABI_NONE if there is none. */
int32_t tbi_sdf_find(tbi_sdf *s, int32_t model, const char *name);
/* The same; after an error that speaks of `what`, TABI_NONE. */
int32_t tbi_sdf_need(tbi_sdf *s, int32_t model, tbi_xml_node *node, const char *name,
                     const char *what);
/* Sets `world` of all frames. */
void tbi_sdf_place(tbi_sdf *s);
/* The pose of a child element in a link or joint; its <pose> may be relative to another frame. */
tbi_pose tbi_sdf_pose_in(tbi_sdf *s, int32_t frame, tbi_xml_node *element);
/* The link that a frame moves with: its frame, 0 for the world, TABI_NONE after an error. */
int32_t tbi_sdf_link_of(const tbi_sdf *s, int32_t frame);
bool tbi_sdf_is_static(const tbi_sdf *s, int32_t frame);
/* Whether it becomes part of the builder. */
bool tbi_sdf_is_wanted(const tbi_sdf *s, int32_t frame);

/* -- sdf_link.c and sdf_shape.c */

void tbi_sdf_add_links(tbi_sdf *s);
void tbi_sdf_add_shapes(tbi_sdf *s, int32_t frame);
/* The geometry of a shape; false if there is none that tabi knows. */
bool tbi_sdf_read_geometry(tbi_sdf *s, int32_t frame, tbi_xml_node *node, tabi_shape_def *def);
/* Mass, centre and inertia of the collision shapes of a link. */
void tbi_sdf_weigh(tbi_sdf *s, int32_t frame, double density, tabi_link_def *def);
/* Sensors in a link, or in a joint with an index in the builder. */
void tbi_sdf_add_sensors(tbi_sdf *s, int32_t frame, int32_t joint);

/* -- sdf_joint.c and sdf_motion.c */

/* The tree of links, then the frames moved to where the caller wants the root. */
void tbi_sdf_plan_joints(tbi_sdf *s);
void tbi_sdf_add_joints(tbi_sdf *s);

/* The joints, one after another, that a joint element becomes; each at the joint's frame. */
typedef struct tbi_sdf_motion {
  tabi_joint_def def[2];
  int32_t count;
  double lead; /* of a screw, m/rad: the second follows the first; 0 for others */
} tbi_sdf_motion;
bool tbi_sdf_read_motion(tbi_sdf *s, const tbi_sdf_joint *joint, tbi_sdf_motion *motion);
void tbi_sdf_add_connection(tbi_sdf *s, const tbi_sdf_joint *joint, const tbi_sdf_motion *motion);

#endif
