/* walker.h - whole-body model of the pattern generator: joints for given feet and CoM, and the ZMP
 * of the whole-body motion. */
#ifndef TBI_WALKER_H
#define TBI_WALKER_H

#include "control/composites.h"
#include "control/leg.h"
#include "control/swing.h"
#include "tabi/tabi_control.h"

typedef struct tbi_walker {
  const tabi_model *model;
  tabi_dynamics *dynamics; /* scratch */
  double *v;               /* scratch: [2 nv] */
  double *tau;             /* [nv] joint forces */
  double *jacobian;        /* scratch: [6 nv] */
  int32_t floating;        /* the joint of the waist's body */
  int32_t body;            /* that body */
  tbi_frame joint_frame;   /* of the floating joint in the world */
  tbi_frame in_waist;      /* the floating link in the frame of the waist */
  int32_t link[2];         /* feet */
  tbi_leg leg[2];
  tbi_composites composites; /* joints other than those of the legs are fixed */
  double waist_per_com[2]; /* m/m, motion of the waist that moves the CoM by one, as learnt last */
  tbi_frame foot[2];       /* the foot's link, from the middle of its sole, level */
  double length;           /* m, of the soles along x: the smaller one */
  double width;            /* m, and along y */
  double waist_height;     /* m, over the ground in the posture */
  double spacing;          /* m, between the middles of the soles in the posture */
  double ground;           /* m, height of the ground */
} tbi_walker;

/* The robot in the posture q[nq]; tbi_walker_free gives the memory back, also after a failure. */
tabi_status tbi_walker_make(tbi_walker *walker, const tabi_model *model, const tabi_walk_def *def,
                            const double *posture, tabi_error *err);
/* The same robot with scratch memory of its own, but without composite bodies. */
tabi_status tbi_walker_copy(tbi_walker *walker, const tbi_walker *from, tabi_error *err);
void tbi_walker_free(tbi_walker *walker);

tbi_frame tbi_frame_of_place(const tbi_foot_place *place);
/* Level axes, by the sine and cosine of their yaw. */
static inline m3 tbi_yaw_axes(double sine, double cosine) {
  return (m3){
      {{cosine, -sine, 0}, {sine, cosine, 0}, {0, 0, 1}}
  };
}

/* Puts the waist to a place in the world by changing q[nq]. */
void tbi_walker_set_waist(const tbi_walker *walker, const tbi_frame *waist, double *q);
/* Puts a sole there as well, from where the leg is in q.  False if the leg is too short or would
 * have to bend too far.  With `search` it may start from far away. */
bool tbi_walker_set_foot(const tbi_walker *walker, tabi_side side, const tbi_frame *waist,
                         const tbi_frame *sole, bool search, double *q);

double tbi_walker_mass(const tbi_walker *walker); /* kg */
/* The CoM in the world; the scratch then holds the kinematics of q at rest. */
v3 tbi_walker_com(tbi_walker *walker, const double *q);

/* Marks the positions of the legs' joints in moves[nq]. */
void tbi_walker_mark_legs(const tbi_walker *walker, bool *moves);

/* Inverse dynamics of three postures one period apart, without contact: walker->tau are the joint
 * forces, and those of the floating joint are the wrench that the ground must provide.  Returns the
 * ZMP, the point of the ground about which that wrench has no horizontal moment. */
v3 tbi_walker_zmp(tbi_walker *walker, const double *before, const double *now, const double *after,
                  double period);
/* The ZMP without walker->tau, by composite bodies: joints other than those of the legs are fixed.
 */
v3 tbi_walker_composite_zmp(tbi_walker *walker, const double *before, const double *now,
                            const double *after, double period);
/* Adds to walker->tau the ground forces on the feet, of which the left one carries a share, with
 * the centre of pressure of both together at zmp.  No force remains at the floating joint. */
void tbi_walker_add_ground_forces(tbi_walker *walker, const tbi_foot_place *foot, double left_share,
                                  v3 zmp);

#endif
