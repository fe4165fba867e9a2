/* hrp_bush.h - springs and dampers of bush joints, as OpenHRP3's bush customizer reads them.
 *
 *   robot_model_name: SampleRobot
 *   bush_config: RLEG_BUSH_Z,5.0e5,1.0e3 RLEG_BUSH_ROLL,1.0e3,2.5e1
 *
 * Each joint has a name, a stiffness (N/m or N m/rad) and a damping (N s/m or N m s/rad). */
#ifndef TBI_HRP_BUSH_H
#define TBI_HRP_BUSH_H

#include "tabi/tabi_io.h"

/* Gives joints of the builder from first_joint on their springs. */
tabi_status tbi_hrp_bush_read(tabi_builder *builder, const char *path, const char *prefix,
                              int32_t first_joint, tabi_error *err);
/* Reads robot_customizer_param.conf beside robot.wrl, if there is one. */
tabi_status tbi_hrp_bush_beside(tabi_builder *builder, const char *path, const tabi_load_def *def,
                                int32_t first_joint, tabi_error *err);

#endif
