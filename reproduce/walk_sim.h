/* walk_sim.h - a humanoid that follows a plan of steps, with what is measured on the way. */
#ifndef TBI_WALK_SIM_H
#define TBI_WALK_SIM_H

#include "series.h"
#include "simulation.h"
#include "tabi/tabi_control.h"

enum { TBI_WALK_MAX_STEPS = 32 };

typedef struct tbi_walk_sim_def {
  const char *model; /* in models/, without its ending */
  double height;     /* m, of the pelvis' origin */
  double knee;       /* rad, of the posture that inverse kinematics starts from */
  double friction;   /* static */
  double kinetic;    /* coefficient of kinetic friction; negative: as static */
  double restitution;
  double kp, kd;        /* N m/rad and N m s/rad, of all joints */
  bool bush;            /* rubber under the ankles, else rigid; only humanoid36 has it */
  double bush_slide;    /* N/m, of the rubber */
  double slide_damping; /* N s/m */
  double bush_turn;     /* N m/rad */
  double turn_damping;  /* N m s/rad */
  double slide_rotor;   /* kg, and */
  double turn_rotor;    /* kg m^2: inertia of a rotor in the axes of the rubber */
  bool stabilised;
  tabi_contact_kind contact;
  tabi_integrator integrator;
  int32_t iterations; /* 0: as the method has them */
  double timestep;
  int32_t nstep;
  tabi_footstep step[TBI_WALK_MAX_STEPS];
  double stand_before, stand_after;
  double push[3];   /* N s at the chest, over 50 ms, 0.5 s after the start */
  uint64_t variant; /* not 0: seed by which all that we chose changes by up to 5 %, the mass of each
                       link without the knowledge of the plan */
} tbi_walk_sim_def;

/* Extremes over the walk so far. */
typedef struct tbi_walk_metrics {
  double weight;      /* N */
  double fall_time;   /* s; 0: it has not fallen */
  int32_t fall_step;  /* in which step, from 1 */
  double force_error; /* max of the mean vertical force over a step against the weight, relative */
  double slip;        /* m, max of the stance foot in single support */
  double noise;  /* max change of the vertical force in an ankle's sensor from one sample to the
                    next, landings included, over the weight */
  double jitter; /* the same of changes that the next sample takes back */
  double swing_force; /* N, max on a swing foot */
  double stance_load; /* min share of the weight on the stance foot, middle half of the support */
  double penetration; /* m, max */
  double com_error;   /* m, max horizontal distance of the centre of mass from the plan */
} tbi_walk_metrics;

typedef struct tbi_walk_sim {
  tbi_walk_sim_def def;
  tbi_simulation sim;
  tabi_model *planned_model; /* the robot as the plan knows it */
  tabi_walk *plan;
  tabi_pd *pd;
  tabi_stabiliser *stabiliser; /* NULL: none */
  int32_t foot[2], toes[2];    /* links; toes may be TABI_NONE */
  double weight;               /* N */
  double force[2][3];          /* N, on both feet in the last step */
  int32_t ankle[2];            /* sensors of force and torque */
  double felt[2], felt_roll;   /* N, vertical, in both sensors; N m, about x, in the left one */
  double roll;                 /* N m, about x, of the left foot */
  double start_height;         /* m, of the centre of mass */
  tbi_walk_metrics metrics;
  struct {
    int32_t step, samples; /* present step, from 1; steps of the simulation in it */
    double sum;            /* N */
    double stood[2];       /* m, where the foot stood at the start of the present single support */
    double felt[2], rise[2]; /* N, in both sensors a step before, and by how much that rose */
    bool single;             /* support, by plan */
  } now;
} tbi_walk_sim;

enum {
  TBI_WALK_TIME,
  TBI_WALK_LEFT,
  TBI_WALK_RIGHT,
  TBI_WALK_ROLL,
  TBI_WALK_COM_X,
  TBI_WALK_COM_Y,
  TBI_WALK_COM_Z,
  TBI_WALK_LEFT_SENSOR,
  TBI_WALK_LEFT_SENSOR_ROLL,
  TBI_WALK_COLUMNS
};
extern const char *const tbi_walk_columns[];

/* Why feet slip under the published variants: a reason of a trial. */
extern const char tbi_walk_sim_creeps[];

/* That the ankle's force is free of noise over the whole motion, and of jitter, on feet of rubber
 * or rigid ones; where: put behind the names of the criteria. */
void tbi_walk_expect_calm(tbi_trial *trial, bool rubber, const char *where, double noise,
                          double jitter);
/* That the stance foot does not slip, of the worst of all runs. */
void tbi_walk_expect_grip(tbi_trial *trial, double slip);

/* Defaults for each robot; humanoid36: friction 0.7, stiff servos, time step 1 ms, no footsteps. */
tbi_walk_sim_def tbi_walk_sim_humanoid36(void);
tbi_walk_sim_def tbi_walk_sim_humanoid20(void);
tbi_walk_sim_def tbi_walk_sim_figure40(void);
/* Appends `count` footsteps. */
void tbi_walk_sim_add_steps(tbi_walk_sim_def *def, int32_t count, tabi_footstep step);
/* 1 in place, 6 of 0.2 m, 5 of 12 degrees on an arc of 0.75 m, 1 that closes, 5 of 0.15 m back, 1
 * that closes. */
void tbi_walk_sim_add_nineteen_steps(tbi_walk_sim_def *def);

/* As published: the published variant of its method, steps of 1 ms by rk4, at most 120 sweeps. */
void tbi_walk_sim_publish(tbi_walk_sim_def *def);

/* tbi_walk_sim_close also after a failure. */
tabi_status tbi_walk_sim_open(tbi_walk_sim *walk, const tbi_walk_sim_def *def, tabi_error *err);
void tbi_walk_sim_close(tbi_walk_sim *walk);
/* Controls, steps and measures. */
tabi_status tbi_walk_sim_step(tbi_walk_sim *walk, tabi_error *err);
/* The plan is not at its end, and the robot has not fallen. */
bool tbi_walk_sim_running(const tbi_walk_sim *walk);
/* A row of tbi_walk_columns. */
void tbi_walk_sim_record(tbi_walk_sim *walk, tbi_series *series);
/* Runs the whole walk; the series, with tbi_walk_columns, may be NULL. */
tabi_status tbi_walk_sim_run(const tbi_walk_sim_def *def, tbi_series *series,
                             tbi_walk_metrics *metrics, tabi_error *err);
/* CPU time of a step with its control, s: the walk is repeated, and of each hundred steps the
 * fastest counts, so that other work on the machine does not. */
tabi_status tbi_walk_sim_step_cost(const tbi_walk_sim_def *def, int32_t repeats, double *seconds,
                                   tabi_error *err);
/* Runs 20 variants; the criterion is that at least 90 % of them do not fall. */
tabi_status tbi_walk_sim_check_variants(tbi_trial *trial, const tbi_walk_sim_def *def,
                                        const char *criterion, tabi_error *err);

#endif
