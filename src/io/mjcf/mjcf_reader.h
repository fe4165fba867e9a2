/* mjcf_reader.h - what the files of the MJCF reader share.
 *
 *   include -> compiler, defaults -> assets -> bodies with joints and geoms -> inertia
 *           -> builder: links, joints, shapes -> tendons, equality, actuators, sensors, keyframes
 *
 * Bodies, joints and geoms are first collected here, in MuJoCo's numbering, because the inertia
 * of a body may depend on all of them (settotalmass).  Every function may be
 * called after an error and then does nothing of consequence. */
#ifndef TBI_MJCF_READER_H
#define TBI_MJCF_READER_H

#include "base/names.h"
#include "base/text.h"
#include "io/first_error.h"
#include "io/mesh/mesh.h"
#include "io/report.h"
#include "io/xml.h"
#include "math/quat.h"
#include "tabi/tabi_io.h"

/* kinds of things that are ignored by more than their tag and reported once */
typedef enum tbi_mjcf_notice {
  TBI_MJCF_MOCAP = 2,
} tbi_mjcf_notice;

typedef enum tbi_mjcf_inertia_rule {
  TBI_MJCF_INERTIA_GIVEN,
  TBI_MJCF_INERTIA_GEOMS,
  TBI_MJCF_INERTIA_AUTO, /* from geoms where <inertial> is missing */
} tbi_mjcf_inertia_rule;

typedef struct tbi_mjcf_compiler {
  double angle_unit;     /* rad: pi/180 or 1 */
  bool global;           /* coordinates are those of the world: MuJoCo up to 2.3.3 */
  char euler_seq[4];     /* lower case: about moving axes, upper case: about fixed ones */
  int limited_by_range;  /* autolimits: 0, 1, or -1 where the file is silent */
  const char *mesh_dir;  /* NULL: beside the file */
  bool strip_path;       /* mesh files by their last part only */
  bool exact_mesh;       /* mesh inertia by signed volumes */
  bool fit_aabb;         /* primitives are fitted to the bounding box of a mesh */
  bool balance;          /* repair inertias that break A + B >= C */
  int inertia_rule;      /* tbi_mjcf_inertia_rule */
  double group_range[2]; /* geom groups that count for inertia */
  double bound_mass, bound_inertia, total_mass; /* 0 or less: unused */
} tbi_mjcf_compiler;

/* What <flag> switches off in the whole model. */
typedef struct tbi_mjcf_disabled {
  bool contact, limit, equality, friction, spring, damper;
} tbi_mjcf_disabled;

/* A file that the model is made of. */
typedef struct tbi_mjcf_file {
  tbi_xml *xml;       /* NULL for the main file, whose tree is the caller's */
  const char *name;   /* as whoever includes it says */
  const char *found;  /* without links, to compare */
  const char *places; /* the pointer by which its elements name it */
  int32_t from;       /* the file that includes it; TABI_NONE for the main one */
  int32_t model;
} tbi_mjcf_file;

/* The main model, or one to attach. */
typedef struct tbi_mjcf_model {
  tbi_xml_node *asset, *root; /* asset: the <model>; NULL for the main one */
  const char *name;           /* its file from the folder of the main one; "" for that one */
  tbi_mjcf_compiler compiler;
} tbi_mjcf_model;

/* A default class; class 0 is the outermost and always there. */
typedef struct tbi_mjcf_class {
  const char *name;
  int32_t parent;     /* -1 for the outermost */
  int32_t depth;      /* 0 for the outermost */
  tbi_xml_node *node; /* NULL: an outermost class that says nothing */
} tbi_mjcf_class;

typedef enum tbi_mjcf_mesh_rule {
  TBI_MJCF_MESH_CONVEX, /* its hull */
  TBI_MJCF_MESH_EXACT,  /* signed volumes */
  TBI_MJCF_MESH_LEGACY, /* pyramids above its centre */
  TBI_MJCF_MESH_SHELL,  /* its surface */
} tbi_mjcf_mesh_rule;

typedef struct tbi_mjcf_mesh {
  const char *name;
  tabi_place place;
  tbi_mesh triangles; /* moved and scaled as the asset says; empty: the file is missing */
  int32_t index;      /* in the builder; TABI_NONE until a shape uses it */
  int32_t hull;       /* in the builder, likewise; of a mesh without volume for ever */
  bool has_hull;      /* it was asked for */
  int rule;           /* tbi_mjcf_mesh_rule: what its inertia is taken from */
  bool measured;      /* the members below are valid */
  double volume;      /* that its density is counted for; of a shell its area */
  v3 com;
  s3 inertia; /* per kg, about the com */
} tbi_mjcf_mesh;

/* A height field; its triangles are those of a shape. */
typedef struct tbi_mjcf_hfield {
  tbi_mesh triangles;
  tabi_place place;
  const char *name;
  int32_t index; /* in the builder; TABI_NONE until a shape uses it */
} tbi_mjcf_hfield;

typedef struct tbi_mjcf_material {
  const char *name;
  tabi_place place;
  double rgba[4];
} tbi_mjcf_material;

typedef enum tbi_mjcf_joint_type {
  TBI_MJCF_FREE,
  TBI_MJCF_BALL,
  TBI_MJCF_SLIDE,
  TBI_MJCF_HINGE,
} tbi_mjcf_joint_type;

typedef struct tbi_mjcf_joint {
  const char *name; /* NULL: unnamed */
  int type;         /* tbi_mjcf_joint_type */
  int32_t body;
  v3 anchor, axis;        /* body frame */
  double ref;             /* q in the pose that the file gives */
  double drive[2];        /* actuatorfrcrange, N m or N; equal: none */
  double springdamper[2]; /* time constant, s, and damping ratio; 0: stiffness and damping count */
  tabi_joint_def def;
  int32_t index; /* in the builder; TABI_NONE if the base was fixed by request */
} tbi_mjcf_joint;

/* A named frame in a body. */
typedef struct tbi_mjcf_site {
  int32_t body;
  v3 pos;
  q4 rot;
  tabi_place place;
} tbi_mjcf_site;

typedef struct tbi_mjcf_tendon {
  int32_t index;           /* in the builder */
  double range[2];         /* infinite: none */
  double drive[2];         /* actuatorfrcrange, likewise */
  double length;           /* with all joints at ref */
  bool rests_at_reference; /* no springlength is given */
} tbi_mjcf_tendon;

/* An actuator of the builder whose damping is a ratio. */
typedef struct tbi_mjcf_ratio {
  int32_t actuator;
  double ratio;
} tbi_mjcf_ratio;

typedef struct tbi_mjcf_geom {
  const char *name;
  int32_t body;
  int32_t mesh;       /* asset, or TABI_NONE */
  int32_t hfield;     /* likewise */
  bool has_shape;     /* else it has mass only */
  double friction[3]; /* sliding, torsional (m), rolling (m) */
  double condim;      /* how much of it counts: 1 none, 3 sliding, 4 torsional too, 6 all */
  double priority;    /* the friction of the geom with the larger one counts */
  bool paired;        /* a <pair> names it */
  double group;       /* as the file counts */
  bool counts;        /* for the inertia of its body */
  double mass;        /* kg */
  v3 com;             /* body frame */
  s3 inertia;         /* about the com, body axes */
  tabi_shape_def shape;
} tbi_mjcf_geom;

/* A material of the builder, and the first geom that has it. */
typedef struct tbi_mjcf_friction {
  int32_t material;
  double friction[3], condim, priority;
} tbi_mjcf_friction;

typedef struct tbi_mjcf_body {
  const char *name;
  tabi_place place;
  tbi_xml_node *node;
  int32_t child_class; /* of what is in it */
  int32_t parent;      /* 0: the world */
  v3 pos;              /* in the parent's frame, joints at ref */
  q4 rot;
  v3 world_pos; /* the same in the world */
  q4 world_rot;
  v3 file_pos; /* the same, wherever the caller puts the base */
  q4 file_rot;
  int32_t first_joint, njoint, first_geom, ngeom;
  bool weighs_geoms; /* its inertia comes from its geoms, if it has any that count */
  double mass;
  v3 com;
  s3 inertia;
  double buoyancy; /* gravcomp */
  int32_t link;    /* in the builder */
} tbi_mjcf_body;

typedef struct tbi_mjcf {
  tabi_builder *builder;
  tbi_xml_node *root;
  const char *path;
  const tabi_load_def *def;
  tbi_first_error error;
  unsigned noticed; /* of tbi_mjcf_notice */
  tbi_mjcf_disabled disabled;

  tbi_text_pool text;
  tbi_meshes *files;      /* where meshes come from */
  tbi_mjcf_file *sources; /* 0: the main file; then the included ones */
  tbi_mjcf_model *models; /* 0: the main one */
  int32_t nsource, cap_source, nmodel, cap_model;
  tbi_xml *copies;   /* elements of our own, mjcf_expand.c */
  int32_t copy_room; /* how many more there may be */
  int32_t attach_depth;
  tbi_names renamed;     /* names that copies change, mjcf_names.c */
  tbi_xml_node taken[5]; /* what refers to them, by section; parent: the section */

  tbi_mjcf_class *classes;
  tbi_mjcf_mesh *meshes;
  tbi_mjcf_hfield *hfields;
  int32_t nhfield, cap_hfield;
  tbi_names hfield_names;
  tbi_mjcf_material *materials;
  tbi_mjcf_body *bodies; /* 0: the world */
  tbi_mjcf_joint *joints;
  tbi_mjcf_geom *geoms;
  tbi_mjcf_site *sites;
  int32_t nsite, cap_site;
  tbi_names site_names;
  tbi_mjcf_tendon *tendons;
  int32_t ntendon, cap_tendon;
  tbi_names tendon_names;
  tbi_mjcf_ratio *ratios;
  int32_t nratio, cap_ratio;
  int32_t
      *actuators; /* in the builder, TABI_NONE where one was left out; as keyframes count them */
  int32_t nactuator, cap_actuator;
  int32_t nclass, nmesh, nmaterial, nbody, njoint, ngeom;
  tbi_xml_node *base_node; /* the body that is the robot's base, */
  int32_t base;            /* and its index once it has been read */
  int32_t cap_class, cap_mesh, cap_material, cap_body, cap_joint, cap_geom;
  tbi_names class_names, mesh_names, material_names, body_names, joint_names, geom_names;
  tbi_names friction_names; /* materials, by their coefficients */
  tbi_mjcf_friction *frictions;
  int32_t nfriction, cap_friction;
} tbi_mjcf;

/* An element together with the defaults behind it. */
typedef struct tbi_mjcf_item {
  tbi_mjcf *reader;
  tbi_xml_node *node;
  const char *kind; /* tag of its defaults; NULL: it has none */
  int32_t default_class;
  const char *name; /* NULL: unnamed */
  char label[96];   /* "geom 'foot'", for messages */
} tbi_mjcf_item;

typedef struct tbi_mjcf_limits {
  double range[2];
  int on; /* one of: */
#define TBI_MJCF_LIMITS_OFF  0
#define TBI_MJCF_LIMITS_ON   1
#define TBI_MJCF_LIMITS_AUTO 2 /* on if a range is given */
} tbi_mjcf_limits;

/* "label: message" at the line of the element, if it is the first error. */
void tbi_mjcf_fail(const tbi_mjcf_item *item, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tbi_mjcf_warn(tbi_mjcf *reader, tabi_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Element `node` with defaults of tag `kind`, from the class it names or else `inherited`. */
tbi_mjcf_item tbi_mjcf_item_of(tbi_mjcf *reader, tbi_xml_node *node, const char *kind,
                               int32_t inherited);

/* The class above class c that has the given depth; c itself at its own depth. */
int32_t tbi_mjcf_class_at(const tbi_mjcf *reader, int32_t c, int32_t depth);

/* The text of an attribute, or NULL.  *distance (may be NULL) is 0 when the element says it
 * itself, else how many classes away it was found. */
const char *tbi_mjcf_text(const tbi_mjcf_item *item, const char *attribute, int32_t *distance);
/* Between min and max numbers, the element's own over those of its classes; the remainder of
 * `values` stays.  Returns the length of the longest list; 0 if none is given. */
int32_t tbi_mjcf_numbers(const tbi_mjcf_item *item, const char *attribute, int32_t min, int32_t max,
                         double *values);
/* One number, left alone if none is given. */
bool tbi_mjcf_number(const tbi_mjcf_item *item, const char *attribute, double *value);
/* The first of up to three coefficients; MuJoCo's polynomials are told. */
void tbi_mjcf_read_linear(const tbi_mjcf_item *item, const char *attribute, double *value);
/* The index of the attribute's word in a list that ends with NULL, or `otherwise`. */
int tbi_mjcf_word(const tbi_mjcf_item *item, const char *attribute, const char *const *words,
                  int otherwise);
/* The index of the thing that the attribute names; TABI_NONE and an error if there is none or
 * (needed) the attribute is missing. */
int32_t tbi_mjcf_reference(const tbi_mjcf_item *item, const char *attribute, const tbi_names *names,
                           const char *kind, bool needed);
/* Reads a range and its switch over the values in `limits`. */
void tbi_mjcf_read_range(const tbi_mjcf_item *item, const char *range, const char *limited,
                         tbi_mjcf_limits *limits);
/* The bounds that this means: infinite where the limits are off. */
void tbi_mjcf_settle_range(const tbi_mjcf_item *item, const char *range,
                           const tbi_mjcf_limits *limits, double bounds[2]);
/* Remembers the element's name, if it has one, with the index.  Returns -1, or the index of the
 * one that had the name before: then the caller reports its line. */
int32_t tbi_mjcf_add_name(const tbi_mjcf_item *item, tbi_names *names, int32_t index);
/* The shortest spelling that reads back, with a point in every locale. */
void tbi_mjcf_write_number(double value, char *number, size_t size);
/* The name behind the load's prefix, or kind and number for what is unnamed. */
const char *tbi_mjcf_full_name(tbi_mjcf *reader, const char *name, const char *kind,
                               int32_t number);

void tbi_mjcf_include(tbi_mjcf *reader); /* mjcf_include.c */
/* The settings of the model that an element is from. */
tbi_mjcf_compiler *tbi_mjcf_compiler_of(tbi_mjcf *reader, const tbi_xml_node *node);
/* The path, from the folder of the main file, of a file beside the model that the node is from. */
const char *tbi_mjcf_beside_model(tbi_mjcf *reader, const tbi_xml_node *node, const char *file);
/* The root of the model that an asset names, with what it includes and attaches; NULL: an error. */
tbi_xml_node *tbi_mjcf_model_root(tbi_mjcf *reader, tbi_xml_node *asset);

void tbi_mjcf_read_compiler(tbi_mjcf *reader); /* mjcf_compiler.c */
void tbi_mjcf_read_compiler_of(tbi_mjcf *reader, int32_t model);

void tbi_mjcf_expand(tbi_mjcf *reader); /* mjcf_expand.c */
void tbi_mjcf_expand_model(tbi_mjcf *reader, tbi_xml_node *root);
tbi_xml_node *tbi_mjcf_copy(tbi_mjcf *reader, const tbi_xml_node *node);
tbi_xml_node *tbi_mjcf_make(tbi_mjcf *reader, const char *name, tabi_place place);
void tbi_mjcf_set(tbi_mjcf *reader, tbi_xml_node *node, const char *attribute, const char *value);
/* Puts a chain of siblings in the place of a node in its list; NULL: takes it out. */
void tbi_mjcf_replace(tbi_xml_node *parent, tbi_xml_node *node, tbi_xml_node *first,
                      tbi_xml_node *last);
void tbi_mjcf_attach(tbi_mjcf *reader, tbi_xml_node *node); /* mjcf_attach.c */

/* mjcf_names.c: names in an element, what refers to them, and new ones for copies */
void tbi_mjcf_collect_names(tbi_mjcf *reader, tbi_xml_node *node, tbi_names *set);
void tbi_mjcf_rename(tbi_mjcf *reader, tbi_xml_node *node, const char *prefix, const char *suffix);
void tbi_mjcf_rename_assets(tbi_mjcf *reader, tbi_xml_node *node, const char *prefix);
/* Whether an element refers to names in the set, and (to_all) to no other. */
bool tbi_mjcf_refers(const tbi_names *set, tbi_xml_node *node, bool to_all);
/* Takes what refers to names within node out of the other sections, puts a copy with a suffix
 * there, and forgets it. */
void tbi_mjcf_begin_references(tbi_mjcf *reader, tbi_xml_node *node);
void tbi_mjcf_copy_references(tbi_mjcf *reader, const char *suffix);
void tbi_mjcf_end_references(tbi_mjcf *reader);

void tbi_mjcf_read_defaults(tbi_mjcf *reader); /* mjcf_defaults.c */
void tbi_mjcf_read_assets(tbi_mjcf *reader);   /* mjcf_asset.c */
/* Gives an unnamed mesh or height field the name of its file. */
void tbi_mjcf_name_asset(tbi_mjcf *reader, tbi_xml_node *node);
void tbi_mjcf_read_bodies(tbi_mjcf *reader); /* mjcf_body.c */
/* One joint or geom of a body. */
void tbi_mjcf_read_joint(tbi_mjcf *reader, tbi_xml_node *node, int32_t body);
void tbi_mjcf_read_geom(tbi_mjcf *reader, tbi_xml_node *node, int32_t body);
/* Sets mass, com and inertia of a body from its <inertial> or its geoms. */
void tbi_mjcf_read_inertia(tbi_mjcf *reader, int32_t body_index);
void tbi_mjcf_scale_masses(tbi_mjcf *reader);
void tbi_mjcf_add_bodies(tbi_mjcf *reader);     /* mjcf_build.c */
void tbi_mjcf_read_tendons(tbi_mjcf *reader);   /* mjcf_tendon.c */
void tbi_mjcf_read_actuators(tbi_mjcf *reader); /* mjcf_actuator.c */
/* mjcf_settle.c: what is given relative to an inertia: dampratio, springdamper */
void tbi_mjcf_settle(tbi_mjcf *reader);
void tbi_mjcf_read_equality(tbi_mjcf *reader);  /* mjcf_equality.c: loops, couplings, exclusions */
void tbi_mjcf_read_keyframes(tbi_mjcf *reader); /* mjcf_keyframe.c */
void tbi_mjcf_read_site(tbi_mjcf *reader, tbi_xml_node *node, int32_t body); /* mjcf_site.c */
void tbi_mjcf_read_sensors(tbi_mjcf *reader);
/* mjcf_contact.c: which geoms <pair> lets meet, before shapes are made; the builder's material of
 * a geom; and the friction of materials and geoms in contact, after */
void tbi_mjcf_read_pairs(tbi_mjcf *reader);
int32_t tbi_mjcf_material_for(tbi_mjcf *reader, tbi_mjcf_geom *geom);
void tbi_mjcf_add_frictions(tbi_mjcf *reader);

/* mjcf_frame.c: pos and the orientation in any of its spellings; true if one was given */
bool tbi_mjcf_frame(const tbi_mjcf_item *item, v3 *pos, q4 *rot);
/* A pose as an element gives it, within the frames around it or with coordinate="global" in the
 * world, becomes one in a body. */
void tbi_mjcf_outward(const tbi_mjcf_item *item, int32_t body, v3 *pos, q4 *rot);
/* The same for what no frame is around. */
void tbi_mjcf_inward(const tbi_mjcf_item *item, int32_t body, v3 *pos, q4 *rot);
/* The default class for a child of a body: of the nearest frame that says one, or the body's. */
int32_t tbi_mjcf_class_around(tbi_mjcf *reader, const tbi_xml_node *child, int32_t inherited);
q4 tbi_mjcf_euler(const tbi_mjcf_item *item, int32_t times); /* its euler, angles so many times */
q4 tbi_mjcf_quat_z(v3 direction); /* the shortest rotation from z to a direction */
v3 tbi_mjcf_turn(q4 rot, v3 a);
q4 tbi_mjcf_quat_inverse(q4 a);

/* mjcf_fit.c: size and place of a primitive that takes the place of a mesh */
typedef enum tbi_mjcf_fit {
  TBI_MJCF_FIT_SPHERE,
  TBI_MJCF_FIT_CAPSULE,
  TBI_MJCF_FIT_CYLINDER,
  TBI_MJCF_FIT_BOX, /* and ellipsoid */
} tbi_mjcf_fit;
typedef struct tbi_mjcf_fitted {
  v3 pos; /* in the frame of the mesh */
  q4 rot;
  double size[3]; /* half sizes */
} tbi_mjcf_fitted;
void tbi_mjcf_fit_mesh(const tbi_mjcf_item *item, tbi_mjcf_mesh *mesh, tbi_mjcf_fit type,
                       tbi_mjcf_fitted *fitted);

/* mjcf_shell.c: the surface of a primitive of these half sizes, as in <geom>; nothing for others */
typedef struct tbi_mjcf_shell {
  double area;
  s3 inertia; /* per kg, about the centre, in the geom's axes */
} tbi_mjcf_shell;
tbi_mjcf_shell tbi_mjcf_shell_of(tabi_shape_type type, const double size[3]);

/* mjcf_mesh.c: volume, com and inertia, once; an error for a flat mesh */
void tbi_mjcf_measure_mesh(tbi_mjcf *reader, tbi_mjcf_mesh *mesh);

#endif
