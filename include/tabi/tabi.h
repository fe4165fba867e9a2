/* tabi.h - contact dynamics for legged robots.
 *
 *   file or builder calls ---> tabi_model      immutable; share it between threads
 *                              tabi_world      everything a step may write; one thread at a time
 *                              tabi_dynamics   the rigid-body quantities of one state;
 *                                              one thread at a time
 *
 * SI units, right-handed, z up, quaternions (w, x, y, z), matrices row by row.  The library has
 * no global state but the handler of failed assertions, prints nothing but a failed assertion (the
 * default handler), and allocates only in functions named create, build, load, check or solve.
 *
 * Structs named _def are filled by their _default() function first; then change what you mean
 * to change.  Strings and arrays that a def points to are copied. */
#ifndef TABI_H
#define TABI_H

#include "tabi_export.h" /* TABI_API, TABI_BEGIN, TABI_END */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABI_VERSION 100 /* major * 10000 + minor * 100 + patch */

TABI_BEGIN

typedef struct tabi_builder tabi_builder;
typedef struct tabi_model tabi_model;
typedef struct tabi_world tabi_world;
typedef struct tabi_workspace tabi_workspace;
typedef struct tabi_dynamics tabi_dynamics;
typedef struct tabi_gait tabi_gait; /* tabi_gait.h */

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

/* ------------------------------------------------------------------------------- world */

/* The six methods, then the published variants of four of them. */
typedef enum tabi_contact_kind {
  TABI_CONTACT_CONE,    /* projected Gauss-Seidel over contacts with the true friction cone */
  TABI_CONTACT_LCP,     /* one sliding or four static directions of friction */
  TABI_CONTACT_EXACT,   /* the law of cone, solved to a small residual by Newton's method */
  TABI_CONTACT_PENALTY, /* springs and dampers, implicit: nothing is rigid */
  TABI_CONTACT_IMPULSE, /* restitution at all points at once, by pseudo-inverse and exclusion */
  TABI_CONTACT_GAIT,    /* contact modes of a planar biped, events located in time: tabi_gait.h */
  TABI_CONTACT_METHODS, /* how many methods there are */
  TABI_CONTACT_CONE_PAPER = TABI_CONTACT_METHODS, /* extended projected Gauss-Seidel row by row */
  TABI_CONTACT_LCP_PAPER,                         /* joint rows and, on demand, the dense matrix */
  TABI_CONTACT_PENALTY_PAPER,                     /* one point after another */
  TABI_CONTACT_IMPULSE_PAPER, /* points that pull are released together and for good */
  TABI_CONTACT_COUNT,
} tabi_contact_kind;

typedef enum tabi_integrator {
  TABI_SEMI_IMPLICIT, /* positions move with the new velocity */
  TABI_MIDPOINT,      /* positions move with the mean of old and new in free motion */
  TABI_RK4,           /* contact forces constant over the four stages, connections solved in each */
  TABI_EULER,         /* everything from the start of the step, positions too: for comparison */
  TABI_INTEGRATOR_COUNT,
} tabi_integrator;

/* What a contact method or variant can do. */
typedef struct tabi_contact_info {
  const char *name;         /* the word used by scenes and the command: "cone", "cone-paper" */
  const char *summary;      /* one line */
  tabi_contact_kind method; /* itself, or of a variant the method that it belongs to */
  int32_t published;        /* of a method its published variant, or TABI_NONE */
  bool rebounds;            /* obeys the restitution of materials */
  bool compliant;           /* contact forces are the springs and dampers of materials */
  bool sweeps;              /* solves by sweeps: fallback exact may take over */
  bool newton;              /* fallback newton may take over */
  bool exact;               /* is the method to which others fall back */
  bool dense_storage;       /* can store the papers' dense matrix */
  bool implicit_only;       /* not under rk4 and euler */
  bool planar_biped;        /* needs def.gait.biped, and advances by events */
  bool couples;             /* obeys the rolling and torsional friction of materials, if compliant
                               not under rk4 and euler */
} tabi_contact_info;
/* Lives as long as the program. */
TABI_API const tabi_contact_info *tabi_contact_describe(tabi_contact_kind kind);

/* The words used by scenes and the command; TABI_NONE for a word that is none of them. */
TABI_API const char *tabi_contact_name(tabi_contact_kind kind);
TABI_API int32_t tabi_contact_find(const char *name);
TABI_API const char *tabi_integrator_name(tabi_integrator integrator);
TABI_API int32_t tabi_integrator_find(const char *name);

/* The solver that takes over where sweeps of cone or lcp leave more than the tolerance.  The result
 * obeys Coulomb's cone: lcp's pyramid becomes one. */
typedef enum tabi_fallback {
  TABI_FALLBACK_DEFAULT, /* newton for cone if its tolerance is not 0, else none */
  TABI_FALLBACK_NONE,    /* sweeps only */
  TABI_FALLBACK_NEWTON,  /* of cone: a few steps of Newton's method where sweeps converge slowly */
  TABI_FALLBACK_EXACT,   /* after all sweeps the method exact, which takes the time it needs */
  TABI_FALLBACK_COUNT,
} tabi_fallback;

/* What rebounds when several contacts close in one step (docs/contact.md). */
typedef enum tabi_impacts {
  TABI_IMPACTS_SIMULTANEOUS, /* every contact for the speed with which it closes at the start */
  TABI_IMPACTS_SEQUENTIAL,   /* one after another, the earliest first */
  TABI_IMPACTS_COUNT,
} tabi_impacts;

/* How cone-paper and lcp-paper store the contact matrix (the Delassus operator). */
typedef enum tabi_storage {
  TABI_STORAGE_PORTS,       /* by ports of bodies in contact, linear in contacts: docs/contact.md */
  TABI_STORAGE_DENSE,       /* the papers' dense matrix, for their timing figures */
  TABI_STORAGE_TEST_FORCES, /* the same, each column by forward dynamics under a unit force */
  TABI_STORAGE_COUNT,
} tabi_storage;

typedef struct tabi_world_def {
  uint32_t def_size;
  tabi_contact_kind contact;
  tabi_integrator integrator;
  double timestep;         /* s, 1e-7 to 0.1 */
  double gravity[3];       /* m/s^2 */
  double tolerance;        /* at which a solver may stop: cone and lcp, change of velocity in a
                              sweep, m/s; exact, residual against the velocities that contacts
                              have to stop; gait, local error of position and speed.  Negative:
                              1e-8, exact 1e-10 */
  int32_t iterations;      /* max sweeps, >= 2; exact: max factorisations.  0: 120, exact 1000 */
  int32_t budget;          /* of cone: sweeps that a step may take, a step of Newton's method
                              counting as ten; what is then left is in the certificate, and adds
                              no energy.  0: 20 for heaps of many bodies, else no bound */
  tabi_fallback fallback;  /* solver that takes over where sweeps converge slowly */
  tabi_impacts impacts;    /* of cone, lcp, exact and impulse; other methods, rk4 and euler
                              ignore it */
  int32_t max_contacts;    /* points, up to 1e6, that the world has memory for: exactly so many,
                              for its whole life.  0: as many as the shapes may reasonably have at
                              once, see docs/scenes.md; more by tabi_world_grow */
  double allowed_depth;    /* m, overlap that is not corrected.  Negative: 5e-6, rk4 and euler
                              1e-4 */
  double correction;       /* share of deeper overlap that one step takes back, 0 to 1 */
  double correction_speed; /* m/s, limit of that and of the correction of limits and connections */
  double warm_start;       /* share of the last impulses to start from, 0 to 1 */
  double friction; /* coefficient of all contacts, static and kinetic, whatever the materials say;
                      negative: as they say.  gait has its own */
  uint64_t seed;   /* of the world's random numbers */
  tabi_workspace *workspace; /* NULL: the world has its own.  Must outlive the world */
  /* knobs of single methods and their variants; the others ignore them */
  struct {
    tabi_storage storage; /* of cone-paper */
  } cone;
  struct {
    tabi_storage storage; /* of lcp-paper */
    bool static_friction; /* false: only sliding contacts have friction */
  } lcp;
  struct {
    double tangential_stiffness; /* in units of the material's stiffness; 0 to 1000 */
  } penalty;
  struct {
    const tabi_gait *biped; /* made for the model; must outlive the world */
  } gait;
} tabi_world_def;

/* The model's gravity and time step, cone, semi-implicit. */
TABI_API tabi_world_def tabi_world_def_default(const tabi_model *model);

/* Scratch memory of steps, most of what a world needs.  Worlds that step one after another, in one
 * thread, may share one, also worlds of different models: results do not depend on it, but the
 * contacts of a world are gone when another one with the same workspace steps or gets a state.
 * Large enough for worlds of this model and def (NULL: the default), and for all smaller ones. */
TABI_API tabi_workspace *tabi_workspace_create(const tabi_model *model, const tabi_world_def *def,
                                               tabi_error *err);
TABI_API void tabi_workspace_destroy(tabi_workspace *workspace);      /* NULL is fine */
TABI_API size_t tabi_workspace_size(const tabi_workspace *workspace); /* bytes */

/* The model must outlive the world. */
TABI_API tabi_world *tabi_world_create(const tabi_model *model, const tabi_world_def *def,
                                       tabi_error *err);
TABI_API void tabi_world_destroy(tabi_world *world);
TABI_API const tabi_model *tabi_world_model(const tabi_world *world);
/* The def that it was made by, defaults filled in. */
TABI_API tabi_world_def tabi_world_get_def(const tabi_world *world);

/* Advance one time step under joint forces tau[nv], held constant over it; NULL for none.
 * On an error the state stays as it was before the step and tabi_world_error tells why.
 * Never allocates: a step that meets more contacts than the world has memory for fails with
 * TABI_ERR_CAPACITY, and can be repeated after tabi_world_grow. */
TABI_API tabi_status tabi_world_step(tabi_world *world, const double *tau);
/* Takes more memory, for twice as many contacts, at most 1e6; allocates.  The state stays as it is,
 * to the last bit, and so do the pointers of tabi_world_q, tabi_world_v and tabi_world_dynamics;
 * the contacts of the last step are gone, and snapshots become larger.  Results do not depend on
 * the capacity.  TABI_ERR_CAPACITY where max_contacts was given; TABI_ERR_ARGUMENT where a given
 * workspace is too small. */
TABI_API tabi_status tabi_world_grow(tabi_world *world, tabi_error *err);
/* The same step, which grows the world and is repeated where it needs more memory: allocates, but
 * only then. */
TABI_API tabi_status tabi_world_step_or_grow(tabi_world *world, const double *tau);
TABI_API const tabi_error *tabi_world_error(const tabi_world *world); /* of the last failure */

TABI_API const double *tabi_world_q(const tabi_world *world); /* [nq] */
TABI_API const double *tabi_world_v(const tabi_world *world); /* [nv] */
/* Refuses numbers that are not finite and quaternions without length. */
TABI_API tabi_status tabi_world_set_state(tabi_world *world, const double *q, const double *v,
                                          tabi_error *err);
TABI_API int64_t tabi_world_steps(const tabi_world *world);
TABI_API double tabi_world_time(const tabi_world *world); /* s: steps times the time step */
/* Poses, velocities and Jacobians at the present state, read-only: the world steps with the same
 * memory.  For another state, or inverse and forward dynamics, make one of your own. */
TABI_API const tabi_dynamics *tabi_world_dynamics(tabi_world *world);

/* A spring and damper that drive a joint with one coordinate to a target.  Implicit ones enter the
 * mass matrix and are stable at any stiffness.  The joint's effort limit bounds both, together with
 * its actuators. */
typedef struct tabi_servo {
  double kp, kd;              /* N m/rad and N m s/rad, or N/m and N s/m */
  double target, target_rate; /* rad, rad/s or m, m/s */
  bool implicit;
} tabi_servo;
/* Stays until it is set again; kp = kd = 0 turns it off. */
TABI_API void tabi_world_set_servo(tabi_world *world, int32_t joint, const tabi_servo *servo);
/* As it was set last; kp = kd = 0 where none was. */
TABI_API tabi_servo tabi_world_get_servo(const tabi_world *world, int32_t joint);
/* How a joint moves, whatever pushes: a turntable, a lift, a shaker, or a motor without limits. */
typedef struct tabi_motion {
  double v[6];   /* its velocities, as in v[nv], at the end of the next step: m/s, rad/s */
  bool in_place; /* contacts feel the velocity, the position stays: a belt, a roller */
} tabi_motion;
/* Stays until it is set again; NULL lets the joint move freely.  Not under contact method gait. */
TABI_API void tabi_world_set_motion(tabi_world *world, int32_t joint, const tabi_motion *motion);
/* Input of an actuator of the model, clamped to its range; stays until it is set again. */
TABI_API void tabi_world_set_control(tabi_world *world, int32_t actuator, double u);
/* What drove a joint with one coordinate in the last step: its servo, its actuators and the joint
 * force of tabi_world_step; implicit servos and actuators at the end of the step, under rk4, euler
 * and all that is explicit at its start.  Zero before the first step. */
typedef struct tabi_effort {
  double commanded; /* N m or N, without limits of force */
  double applied;   /* N m or N, what acted.  Joint forces of tabi_world_step are not limited */
  double limit; /* N m or N, >= 0: the joint's effort limit or, if its actuators alone drive it and
                   cannot reach that, the most they give; infinite: none */
} tabi_effort;
TABI_API tabi_effort tabi_world_effort(const tabi_world *world, int32_t joint);
/* A force and torque on a link at a point, all in world axes, during the next step only. */
TABI_API void tabi_world_apply(tabi_world *world, int32_t link, const double force[3],
                               const double torque[3], const double point[3]);

typedef struct tabi_contact {
  int32_t shape_a, shape_b, link_a, link_b; /* a link may be TABI_WORLD */
  double point[3], normal[3];               /* world; the normal points from a to b */
  double gap;         /* m at the start of the step, negative when overlapping */
  double impulse[3];  /* N s on b, world */
  double velocity[3]; /* m/s, of b against a at the end of the step, world */
  double friction;    /* the coefficient that was used */
  double couple[3];   /* N m s on b, world: rolling and torsional friction */
} tabi_contact;
/* The contacts of the last step; the array lives until the next one. */
TABI_API const tabi_contact *tabi_world_contacts(const tabi_world *world, int32_t *count);
/* Force and torque about a point (world coordinates) of all contacts on a link in the last step,
 * mean over it; N and N m, world axes. */
TABI_API void tabi_world_contact_wrench(const tabi_world *world, int32_t link,
                                        const double point[3], double force[3], double torque[3]);

/* How well the last step obeyed the laws of contact: the worst contact of each. */
typedef struct tabi_certificate {
  double gap;             /* m, overlap predicted for the end of the step */
  double complementarity; /* m/s, of contacts that push and part */
  double cone;            /* N, friction beyond the cone */
  double dissipation;     /* m/s, of friction that does not oppose slip */
  int32_t contacts;       /* number of contacts that push */
  double connection;      /* m/s or rad/s, by which connections that contradict were missed */
  int32_t iterations;     /* sweeps, factorisations or passes; see the method */
  bool converged;         /* the tolerance was reached */
  bool fallback;          /* def.fallback took over, in some island at least */
  bool energy_limited;    /* impulses that would have added energy were replaced: rebounds or
                             friction reduced, rebounds that contradict each other too */
  bool too_large;         /* some island that needed def.fallback was too large for its memory and
                             stayed as sweeps had left it */
  double contact_work;    /* J, by which the impulses of contacts and joint rows changed the kinetic
                             energy (with that of penalty's springs), all but the next: > 0 is
                             energy from nowhere */
  double correction_work; /* J, by which depth corrections pushed apart what overlapped */
  double balance_work;    /* J, by which velocities of what nothing drives were scaled so that it
                             gains no energy: < 0 was taken */
  double elastic;         /* J, in penalty's springs at the end of the step */
} tabi_certificate;
TABI_API tabi_certificate tabi_world_certificate(const tabi_world *world);

/* Balance of the tree of a link in the last step, by its contacts with other trees or the world. */
enum { TABI_BALANCE_CORNERS = 16 };
typedef struct tabi_balance {
  double com[3];   /* m, centre of mass of the tree after the step */
  double force[3]; /* N, of its contacts with others, mean over the step */
  double zmp[3];   /* m, where these have no moment about x and y, at their mean height;
                      meaningless while force[2] is 0 */
  double margin;   /* m from there to the nearest edge of the support polygon, negative outside;
                      0 without a polygon */
  int32_t ncorner;
  double corner[TABI_BALANCE_CORNERS][2]; /* m, of the support polygon: the hull, seen from above,
                                             of the points that push it up, counter-clockwise; of a
                                             rounder one a polygon inside */
} tabi_balance;
TABI_API tabi_balance tabi_world_balance(tabi_world *world, int32_t link);

/* A connection in the last step. */
typedef struct tabi_connection_state {
  double gap;  /* m, largest position error at the present state; spring: |length - rest length| */
  double turn; /* rad, largest angle error */
  double force[3], torque[3]; /* N and N m on b at the origin of its frame, world axes, mean */
  double missed;  /* m/s or rad/s by which its target was missed: it contradicts others */
  bool redundant; /* some of its axes repeat others; the force is then one of many */
} tabi_connection_state;
TABI_API tabi_connection_state tabi_world_connection(tabi_world *world, int32_t connection);

/* A tendon at the present state; its force in the last step. */
typedef struct tabi_tendon_state {
  double length, rate; /* m and m/s, or rad and rad/s */
  double force;        /* N or N m, mean of all that acts along it; > 0 makes it longer */
} tabi_tendon_state;
TABI_API tabi_tendon_state tabi_world_tendon(tabi_world *world, int32_t tendon);

/* The point where a ray meets a shape. */
typedef struct tabi_ray_hit {
  int32_t shape, link;        /* a link may be TABI_WORLD */
  double distance;            /* m from the origin */
  double point[3], normal[3]; /* world; the normal points out of the shape */
} tabi_ray_hit;
/* The first colliding shape on a ray, at the present state, within a distance (m, may be infinite);
 * false: none.  The direction may have any length but zero.  A ray that starts inside a shape meets
 * it at distance 0, with a normal against its direction.  Triangles and height fields are met from
 * the side where they are counter-clockwise only; below a height field is inside. */
TABI_API bool tabi_world_ray(tabi_world *world, const double origin[3], const double direction[3],
                             double max_distance, tabi_ray_hit *hit);

/* The reading of a sensor of the model after the last step: value[tabi_sensor_type_size]; returns
 * that size.  Positions and rates are those after the step; forces and accelerations are means over
 * it, at the posture of its start.  Before the first step, and after tabi_world_set_state, nothing
 * is known of forces. */
TABI_API int32_t tabi_world_sensor(const tabi_world *world, int32_t sensor, double *value);

/* Kinetic, potential and spring energy at the present state, and the work of joint forces, servos,
 * actuators, and external forces since the world was made; J. */
typedef struct tabi_energy {
  double kinetic, potential, spring, work;
} tabi_energy;
TABI_API tabi_energy tabi_world_energy(tabi_world *world);

/* All that decides the next step, warm starts and random numbers included: equal snapshots step
 * equally.  What cannot be a snapshot of the world is refused, and the world stays as it is.
 * Snapshots from before the world has grown fit, and so do those of a world that has grown more:
 * this one then grows too (TABI_ERR_MEMORY). */
TABI_API size_t tabi_world_snapshot_size(const tabi_world *world);
TABI_API void tabi_world_save(const tabi_world *world, void *snapshot);
TABI_API tabi_status tabi_world_restore(tabi_world *world, const void *snapshot, size_t size);
/* Continues from the state of another world, under the settings of this one: another contact
 * method, other masses or materials, with the same joints, bodies and sensors.  Under another time
 * step the time becomes the nearest whole number of steps, warm-start forces stay the same, and
 * sensors must have no delay.  `from` is not changed.  Grows if `from` has. */
TABI_API tabi_status tabi_world_continue(tabi_world *world, const tabi_world *from,
                                         tabi_error *err);
/* A hash of q, v and the step count. */
TABI_API uint64_t tabi_world_hash(const tabi_world *world);

/* Parts of a step, for those who ask where its time goes. */
typedef enum tabi_stage {
  TABI_STAGE_FORCES,     /* of springs, servos, actuators */
  TABI_STAGE_KINEMATICS, /* poses, velocities, inertias */
  TABI_STAGE_COLLISION,  /* points where shapes are or may come into contact */
  TABI_STAGE_FACTOR,     /* mass matrix and free motion */
  TABI_STAGE_PROBLEM,    /* contacts, limits and connections as equations */
  TABI_STAGE_SOLVE,      /* the contact method, and the certificate */
  TABI_STAGE_MOVE,       /* the new state */
  TABI_STAGE_SENSORS,
  TABI_STAGE_REST, /* the remainder: warm starts and the list of contacts */
  TABI_STAGE_COUNT,
} tabi_stage;
TABI_API const char *tabi_stage_name(tabi_stage stage);

typedef struct tabi_stats {
  size_t memory;                    /* bytes of the world, without the model */
  int64_t steps;                    /* that were timed */
  double seconds[TABI_STAGE_COUNT]; /* s, sum over these steps */
} tabi_stats;
TABI_API tabi_stats tabi_world_stats(const tabi_world *world);
/* The library has no clock of its own: given one that returns seconds, it times the stages of all
 * further steps, from zero; NULL ends it.  Steps and snapshots do not depend on it. */
TABI_API void tabi_world_set_clock(tabi_world *world, double (*seconds)(void *user), void *user);

/* ------------------------------------------------------------------- friction problems */

/* Contacts without a robot: find the impulses r such that u = W r + q obeys Signorini's condition
 * and Coulomb's law at every contact.  Components per contact: normal, two tangents. */
typedef struct tabi_friction_problem tabi_friction_problem;

typedef struct tabi_friction_problem_def {
  uint32_t def_size;
  int32_t ncontact;
  const int32_t *row;     /* [ncontact + 1] where the blocks of a contact begin; row[0] = 0 */
  const int32_t *column;  /* of every block of W: the contact whose impulse it multiplies */
  const double *block;    /* 3x3, row by row, of every block */
  const double *q;        /* [3 ncontact] */
  const double *friction; /* [ncontact] coefficients, >= 0 */
  tabi_place place;
} tabi_friction_problem_def;

TABI_API tabi_friction_problem_def tabi_friction_problem_def_default(void);
TABI_API tabi_friction_problem *tabi_friction_problem_create(const tabi_friction_problem_def *def,
                                                             tabi_error *err);
TABI_API void tabi_friction_problem_destroy(tabi_friction_problem *problem); /* NULL is fine */
TABI_API int32_t tabi_friction_problem_ncontact(const tabi_friction_problem *problem);

typedef enum tabi_friction_solver {
  TABI_FRICTION_EXACT, /* Newton's method, to the tolerance also for ill-conditioned problems */
  TABI_FRICTION_CONE,  /* Gauss-Seidel, each contact solved exactly */
  TABI_FRICTION_LCP,   /* Gauss-Seidel row by row, friction in a square pyramid */
  TABI_FRICTION_COUNT,
} tabi_friction_solver;

typedef struct tabi_friction_solve_def {
  uint32_t def_size;
  tabi_friction_solver solver;
  double tolerance;       /* of the scaled residual */
  int32_t max_iterations; /* sweeps; of exact: factorisations.  0: 10000, exact 2000 */
} tabi_friction_solve_def;

typedef struct tabi_friction_result {
  int32_t islands;        /* independent parts, solved one by one */
  int32_t iterations;     /* sweeps and factorisations, max over islands */
  int32_t factorisations; /* of all islands */
  double residual;        /* |r - P(r - u~)| / |q| over all contacts, P the projection on the cone,
                             u~ = u + (mu |u_t|, 0, 0) */
  double scaled;          /* |w (r - P(r - u~ / w))| / |q|, w a third of the trace of the contact's
                             own block: does not depend on units */
  bool converged;         /* scaled met the tolerance, or ten times what rounding leaves */
} tabi_friction_result;

/* exact, 1e-10 */
TABI_API tabi_friction_solve_def tabi_friction_solve_def_default(void);
/* r[3 ncontact] holds the start (zeros if none is known) and becomes the solution, or the best that
 * was found.  def may be NULL.  Allocates. */
TABI_API tabi_status tabi_friction_problem_solve(const tabi_friction_problem *problem,
                                                 const tabi_friction_solve_def *def, double *r,
                                                 tabi_friction_result *result, tabi_error *err);
/* The words used by the command; TABI_NONE for a word that is none of them. */
TABI_API const char *tabi_friction_solver_name(tabi_friction_solver solver);
TABI_API int32_t tabi_friction_solver_find(const char *name);

TABI_END

#endif
