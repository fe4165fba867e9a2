/* march.h - a humanoid that follows a plan of steps, and what is seen on the way. */
#ifndef TBI_MARCH_H
#define TBI_MARCH_H

#include "series.h"
#include "tabi/tabi_control.h"

enum { TBI_MARCH_STEPS = 32 };

typedef struct tbi_march_def {
  const char *model; /* in models/, without its ending */
  double height;     /* m, of the pelvis' origin */
  double knee;       /* rad, in which direction and about how far legs are bent */
  double friction;
  double kp, kd;        /* N m/rad and N m s/rad, of all joints */
  bool bush;            /* rubber under the ankles, else rigid; only humanoid36 has it */
  double bush_slide;    /* N/m, of the rubber */
  double slide_damping; /* N s/m */
  double bush_turn;     /* N m/rad */
  double turn_damping;  /* N m s/rad */
  bool stabilised;
  tabi_contact_kind contact;
  double timestep;
  int32_t nstep;
  tabi_footstep step[TBI_MARCH_STEPS];
  double stand_before, stand_after;
  double push[3];   /* N s at the chest, over 50 ms, 0.5 s after the start */
  uint64_t variant; /* not 0: seed by which all that we chose changes by up to 5 %, the mass of each
                       link without the knowledge of the plan */
} tbi_march_def;

/* What was seen so far. */
typedef struct tbi_march_seen {
  double fell;        /* s; 0: not */
  int32_t fell_step;  /* in which step, from 1 */
  double force_error; /* of the mean vertical force over a step against the weight, worst */
  double slip;        /* m, of a foot while it stands alone, worst */
  double noise;       /* of the force on it from sample to sample, share of the weight */
  double swing_force; /* N, on a foot in the air */
  double load;        /* least share of the weight on the foot that stands alone, middle half */
  double depth;       /* m, of overlap */
  double off;         /* m, of the mass centre from the plan, sideways */
} tbi_march_seen;

typedef struct tbi_march {
  tbi_march_def def;
  tbi_stage stage;
  tabi_model *planned; /* the robot as the plan knows it */
  tabi_walk *walk;
  tabi_pd *pd;
  tabi_stabiliser *stabiliser; /* NULL: none */
  int32_t foot[2], toes[2];    /* links; toes may be TABI_NONE */
  double weight;               /* N */
  double force[2][3];          /* N, on both feet in the last step */
  double roll;                 /* N m, about x, of the left foot */
  double start_height;         /* m, of the mass centre */
  tbi_march_seen seen;
  struct {
    int32_t step, samples; /* present step, from 1; steps of the simulation in it */
    double sum;            /* N */
    double stood[2];       /* m, where the foot stood at the start of the present single support */
    double before[2];      /* N, on both feet */
    bool single, alone[2]; /* by plan, and by force */
  } now;
} tbi_march;

enum {
  TBI_MARCH_TIME,
  TBI_MARCH_LEFT,
  TBI_MARCH_RIGHT,
  TBI_MARCH_ROLL,
  TBI_MARCH_COM_X,
  TBI_MARCH_COM_Y,
  TBI_MARCH_COM_Z,
  TBI_MARCH_COLUMNS
};
extern const char *const tbi_march_columns[];

/* humanoid36 with 0.7 of friction, stiff joints, 1 ms, no steps; humanoid20; figure40. */
tbi_march_def tbi_march_humanoid36(void);
tbi_march_def tbi_march_humanoid20(void);
tbi_march_def tbi_march_figure40(void);
/* So many steps more. */
void tbi_march_add(tbi_march_def *def, int32_t count, tabi_footstep step);
/* 1 in place, 6 of 0.2 m, 5 of 12 degrees on an arc of 0.75 m, 1 that closes, 5 of 0.15 m back, 1
 * that closes. */
void tbi_march_nineteen(tbi_march_def *def);

/* tbi_march_close also after a failure. */
tabi_status tbi_march_open(tbi_march *march, const tbi_march_def *def, tabi_error *err);
void tbi_march_close(tbi_march *march);
/* Controls, steps and looks. */
tabi_status tbi_march_step(tbi_march *march, tabi_error *err);
/* The plan is not at its end, and the robot has not fallen. */
bool tbi_march_goes_on(const tbi_march *march);
/* A row of tbi_march_columns. */
void tbi_march_note(tbi_march *march, tbi_series *series);
/* From beginning to end; the series, with tbi_march_columns, may be NULL. */
tabi_status tbi_march_run(const tbi_march_def *def, tbi_series *series, tbi_march_seen *seen,
                          tabi_error *err);
/* CPU time of a step with its control, s: a march is repeated, and of each hundred steps the
 * fastest counts, so that other work on the machine does not. */
tabi_status tbi_march_cost(const tbi_march_def *def, int32_t repeats, double *seconds,
                           tabi_error *err);
/* How many of the variants 1 to `count` do not fall. */
tabi_status tbi_march_variants(const tbi_trial *trial, const tbi_march_def *def, int32_t count,
                               int32_t *stood, tabi_error *err);

#endif
