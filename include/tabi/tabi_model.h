/* tabi_model.h - errors, models built from calls, and the rigid-body dynamics of one state. */
#ifndef TABI_MODEL_H
#define TABI_MODEL_H

#include "tabi_export.h" /* TABI_API, TABI_BEGIN, TABI_END */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

TABI_BEGIN

typedef struct tabi_builder tabi_builder;
typedef struct tabi_model tabi_model;
typedef struct tabi_dynamics tabi_dynamics;

/* ------------------------------------------------------------------------------ errors */

typedef enum tabi_status {
  TABI_OK = 0,
  TABI_ERR_ARGUMENT, /* a def or a call holds a value out of range */
  TABI_ERR_MEMORY,
  TABI_ERR_FILE,     /* cannot open or read */
  TABI_ERR_PARSE,    /* malformed text */
  TABI_ERR_MODEL,    /* well-formed text, impossible robot */
  TABI_ERR_CAPACITY, /* more contacts than there is memory for */
  TABI_ERR_DIVERGED, /* not finite or too fast; the world keeps its last good state */
  TABI_ERR_ENDED,    /* the walk is over, see tabi_gait_outcome */
} tabi_status;

typedef enum tabi_severity {
  TABI_SEVERITY_ERROR,   /* the call failed, or a simulation will */
  TABI_SEVERITY_WARNING, /* behaves otherwise than its author may expect */
  TABI_SEVERITY_NOTE,    /* of no consequence for the motion */
} tabi_severity;

/* What was changed in a file's content so that it could be used. */
typedef struct tabi_repair {
  char item[96]; /* "link 'foot'"; "" when nothing was changed */
  char what[96]; /* "limits swapped" */
  double size;   /* the change relative to what was changed; 0 where that means nothing */
} tabi_repair;

/* Filled by any call that takes one; may be NULL. */
typedef struct tabi_error {
  tabi_status status;
  tabi_severity severity;
  int32_t line;   /* 1-based; 0 when no line is to blame */
  char file[256]; /* "" when no file is to blame */
  char message[512];
  tabi_repair repair; /* of a warning */
} tabi_error;

/* Receives what a call noticed but could live with. */
typedef void tabi_warning_fn(void *user, const tabi_error *warning);

/* Writes "file:line: error: message" (without a newline) and returns its length, which may be
 * size or more when it was cut.  The word is "error", "warning" or the like. */
TABI_API size_t tabi_error_text(const tabi_error *err, const char *word, char *text, size_t size);
/* What a status means, in a few words. */
TABI_API const char *tabi_status_text(tabi_status status);
/* "error", "warning" or "note". */
TABI_API const char *tabi_severity_text(tabi_severity severity);

/* Where in a file something was said; {NULL, 0} for things made by a program. */
typedef struct tabi_place {
  const char *file;
  int32_t line;
} tabi_place;

/* Called when an assertion fails: a bug, of the program (an index out of range, a NULL where there
 * must be none) or of tabi.  When it returns the program is aborted.  It may leave by longjmp; the
 * objects of the call that failed must then not be used again. */
typedef struct tabi_assert_handler {
  void (*failed)(void *user, const char *condition, const char *file, int32_t line);
  void *user;
} tabi_assert_handler;
/* NULL: the default handler, which prints the assertion to stderr.  Holds for all threads and must
 * live until another one takes its place; returns the one before. */
TABI_API const tabi_assert_handler *tabi_set_assert_handler(const tabi_assert_handler *handler);

/* ----------------------------------------------------------------------------- builder */

#define TABI_WORLD (-1) /* in place of a link or body: the world, which does not move */
#define TABI_NONE  (-1) /* no such item */

typedef enum tabi_joint_type {
  TABI_JOINT_FIXED,
  TABI_JOINT_REVOLUTE,   /* q: angle, with limits */
  TABI_JOINT_CONTINUOUS, /* q: angle, without */
  TABI_JOINT_PRISMATIC,  /* q: distance */
  TABI_JOINT_BALL,       /* q: quaternion; v: angular velocity in child axes */
  TABI_JOINT_PLANAR,     /* q: x, y, angle about the normal; v: their rates.  x and y are those of
                            the joint frame after the shortest turn of its z to the normal */
  TABI_JOINT_FREE,       /* q: position, quaternion in the joint frame; v: velocity of the child's
                            origin and angular velocity, both in the axes of the joint frame */
  TABI_JOINT_COUNT,
} tabi_joint_type;

/* A rigid link.  Without a joint it is fixed in the world. */
typedef struct tabi_link_def {
  uint32_t def_size; /* set by the default function; rejects raw or stale structs */
  const char *name;  /* NULL: not listed */
  double mass;       /* kg, >= 0 */
  double com[3];     /* m, link frame */
  double inertia[6]; /* kg m^2 about the com in link axes: xx yy zz xy xz yz */
  double buoyancy;   /* share of its weight that a force at the com carries; default 0 */
  tabi_place place;
} tabi_link_def;

/* A joint between a parent link and its child.  At q = 0 the child's frame is the joint
 * frame, which is given in the parent's. */
typedef struct tabi_joint_def {
  uint32_t def_size;
  const char *name; /* NULL: not listed */
  tabi_joint_type type;
  int32_t parent, child;  /* links; parent may be TABI_WORLD */
  double pos[3], quat[4]; /* m; joint frame in the parent's */
  double axis[3];         /* joint frame; of a planar joint the normal */
  double lower, upper;    /* rad or m; infinite: none.  Ball: upper is the largest angle */
  double effort;          /* N m or N, >= 0; infinite: no limit */
  double velocity;        /* rad/s or m/s, >= 0; infinite: no limit */
  double rotor_inertia;   /* kg m^2 or kg, before the gear */
  double gear;            /* the joint feels gear^2 * rotor_inertia */
  double stiffness;       /* N m/rad or N/m, of a spring */
  double rest_position;   /* rad or m, where the spring is unloaded */
  double damping;         /* N m s/rad or N s/m */
  double friction;        /* dry friction, N m or N */
  double initial_q[7];    /* q of the initial state; default: 0 or no rotation */
  int32_t id;             /* its column, from 0, in files of motion that name no joints; TABI_NONE:
                             not given */
  tabi_place place;
} tabi_joint_def;

typedef enum tabi_shape_type {
  TABI_SHAPE_PLANE,       /* normal +z */
  TABI_SHAPE_SPHERE,      /* size: radius */
  TABI_SHAPE_CAPSULE,     /* size: radius, length of the cylinder between the caps; axis z */
  TABI_SHAPE_CYLINDER,    /* size: radius, length; axis z */
  TABI_SHAPE_BOX,         /* size: full edge lengths */
  TABI_SHAPE_MESH,        /* the convex hull of a mesh's vertices; size: unused */
  TABI_SHAPE_TRIANGLES,   /* the faces of a mesh as ground, touched from where they are counter-
                             clockwise and solid behind; only on links fixed in the world */
  TABI_SHAPE_HEIGHTFIELD, /* the same, over x and y, and solid below without end */
  TABI_SHAPE_ELLIPSOID,   /* size: semi-axes along x, y, z */
  TABI_SHAPE_COUNT,
} tabi_shape_type;

typedef struct tabi_shape_def {
  uint32_t def_size;
  const char *name; /* NULL: unnamed */
  tabi_shape_type type;
  int32_t link;           /* may be TABI_WORLD */
  double pos[3], quat[4]; /* m; in the link's frame */
  double size[3];         /* m, see the type */
  int32_t mesh;           /* of meshes, triangles and height fields; else TABI_NONE */
  int32_t material;       /* TABI_NONE: the default material */
  bool collides, visible;
  uint32_t group, mask; /* a and b may touch if a.group & b.mask or b.group & a.mask */
  double rgba[4];       /* as the default says: no colour was given, and viewers choose one */
  tabi_place place;
} tabi_shape_def;

typedef struct tabi_mesh_def {
  uint32_t def_size;
  const char *name;
  int32_t nvertex, nface;
  const double *vertices; /* m, nvertex x 3 */
  const int32_t *faces;   /* nface x 3, counter-clockwise from outside */
  tabi_place place;
} tabi_mesh_def;

/* The contact parameters of a surface; each contact method uses those that it knows. */
typedef struct tabi_material_def {
  uint32_t def_size;
  const char *name;
  double friction;           /* static coefficient */
  double kinetic;            /* kinetic coefficient; negative: as static */
  double restitution;        /* 0 to 1 */
  double stiffness;          /* N/m */
  double damping;            /* N s/m */
  double viscous;            /* s/m, what a slip of 1 m/s adds to the coefficient */
  double slip_speed;         /* m/s, above which the friction of a new contact is kinetic */
  double rest_speed;         /* m/s, approach below which there is no rebound */
  double rolling_friction;   /* m: a contact resists rolling with a couple of so much times its
                                normal force */
  double torsional_friction; /* m: likewise against spinning about the normal */
  tabi_place place;
} tabi_material_def;

/* A joint of a tendon: the length has coef * q of it. */
typedef struct tabi_tendon_joint {
  int32_t joint; /* with one coordinate */
  double coef;
} tabi_tendon_joint;

typedef enum tabi_wrap {
  TABI_WRAP_NONE,
  TABI_WRAP_SPHERE,
  TABI_WRAP_CYLINDER, /* of any length */
  TABI_WRAP_COUNT,
} tabi_wrap;

/* A point of a tendon: the length has `share` times the distance from here to the next point.  With
 * `wrap` it is no point but an obstacle between the point before and the one after it, around which
 * the path bends if it is in the way; its share counts only by not being 0. */
typedef struct tabi_tendon_point {
  int32_t link;  /* may be TABI_WORLD */
  double pos[3]; /* m; in the frame of the link; of an obstacle its centre */
  double share;  /* 1; less behind a pulley; 0 where a branch of the tendon ends */
  tabi_wrap wrap;
  double radius;     /* m, of an obstacle */
  double axis[3];    /* of a cylinder, in the frame of the link */
  bool sided;        /* the path passes on the side of this point; if it is inside, through it: */
  int32_t side_link; /* may be TABI_WORLD */
  double side[3];    /* m; in the frame of side_link */
} tabi_tendon_point;

/* A tendon: a length (m or rad) that depends on the posture, and what acts along it.  It is the sum
 * of both lists, of which either may be empty. */
typedef struct tabi_tendon_def {
  uint32_t def_size;
  const char *name;
  int32_t njoint, npoint;
  const tabi_tendon_joint *joints; /* [njoint] */
  const tabi_tendon_point *points; /* [npoint] */
  double lower, upper;             /* of the length; infinite: none */
  double stiffness;                /* N/m or N m/rad, of a spring */
  double rest_lower, rest_upper;   /* lengths between which the spring is unloaded */
  double damping;                  /* N s/m or N m s/rad */
  double friction;                 /* dry friction, N or N m */
  double inertia;                  /* kg or kg m^2, of what moves as its length does */
  tabi_place place;
} tabi_tendon_def;

/* Drives a joint or a tendon with the force (N m or N) gear * clamp(gain * u + bias[0] +
 * bias[1] * l + bias[2] * ldot), where l = gear * q, of a tendon gear times its length.  Springs
 * and dampers in it (negative bias[1] and bias[2]) are implicit under the semi-implicit integrator,
 * while the force keeps within its limits. */
typedef struct tabi_actuator_def {
  uint32_t def_size;
  const char *name;
  int32_t joint, tendon; /* one of them; the other is TABI_NONE */
  double gear;
  double gain, bias[3];
  double control_min, control_max; /* of u */
  double force_min, force_max;     /* of the clamped sum */
  tabi_place place;
} tabi_actuator_def;

/* q[joint] = sum_k coef[k] q[leader]^k, for joints with one coordinate (mimic joints), or the same
 * of the lengths of tendons. */
typedef struct tabi_coupling_def {
  uint32_t def_size;
  const char *name;
  int32_t joint, leader;         /* leader may be TABI_NONE: then q[joint] = coef[0] */
  int32_t tendon, tendon_leader; /* likewise, in place of them; default TABI_NONE */
  double coef[5];
  tabi_place place;
} tabi_coupling_def;

typedef enum tabi_connection_type {
  TABI_CONNECTION_BALL,   /* the origins of both frames coincide */
  TABI_CONNECTION_HINGE,  /* the origins and the z axes coincide */
  TABI_CONNECTION_FIXED,  /* the frames coincide */
  TABI_CONNECTION_AXES,   /* no relative motion along or about the axes of frame a in `axes` */
  TABI_CONNECTION_ROD,    /* the origins stay `length` apart */
  TABI_CONNECTION_SPRING, /* a spring and damper between the origins, rest length `length` */
  TABI_CONNECTION_COUNT,
} tabi_connection_type;

/* Bits of `axes`.  With one TABI_TURN the frames are joined as by a universal joint, with two as by
 * a hinge about the third axis. */
enum {
  TABI_MOVE_X = 1,
  TABI_MOVE_Y = 2,
  TABI_MOVE_Z = 4,
  TABI_TURN_X = 8,
  TABI_TURN_Y = 16,
  TABI_TURN_Z = 32,
};

/* Closes a kinematic loop: constrains a frame on link b to a frame on link a.  Bodies that it joins
 * in a place do not collide unless `collide` says so; rods, springs and connections that hold
 * rotations only join nothing, and neither does one with the world itself. */
typedef struct tabi_connection_def {
  uint32_t def_size;
  const char *name;
  tabi_connection_type type;
  int32_t a, b;               /* either may be TABI_WORLD */
  double pos_a[3], quat_a[4]; /* m; the frame on a, in the frame of link a */
  double pos_b[3], quat_b[4]; /* m; the frame on b, in the frame of link b */
  uint32_t axes;              /* of TABI_CONNECTION_AXES */
  bool collide;               /* whether what it joins collides; default false */
  double length;              /* m, of a rod (> 0) or spring (>= 0) */
  double stiffness, damping;  /* N/m and N s/m, of a spring */
  tabi_place place;
} tabi_connection_def;

/* What a sensor measures, with the number of values at the end; in the axes of its frame unless the
 * world is named. */
typedef enum tabi_sensor_type {
  TABI_SENSOR_FORCE_TORQUE,  /* at a joint: force (N) and torque (N m) of parent on child, 6 */
  TABI_SENSOR_GYRO,          /* on a link: angular velocity, rad/s, 3 */
  TABI_SENSOR_ACCELEROMETER, /* on a link: acceleration minus gravity, m/s^2, 3 */
  TABI_SENSOR_ENCODER,       /* at a joint with one coordinate: rad or m, 1 */
  TABI_SENSOR_JOINT_TORQUE,  /* at such a joint: its drives (tau, servo, actuators), N m or N, 1 */
  TABI_SENSOR_CONTACT,       /* on a link: 1 in contact or 0, sum of normal forces in N, 2 */
  TABI_SENSOR_PRESSURE_CENTRE, /* on a link: x, y (m) in the plane z = 0, force along z (N), 3 */
  TABI_SENSOR_ZMP,             /* of the tree of a link: x, y, z (m), force along z (N), world, 4 */
  TABI_SENSOR_COUNT,
} tabi_sensor_type;

#define TABI_SENSOR_MAX 6 /* the most values of one sensor */

/* To every value noise is added; then it is rounded, cut to its range, and delayed. */
typedef struct tabi_sensor_def {
  uint32_t def_size;
  const char *name; /* NULL: not listed */
  tabi_sensor_type type;
  int32_t link, joint;                /* one of them, by its type; the other is not used */
  double pos[3], quat[4];             /* its frame in that of the link, or of the joint's child */
  double noise[TABI_SENSOR_MAX];      /* standard deviations, units of the values, as below */
  double resolution[TABI_SENSOR_MAX]; /* readings are multiples of it; 0: no rounding */
  double range[TABI_SENSOR_MAX];      /* readings are in [-range, range]; infinite: no limit */
  double delay;                       /* s, taken as the nearest number of steps */
  tabi_place place;
} tabi_sensor_def;

TABI_API tabi_link_def tabi_link_def_default(void);
TABI_API tabi_joint_def tabi_joint_def_default(void);
TABI_API tabi_shape_def tabi_shape_def_default(void);
TABI_API tabi_mesh_def tabi_mesh_def_default(void);
TABI_API tabi_material_def tabi_material_def_default(void);
TABI_API tabi_tendon_def tabi_tendon_def_default(void);
TABI_API tabi_actuator_def tabi_actuator_def_default(void);
TABI_API tabi_coupling_def tabi_coupling_def_default(void);
TABI_API tabi_connection_def tabi_connection_def_default(void);
TABI_API tabi_sensor_def tabi_sensor_def_default(void);

/* How many values a type of sensor has. */
TABI_API int32_t tabi_sensor_type_size(tabi_sensor_type type);
/* The words used by scenes and the command; TABI_NONE for a word that is none of them. */
TABI_API const char *tabi_sensor_type_name(tabi_sensor_type type);
TABI_API int32_t tabi_sensor_type_find(const char *name);

/* The parameters of two materials in contact where no pair is given: friction is the geometric
 * mean, stiffness and damping those of springs in series, all else the larger. */
TABI_API tabi_material_def tabi_material_combine(const tabi_material_def *a,
                                                 const tabi_material_def *b);

TABI_API tabi_builder *tabi_builder_create(void);          /* NULL: out of memory */
TABI_API void tabi_builder_destroy(tabi_builder *builder); /* NULL is fine */

/* Each adds one item and returns its index, or TABI_NONE on an error.  The first error stays in
 * the builder: later calls do nothing, and tabi_builder_build reports it. */
TABI_API int32_t tabi_builder_add_link(tabi_builder *builder, const tabi_link_def *def);
TABI_API int32_t tabi_builder_add_joint(tabi_builder *builder, const tabi_joint_def *def);
TABI_API int32_t tabi_builder_add_shape(tabi_builder *builder, const tabi_shape_def *def);
TABI_API int32_t tabi_builder_add_mesh(tabi_builder *builder, const tabi_mesh_def *def);
TABI_API int32_t tabi_builder_add_material(tabi_builder *builder, const tabi_material_def *def);
/* The parameters of two materials in contact, instead of tabi_material_combine. */
TABI_API int32_t tabi_builder_add_pair(tabi_builder *builder, int32_t material_a,
                                       int32_t material_b, const tabi_material_def *def);
TABI_API int32_t tabi_builder_add_tendon(tabi_builder *builder, const tabi_tendon_def *def);
TABI_API int32_t tabi_builder_add_actuator(tabi_builder *builder, const tabi_actuator_def *def);
TABI_API int32_t tabi_builder_add_coupling(tabi_builder *builder, const tabi_coupling_def *def);
TABI_API int32_t tabi_builder_add_connection(tabi_builder *builder, const tabi_connection_def *def);
TABI_API int32_t tabi_builder_add_sensor(tabi_builder *builder, const tabi_sensor_def *def);
/* Two links that shall never touch. */
TABI_API int32_t tabi_builder_add_exclusion(tabi_builder *builder, int32_t link_a, int32_t link_b);
/* A named posture: joints that are not set keep their initial_q. */
TABI_API int32_t tabi_builder_add_posture(tabi_builder *builder, const char *name);
/* q and v of one joint, as many numbers as its type has; v NULL: zero. */
TABI_API void tabi_builder_set_posture(tabi_builder *builder, int32_t posture, int32_t joint,
                                       const double *q, const double *v);
/* The input that an actuator has in a posture; one that is not set has none there. */
TABI_API void tabi_builder_set_posture_control(tabi_builder *builder, int32_t posture,
                                               int32_t actuator, double u);

TABI_API void tabi_builder_set_gravity(tabi_builder *builder, const double gravity[3]); /* m/s^2 */
TABI_API void tabi_builder_set_timestep(tabi_builder *builder, double timestep);        /* s */

TABI_API int32_t tabi_builder_nlink(const tabi_builder *builder);
TABI_API int32_t tabi_builder_njoint(const tabi_builder *builder);
/* The index of a link or joint added before, or TABI_NONE. */
TABI_API int32_t tabi_builder_find_link(const tabi_builder *builder, const char *name);
TABI_API int32_t tabi_builder_find_joint(const tabi_builder *builder, const char *name);
/* What was added to builders, kept to be added to others, as a robot that is read once for many
 * scenes.  Threads may share it. */
typedef struct tabi_builder_cache tabi_builder_cache;
TABI_API tabi_builder_cache *tabi_builder_cache_create(void);        /* NULL: out of memory */
TABI_API void tabi_builder_cache_destroy(tabi_builder_cache *cache); /* NULL is fine */
/* Adds what is kept under a name, if it was added behind as much as this builder holds; an error
 * stays in the builder, and the cache must outlive it.  False: there is nothing such; what is added
 * from now on can be kept. */
TABI_API bool tabi_builder_recall(tabi_builder *builder, tabi_builder_cache *cache,
                                  const char *name);
/* Keeps what was added since tabi_builder_recall, as long as there is room for it. */
TABI_API tabi_status tabi_builder_keep(const tabi_builder *builder, tabi_builder_cache *cache,
                                       const char *name, tabi_error *err);

/* The first error so far, or NULL. */
TABI_API const tabi_error *tabi_builder_error(const tabi_builder *builder);
/* An error from outside, say of a reader that stopped halfway; an earlier one stays. */
TABI_API void tabi_builder_fail(tabi_builder *builder, const tabi_error *error);

/* The finished model, or NULL and err.  The builder stays as it was. */
TABI_API tabi_model *tabi_builder_build(const tabi_builder *builder, tabi_error *err);

/* ------------------------------------------------------------------------------- model */

TABI_API void tabi_model_destroy(tabi_model *model); /* NULL is fine */

TABI_API int32_t tabi_model_nq(const tabi_model *model);    /* positions */
TABI_API int32_t tabi_model_nv(const tabi_model *model);    /* velocities */
TABI_API int32_t tabi_model_nbody(const tabi_model *model); /* moving bodies */
TABI_API int32_t tabi_model_nlink(const tabi_model *model);
TABI_API int32_t tabi_model_njoint(const tabi_model *model);
TABI_API int32_t tabi_model_nshape(const tabi_model *model);
TABI_API int32_t tabi_model_nmesh(const tabi_model *model);
TABI_API int32_t tabi_model_nmaterial(const tabi_model *model);
TABI_API int32_t tabi_model_npair(const tabi_model *model); /* of materials */
TABI_API int32_t tabi_model_ntendon(const tabi_model *model);
TABI_API int32_t tabi_model_nactuator(const tabi_model *model);
TABI_API int32_t tabi_model_ncoupling(const tabi_model *model);
TABI_API int32_t tabi_model_nconnection(const tabi_model *model);
TABI_API int32_t tabi_model_nsensor(const tabi_model *model);
TABI_API int32_t tabi_model_nexclusion(const tabi_model *model);
TABI_API int32_t tabi_model_nposture(const tabi_model *model);

/* What was added, by index; names and places live as long as the model. */
TABI_API tabi_link_def tabi_model_link(const tabi_model *model, int32_t link);
TABI_API tabi_joint_def tabi_model_joint(const tabi_model *model, int32_t joint);
TABI_API tabi_shape_def tabi_model_shape(const tabi_model *model, int32_t shape);
TABI_API tabi_mesh_def tabi_model_mesh(const tabi_model *model, int32_t mesh);
TABI_API tabi_material_def tabi_model_material(const tabi_model *model, int32_t material);
TABI_API tabi_material_def tabi_model_pair(const tabi_model *model, int32_t pair,
                                           int32_t materials[2]);
/* What two materials, or TABI_NONE for the default one, do in contact: their pair, or else
 * tabi_material_combine. */
TABI_API tabi_material_def tabi_model_surface(const tabi_model *model, int32_t material_a,
                                              int32_t material_b);
TABI_API tabi_tendon_def tabi_model_tendon(const tabi_model *model, int32_t tendon);
TABI_API tabi_actuator_def tabi_model_actuator(const tabi_model *model, int32_t actuator);
TABI_API tabi_coupling_def tabi_model_coupling(const tabi_model *model, int32_t coupling);
TABI_API tabi_connection_def tabi_model_connection(const tabi_model *model, int32_t connection);
TABI_API tabi_sensor_def tabi_model_sensor(const tabi_model *model, int32_t sensor);
TABI_API void tabi_model_exclusion(const tabi_model *model, int32_t exclusion, int32_t links[2]);
/* q[nq] and v[nv] of a posture; either may be NULL.  Returns its name. */
TABI_API const char *tabi_model_posture(const tabi_model *model, int32_t posture, double *q,
                                        double *v);
/* u[nactuator] of a posture, NAN where it has none. */
TABI_API void tabi_model_posture_control(const tabi_model *model, int32_t posture, double *u);

/* The index of the item with that name, or TABI_NONE.  Shapes, tendons and actuators may share
 * names: the first is found. */
TABI_API int32_t tabi_model_find_link(const tabi_model *model, const char *name);
TABI_API int32_t tabi_model_find_joint(const tabi_model *model, const char *name);
TABI_API int32_t tabi_model_find_sensor(const tabi_model *model, const char *name);
TABI_API int32_t tabi_model_find_shape(const tabi_model *model, const char *name);
TABI_API int32_t tabi_model_find_tendon(const tabi_model *model, const char *name);
TABI_API int32_t tabi_model_find_actuator(const tabi_model *model, const char *name);

/* Where the numbers of a joint start in q or v, and how many there are; first is TABI_NONE for a
 * fixed joint. */
typedef struct tabi_range {
  int32_t first, count;
} tabi_range;
TABI_API tabi_range tabi_model_joint_q(const tabi_model *model, int32_t joint);
TABI_API tabi_range tabi_model_joint_v(const tabi_model *model, int32_t joint);
/* The joint above a link, or TABI_NONE. */
TABI_API int32_t tabi_model_link_joint(const tabi_model *model, int32_t link);
/* The moving body a link is part of (links behind fixed joints share one), or TABI_WORLD. */
TABI_API int32_t tabi_model_link_body(const tabi_model *model, int32_t link);

/* The positions q[nq] of the initial state; its velocities are zero. */
TABI_API void tabi_model_initial_q(const tabi_model *model, double *q);
TABI_API void tabi_model_gravity(const tabi_model *model, double gravity[3]); /* m/s^2 */
TABI_API double tabi_model_timestep(const tabi_model *model);                 /* s */
TABI_API double tabi_model_mass(const tabi_model *model);                     /* kg, all links */

/* Model doctor: reports masses, joints, open connections and overlaps that are suspicious.  Each
 * finding has a place and a cure.  What will spoil a simulation is a warning with the status
 * TABI_ERR_MODEL, advice is a note with TABI_OK.  Returns the number of findings. */
TABI_API int32_t tabi_model_check(const tabi_model *model, tabi_warning_fn *report, void *user);
/* The part of it about links that a connection joins and whose shapes overlap by more than 1 mm,
 * at q[nq]: a warning where the connection lets them collide, and a note where it does not. */
TABI_API int32_t tabi_model_check_joined(const tabi_model *model, const double *q,
                                         tabi_warning_fn *report, void *user);

/* What is known of two links whose shapes may collide. */
typedef enum tabi_link_pair_kind {
  TABI_PAIR_OVERLAPS,   /* in the posture given they are inside each other, or nearer than 0.1 mm */
  TABI_PAIR_NEIGHBOURS, /* two or three hinges whose axes meet in a point join them */
  TABI_PAIR_NEVER_MEETS, /* proved: the limits of the joints between them keep them apart */
  TABI_PAIR_UNSEEN,      /* they met in none of the postures tried; nothing is proved */
} tabi_link_pair_kind;

typedef struct tabi_link_pair {
  tabi_link_pair_kind kind;
  int32_t link_a, link_b; /* the first is TABI_WORLD where the world's own shape overlaps */
  double depth;           /* m, of an overlap; negative where there is air */
} tabi_link_pair;

typedef void tabi_link_pair_fn(void *user, const tabi_link_pair *pair);

/* Reports links that overlap at q[nq], bodies of one tree that a compound joint joins or that can
 * never meet, and of the other bodies of one tree those that do not meet in `samples` random
 * postures within the joint limits. A body, which may be several links, is reported by its first
 * link with a shape. */
TABI_API tabi_status tabi_model_link_pairs(const tabi_model *model, const double *q,
                                           int32_t samples, tabi_link_pair_fn *report, void *user,
                                           tabi_error *err);

/* How far what hangs on a free joint must rise along `up` (unit), at q[nq], to stand on what is
 * below it: above 0 out of what it overlaps, below 0 down to where it touches; -HUGE_VAL if there
 * is nothing within a kilometre.  Walls do not stop it. */
TABI_API tabi_status tabi_model_find_rise(const tabi_model *model, const double *q, int32_t joint,
                                          const double up[3], double *rise, tabi_error *err);

/* q moved by v for a time dt (s), with unit quaternions; q_to may be q. */
TABI_API void tabi_model_integrate(const tabi_model *model, const double *q, const double *v,
                                   double dt, double *q_to);

/* ---------------------------------------------------------------------------- dynamics */

/* The model must outlive it. */
TABI_API tabi_dynamics *tabi_dynamics_create(const tabi_model *model, tabi_error *err);
TABI_API void tabi_dynamics_destroy(tabi_dynamics *d);

/* All functions below are at the state set here: q[nq], v[nv]. */
TABI_API void tabi_dynamics_set_state(tabi_dynamics *d, const double *q, const double *v);

/* A link's frame in the world. */
TABI_API void tabi_dynamics_link_pose(const tabi_dynamics *d, int32_t link, double pos[3],
                                      double quat[4]);
/* The axis-aligned box around a shape, m, world; false: it is a plane and has none.  Of a height
 * field the surface counts. */
TABI_API bool tabi_dynamics_shape_bounds(const tabi_dynamics *d, int32_t shape, double lower[3],
                                         double upper[3]);
/* Velocity of the link's origin and angular velocity, world axes. */
TABI_API void tabi_dynamics_link_velocity(const tabi_dynamics *d, int32_t link, double lin[3],
                                          double ang[3]);
/* Velocity of a point (world coordinates) that moves with a link: J v, with J 3 x nv, and the
 * rate of J as the point moves along. */
TABI_API void tabi_dynamics_point_jacobian(const tabi_dynamics *d, int32_t link,
                                           const double point[3], double *jacobian);
TABI_API void tabi_dynamics_point_jacobian_rate(const tabi_dynamics *d, int32_t link,
                                                const double point[3], double *rate);
/* Angular velocity of a link: J v, with J 3 x nv, world axes, and its rate. */
TABI_API void tabi_dynamics_angular_jacobian(const tabi_dynamics *d, int32_t link,
                                             double *jacobian);
TABI_API void tabi_dynamics_angular_jacobian_rate(const tabi_dynamics *d, int32_t link,
                                                  double *rate);

/* The length of a tendon, and its 1 x nv Jacobian (moment arms) unless that is NULL. */
TABI_API double tabi_dynamics_tendon_length(const tabi_dynamics *d, int32_t tendon,
                                            double *jacobian);

/* Joint forces tau[nv] that give the acceleration qdd[nv]; qdd NULL for zero: the bias. */
TABI_API void tabi_dynamics_inverse(tabi_dynamics *d, const double *qdd, double *tau);
/* Acceleration qdd[nv] under joint forces tau[nv]; tau NULL for zero. */
TABI_API void tabi_dynamics_forward(tabi_dynamics *d, const double *tau, double *qdd);
/* Mass matrix, nv x nv, rotor inertia included. */
TABI_API void tabi_dynamics_mass_matrix(tabi_dynamics *d, double *mass);

/* Centre of mass, m, and its 3 x nv Jacobian.  Links fixed in the world count for mass, centre of
 * mass and potential energy. */
TABI_API void tabi_dynamics_com(const tabi_dynamics *d, double com[3]);
TABI_API void tabi_dynamics_com_jacobian(tabi_dynamics *d, double *jacobian);
TABI_API void tabi_dynamics_com_jacobian_rate(tabi_dynamics *d, double *rate);
TABI_API double tabi_dynamics_kinetic(const tabi_dynamics *d);   /* J */
TABI_API double tabi_dynamics_potential(const tabi_dynamics *d); /* J, gravity only */
/* Linear momentum (N s), and angular momentum about the centre of mass (N m s), world axes. */
TABI_API void tabi_dynamics_momentum(const tabi_dynamics *d, double lin[3], double ang[3]);
/* Centroidal momentum matrix A, 6 x nv: (lin, ang) = A v. */
TABI_API void tabi_dynamics_momentum_matrix(tabi_dynamics *d, double *matrix);
/* Rate of A v at constant v: (lin, ang) rate = A vdot + this. */
TABI_API void tabi_dynamics_momentum_bias(tabi_dynamics *d, double lin[3], double ang[3]);

TABI_END

#endif
