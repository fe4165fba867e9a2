/* walker.h - a whole robot for the pattern generator: its joints for given feet and mass centre,
 * and the zero-moment point of its motion. */
#ifndef TBI_WALKER_H
#define TBI_WALKER_H

#include "control/leg.h"
#include "control/lumps.h"
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
  tbi_lumps lumps;     /* joints other than those of the legs stand */
  double follow[2];    /* how far the waist was last moved for the mass centre to move by one */
  tbi_frame foot[2];   /* the foot's link, from the middle of its sole, level */
  double length;       /* m, of the soles along x: the smaller one */
  double width;        /* m, and along y */
  double waist_height; /* m, over the ground in the posture */
  double spacing;      /* m, between the middles of the soles in the posture */
  double ground;       /* m, height of the ground */
} tbi_walker;

/* The robot in the posture q[nq]; tbi_walker_free gives the memory back, also after a failure. */
tabi_status tbi_walker_make(tbi_walker *walker, const tabi_model *model, const tabi_walk_def *def,
                            const double *posture, tabi_error *err);
/* The same robot with a scratch of its own, but without lumps. */
tabi_status tbi_walker_copy(tbi_walker *walker, const tbi_walker *from, tabi_error *err);
void tbi_walker_free(tbi_walker *walker);

tbi_frame tbi_frame_inverse(const tbi_frame *a);
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
/* The mass centre in the world; the scratch then holds the kinematics of q at rest. */
v3 tbi_walker_centre(tbi_walker *walker, const double *q);

/* Marks the positions of the legs' joints in moves[nq]. */
void tbi_walker_mark_legs(const tbi_walker *walker, bool *moves);

/* Finds walker->tau, the joint forces of the motion, from three postures one period apart, as if
 * nothing touched the robot: those of the floating joint are what the ground must give.  Returns
 * the point on the ground about which they have no moment but the vertical one. */
v3 tbi_walker_zmp(tbi_walker *walker, const double *before, const double *now, const double *after,
                  double period);
/* The same point without the forces, from the legs alone: other joints stand. */
v3 tbi_walker_quick_zmp(tbi_walker *walker, const double *before, const double *now,
                        const double *after, double period);
/* Changes these forces into those with the ground under the feet, of which the left one carries a
 * share, and the centre of pressure of both together is at zmp.  None is left at the floating
 * joint. */
void tbi_walker_stand(tbi_walker *walker, const tbi_foot_place *foot, double left_share, v3 zmp);

#endif
