/* model.h - the immutable model: one block of memory, its arrays listed once.
 *
 * Links and joints are what the file says.  Bodies are what moves: links behind fixed joints are
 * merged into one, so a body has exactly one moving joint above it and body i belongs to that
 * joint.  Bodies are numbered tree by tree and, within a tree, level by level: parents come
 * first, and neighbours in the loop do not wait for each other.
 *
 * The frame of a body is internal.  Its origin is the joint's; for joints with an axis its z axis
 * is that axis, so that turning the joint changes only two columns of its rotation.  A link knows
 * its frame in that of its body. */
#ifndef TBI_MODEL_H
#define TBI_MODEL_H

#include "base/names.h"
#include "math/quat.h"
#include "math/spatial.h"
#include "model/hull_graph.h"
#include "tabi/tabi.h"

typedef struct tbi_frame {
  m3 rot;
  v3 pos;
} tbi_frame;

static inline tbi_frame tbi_frame_identity(void) { return (tbi_frame){m3_identity(), v3_zero()}; }
/* coordinates in b to coordinates in a, then on to the frame a is given in */
static inline tbi_frame tbi_frame_mul(const tbi_frame *a, const tbi_frame *b) {
  return (tbi_frame){m3_mul(&a->rot, &b->rot), v3_add(a->pos, m3_mulv(&a->rot, b->pos))};
}
static inline tbi_frame tbi_frame_inverse(const tbi_frame *a) {
  m3 back = m3_transpose(&a->rot);
  return (tbi_frame){back, v3_neg(m3_mulv(&back, a->pos))};
}
/* b in the frame a, both given in one frame */
static inline tbi_frame tbi_frame_relative(const tbi_frame *a, const tbi_frame *b) {
  m3 back = m3_transpose(&a->rot);
  return (tbi_frame){m3_mul(&back, &b->rot), m3_mulv(&back, v3_sub(b->pos, a->pos))};
}
static inline tbi_frame tbi_frame_load(const double *pos, const double *quat) {
  return (tbi_frame){q_matrix(q_load(quat)), v3_load(pos)};
}

typedef struct tbi_body {
  int32_t parent; /* body, or TABI_WORLD */
  tabi_joint_type type;
  int32_t q, v, nv; /* first position, first velocity, number of velocities */
  int32_t tree;
  int32_t joint;
  bool collides;   /* some shape of it does */
  tbi_frame place; /* joint frame in the parent's; of a root only the rotation, see tree_place */
  double mass;
  v3 com;
  s3 inertia; /* about the com, body axes */
} tbi_body;

/* Where a link is: in which body, and its frame there (in the world for TABI_WORLD). */
typedef struct tbi_link_home {
  int32_t body, joint;
  tbi_frame frame;
} tbi_link_home;

/* What two materials do together. */
typedef struct tbi_material_pair {
  int32_t material_a, material_b;
  tabi_material_def surface;
} tbi_material_pair;

#define TBI_MODEL_ARRAYS(X)                                                                   \
  X(tbi_body, body, nbody)                                                                    \
  X(int32_t, dof_body, nv)                                                                    \
  X(int32_t, dof_parent, nv) /* the next velocity towards the root, or -1 */                  \
  X(int32_t, dof_depth, nv)  /* how many velocities are above this one */                     \
  X(int64_t, dof_row, nv)    /* where its row of the mass matrix starts, see crba.c */        \
  X(int32_t, dof_path, nrow) /* from dof_row: the velocities from the root to this one */     \
  X(double, dof_rotor, nv)   /* gear^2 * rotor inertia */                                     \
  X(int32_t, dof_q, nv)      /* the position of a joint with one coordinate, or TABI_NONE */  \
  X(double, dof_damping, nv)                                                                  \
  X(double, dof_friction, nv)                                                                 \
  X(double, dof_stiffness, nv) /* of joints with one coordinate, as all that follow */        \
  X(double, dof_rest, nv)                                                                     \
  X(double, dof_lower, nv)                                                                    \
  X(double, dof_upper, nv)                                                                    \
  X(v3, tree_place, ntree)        /* where the joint of its first body stands in the world */ \
  X(int32_t, tree_body, ntree)    /* its first body */                                        \
  X(int32_t, tree_cluster, ntree) /* trees that loops connect, see clusters.c */              \
  X(int32_t, tree_order, ntree)   /* trees by cluster */                                      \
  X(int32_t, tree_named, ntree)   /* by name: named_order.c */                                \
  X(int32_t, body_named, nbody)   /* likewise, tree by tree, as tree_order */                 \
  X(int32_t, shape_named, nshape)                                                             \
  X(int32_t, shape_rank, nshape)  /* place of a shape in shape_named */                       \
  X(int32_t, owner_named, nowner) /* owners of loop constraints, see clusters.h */            \
  X(int32_t, dof_order, nv)       /* velocities by cluster */                                 \
  X(int32_t, dof_local, nv)       /* place of a velocity among those of its cluster */        \
  X(int32_t, cluster_dof,                                                                     \
    ntree1) /* where a cluster starts in dof_order, and where the last ends */                \
  X(int32_t, cluster_loop, ntree1) /* likewise among the loops of all clusters */             \
  X(tabi_link_def, link, nlink)                                                               \
  X(tbi_link_home, link_home, nlink)                                                          \
  X(int32_t, link_order, nlink) /* links, parents first */                                    \
  X(tabi_joint_def, joint, njoint)                                                            \
  X(int32_t, joint_body, njoint) /* the body that it moves; TABI_NONE for a fixed one */      \
  X(tabi_shape_def, shape, nshape)                                                            \
  X(tabi_mesh_def, mesh, nmesh)                                                               \
  X(tbi_hull, hull, nmesh) /* see hull_graph.h, as the four that follow */                    \
  X(int32_t, hull_first, nhull_first)                                                         \
  X(int32_t, hull_edge, nhull_edge)                                                           \
  X(int32_t, hull_face, nhull_edge)                                                           \
  X(int32_t, hull_start, nhull_start)                                                         \
  X(double, vertex, nvertex3)                                                                 \
  X(int32_t, face, nface3)                                                                    \
  X(tabi_material_def, material, nmaterial)                                                   \
  X(tbi_material_pair, pair, npair)                                                           \
  X(tabi_tendon_def, tendon, ntendon)                                                         \
  X(tabi_tendon_joint, tendon_joint, ntendon_joint)                                           \
  X(tabi_tendon_point, tendon_point, ntendon_point)                                           \
  X(uint8_t, tendon_loops, ntendon)   /* loop constraints of its own, see tendons.c */        \
  X(int32_t, tendon_first, ntendon1)  /* where those of a tendon start in the next */         \
  X(int32_t, tendon_dof, ntendon_dof) /* velocities that a tendon depends on, ascending */    \
  X(tabi_actuator_def, actuator, nactuator)                                                   \
  X(tabi_coupling_def, coupling, ncoupling)                                                   \
  X(tabi_connection_def, connection, nconnection)                                             \
  X(tabi_sensor_def, sensor, nsensor)                                                         \
  X(int32_t, exclusion, nexclusion2)                                                          \
  X(double, start, nq)                                                                        \
  X(const char *, posture_name, nposture)                                                     \
  X(double, posture_q, nposture_q)                                                            \
  X(double, posture_v, nposture_v)                                                            \
  X(double, posture_control, nposture_control) /* NAN: none */                                \
  X(tbi_name, link_slot, nlink_slot)                                                          \
  X(tbi_name, joint_slot, njoint_slot)                                                        \
  X(tbi_name, sensor_slot, nsensor_slot)                                                      \
  X(char, text, ntext)

struct tabi_model {
  int32_t nq, nv, nbody, ntree, ntree1, ncluster;
  int64_t nrow;         /* doubles in all rows of the mass matrix */
  int64_t longest_limb; /* the most coordinates on which an impulse acts: path and loops */
  int32_t nlink, njoint, nshape, nmesh, nmaterial, npair, nactuator, ncoupling;
  int32_t nconnection, nsensor, nexclusion2, nposture;
  int32_t ntendon, ntendon1, ntendon_joint, ntendon_point;
  int32_t nowner; /* of loop constraints */
  int64_t ntendon_dof;
  int64_t nvertex3, nface3, nposture_q, nposture_v, nposture_control, ntext;
  int64_t nhull_first, nhull_edge, nhull_start;
  int32_t nlink_slot, njoint_slot, nsensor_slot;
  tbi_names link_names, joint_names, sensor_names; /* their slots are in the block */
  double gravity[3], timestep;
  double mass;           /* of all links */
  body_inertia standing; /* of the links that stand in the world, about its origin */
#define DECLARE(type, name, count) type *name;
  TBI_MODEL_ARRAYS(DECLARE)
#undef DECLARE
};

/* tabi_model_integrate for some bodies. */
void tbi_model_integrate_bodies(const tabi_model *model, int32_t first, int32_t end,
                                const double *q, const double *v, double dt, double *q_to);

/* How many positions and velocities a joint of that type has. */
int32_t tbi_joint_nq(tabi_joint_type type);
int32_t tbi_joint_nv(tabi_joint_type type);

#endif
