/* preview.h - preview control of the cart-table model: a CoM at constant height, driven by its jerk
 * so that the ZMP follows a reference that is known over a preview horizon. */
#ifndef TBI_PREVIEW_H
#define TBI_PREVIEW_H

#include "tabi/tabi.h"

typedef struct tbi_preview_def {
  double height;       /* of the CoM, m */
  double gravity;      /* m/s^2 */
  double period;       /* between samples, s */
  int32_t horizon;     /* samples of the preview horizon */
  double error_weight; /* Q of the ZMP error, 1/m^2 */
  double jerk_weight;  /* 1/(m/s^3)^2 */
} tbi_preview_def;

typedef struct tbi_preview {
  tbi_preview_def def;
  double integral;      /* gain of the summed error */
  double state[3];      /* gains of position, velocity, acceleration */
  double *horizon_gain; /* [horizon] gains of the reference 1, 2 ... samples ahead */
} tbi_preview;

/* Fills the gains; tbi_preview_free gives the memory back, also after a failure. */
tabi_status tbi_preview_make(tbi_preview *preview, const tbi_preview_def *def, tabi_error *err);
void tbi_preview_free(tbi_preview *preview);

/* Follows reference[count], held after its end, from rest at reference[0]:
 * com[count][3] becomes the position, velocity and acceleration of the CoM. */
void tbi_preview_follow(const tbi_preview *preview, int32_t count, const double *reference,
                        double (*com)[3]);

#endif
