/* p3.h - the experiment p3/walk and its figures. */
#ifndef TBI_P3_H
#define TBI_P3_H

#include "biped_sample.h"
#include "figure.h"

/* How P3 can be read: its force on the head does not carry the robot, so that others are tried. */
typedef enum tbi_p3_reading {
  TBI_P3_WALK,    /* force on the head found by search: the walk */
  TBI_P3_TENFOLD, /* ten times the printed force, long feet */
  TBI_P3_PRINTED, /* the walk with the printed force */
  TBI_P3_FARTHER, /* the printed force, from postures up to 0.5 rad away */
  TBI_P3_ANYHOW,  /* the walk, which a foot that lands behind the other does not end */
  TBI_P3_READINGS,
} tbi_p3_reading;

/* How a reading is run: events at the ends of 5 ms steps or located, the paper's guards or strict
 * ones. */
typedef enum tbi_p3_way {
  TBI_P3_STEP_PAPER, /* as published */
  TBI_P3_STEP_STRICT,
  TBI_P3_LOCATED_PAPER,
  TBI_P3_LOCATED_STRICT, /* ours */
  TBI_P3_WAYS,
} tbi_p3_way;

/* Samples, in one array: all readings in all ways at the paper's K, 0.5; then the walk as published
 * and as ours at nine K from 0.1 to 0.9. */
enum {
  TBI_P3_FRICTIONS = 9,
  TBI_P3_FIRST_SWEPT = TBI_P3_READINGS * TBI_P3_WAYS,
  TBI_P3_SAMPLES = TBI_P3_FIRST_SWEPT + TBI_VARIANTS * TBI_P3_FRICTIONS
};
static inline int tbi_p3_at_half(tbi_p3_reading reading, tbi_p3_way way) {
  return (int)reading * TBI_P3_WAYS + (int)way;
}
static inline int tbi_p3_at_k(tbi_variant variant, int k) {
  return TBI_P3_FIRST_SWEPT + (int)variant * TBI_P3_FRICTIONS + k;
}

/* The walk from the scene's own posture, seen in detail. */
typedef struct tbi_p3_shown {
  tbi_biped_walk walk;
  tbi_series series;
} tbi_p3_shown;
enum {
  TBI_P3_TIME,
  TBI_P3_MODE,     /* index of tbi_biped_modes */
  TBI_P3_HEEL,     /* m, x of the swing heel */
  TBI_P3_NORMAL,   /* N, on the swing foot */
  TBI_P3_FRICTION, /* N */
  TBI_P3_SLIP,     /* m/s, of its contact point */
  TBI_P3_NET,      /* N, along x on the swing foot: what drives its slip less friction */
  TBI_P3_TORQUE,   /* N m, of hips and knees */
  TBI_P3_COLUMNS = TBI_P3_TORQUE + 4
};

enum { TBI_P3_PICTURES = 8 };
extern const double tbi_p3_spacing, tbi_p3_between; /* m and s, between pictures */

/* Figs. 4 to 9 of the paper; the figure has the outlines of its pictures already. */
tabi_status tbi_p3_draw_walk(tbi_figure *figure, const tbi_p3_shown shown[TBI_VARIANTS],
                             tabi_error *err);
/* What walks from many postures have in common. */
tabi_status tbi_p3_draw_samples(tbi_trial *trial, const tbi_biped_sample samples[TBI_P3_SAMPLES],
                                tabi_error *err);

#endif
