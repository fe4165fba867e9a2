/* modes.c - the contact modes of a biped, its guards and the changes between modes, as tables (P3,
 * tables of states and of transitions).
 *
 * Contact of support and swing foot, number of variables, and blocks of P3's eq. (9) (A: mass
 * matrix; B: A and the height of the contact point; C: B and the pitch of the foot), for n hinges:
 *
 *   mode      1   2   3   4   1'  2'  3'  4'  1"  2"  3"  4"
 *   support   flat            on its toe      on its heel
 *   swing     -   h   f   t   -   h   f   t   -   h   f   t      heel, face, toe
 *   variables n   n   n   n   n+1 ...         n+1 ...
 *   rows      A   B   C   B   A   B   C   B   A   B   C   B
 *
 * A support foot that slips has x as a further variable, in every mode: 1~, 2~ ...
 * 4' and the modes on the heel are not the paper's. */
#include "base/assertion.h"
#include "gait/gait.h"

enum { M1, M2, M3, M4, M1T, M2T, M3T, M4T, M1H, M2H, M3H, M4H };

const tbi_gait_mode tbi_gait_modes[TBI_GAIT_MODES] = {
    [M1] = {"1",   "1~",   TBI_FLAT,    TBI_AWAY   },
    [M2] = {"2",   "2~",   TBI_FLAT,    TBI_BY_HEEL},
    [M3] = {"3",   "3~",   TBI_FLAT,    TBI_BY_FACE},
    [M4] = {"4",   "4~",   TBI_FLAT,    TBI_BY_TOE },
    [M1T] = {"1'",  "1'~",  TBI_ON_TOE,  TBI_AWAY   },
    [M2T] = {"2'",  "2'~",  TBI_ON_TOE,  TBI_BY_HEEL},
    [M3T] = {"3'",  "3'~",  TBI_ON_TOE,  TBI_BY_FACE},
    [M4T] = {"4'",  "4'~",  TBI_ON_TOE,  TBI_BY_TOE },
    [M1H] = {"1\"", "1\"~", TBI_ON_HEEL, TBI_AWAY   },
    [M2H] = {"2\"", "2\"~", TBI_ON_HEEL, TBI_BY_HEEL},
    [M3H] = {"3\"", "3\"~", TBI_ON_HEEL, TBI_BY_FACE},
    [M4H] = {"4\"", "4\"~", TBI_ON_HEEL, TBI_BY_TOE },
};

const tbi_gait_guard_info tbi_gait_guard_infos[TBI_GAIT_GUARDS] = {
    [TBI_HEEL_LANDS] = {"heel lands",           0,     false},
    [TBI_TOE_LANDS] = {"toe lands",            1e-9,  false},
    [TBI_HEEL_UNLOADS] = {"heel force ends",      0,     true },
    [TBI_TOE_UNLOADS] = {"toe force ends",       0,     true },
    [TBI_FOOT_UNLOADS] = {"contact force ends",   0,     true },
    [TBI_FOOT_TOE_UNLOADS] = {"landed toe lifts",     0,     true },
    [TBI_FOOT_HEEL_UNLOADS] = {"landed heel lifts",    0,     true },
    [TBI_SLIP_ENDS] = {"slip ends",            0,     true },
    [TBI_SOLE_RETURNS] = {"sole returns",         1e-12, false},
    [TBI_POINT_STOPS] = {"point stops",          0,     false},
    [TBI_POINT_SLIPS] = {"point slips",          0,     true },
    [TBI_SUPPORT_STOPS] = {"support stops",        0,     false},
    [TBI_SUPPORT_SLIPS] = {"support slips",        0,     true },
    [TBI_LOAD_ENDS] = {"load ends",            0,     true },
    [TBI_TOE_SCUFFS] = {"toe meets the ground", 0,     false},
    [TBI_HEEL_SINKS] = {"heel sinks",           0,     false},
    [TBI_JOINT_ENDS] = {"joint at its limit",   0,     false},
    [TBI_LINK_FALLS] = {"link falls",           0,     false},
};

/* In order of priority: as in P3, the first condition met wins. */
const tbi_gait_change tbi_gait_changes[] = {
    {M1,           M2,            TBI_HEEL_LANDS,        TBI_IMPACT,   false},
    {M1,           M1T,           TBI_HEEL_UNLOADS,      TBI_RELEASE,  false},
    {M2,           M3,            TBI_TOE_LANDS,         TBI_IMPACT,   false},
    {M2,           M2T,           TBI_HEEL_UNLOADS,      TBI_RELEASE,  false},
    {M2,           M1,            TBI_FOOT_UNLOADS,      TBI_RELEASE,  false},
    {M3,           M4,            TBI_SLIP_ENDS,         TBI_SWAP,     false},
    {M3,           M1,            TBI_FOOT_UNLOADS,      TBI_RELEASE,  false},
    {M4,           M1,            TBI_FOOT_UNLOADS,      TBI_RELEASE,  false},
    {M1T,          M2T,           TBI_HEEL_LANDS,        TBI_IMPACT,   false},
    {M1T,          M1,            TBI_SOLE_RETURNS,      TBI_IMPACT,   false},
    {M2T,          M3T,           TBI_TOE_LANDS,         TBI_IMPACT,   false},
    {M2T,          M2,            TBI_SOLE_RETURNS,      TBI_IMPACT,   false},
    {M2T,          M1T,           TBI_FOOT_UNLOADS,      TBI_RELEASE,  false},
    {M3T,          M4,            TBI_SLIP_ENDS,         TBI_SWAP,     false},
    {M3T,          M1T,           TBI_FOOT_UNLOADS,      TBI_RELEASE,  false},
    {M3T,          M3,            TBI_SOLE_RETURNS,      TBI_IMPACT,   false},
 /* beyond P3: what feet do that cannot pull at the ground */
    {M3,           M3T,           TBI_HEEL_UNLOADS,      TBI_RELEASE,  true },
    {M3,           M2,            TBI_FOOT_TOE_UNLOADS,  TBI_RELEASE,  true },
    {M3,           M4,            TBI_FOOT_HEEL_UNLOADS, TBI_RELEASE,  true },
    {M3T,          M2T,           TBI_FOOT_TOE_UNLOADS,  TBI_RELEASE,  true },
    {M3T,          M4T,           TBI_FOOT_HEEL_UNLOADS, TBI_RELEASE,  true },
    {M4,           M4T,           TBI_HEEL_UNLOADS,      TBI_RELEASE,  true },
    {M4T,          M4,            TBI_SOLE_RETURNS,      TBI_IMPACT,   true },
    {M4T,          M1T,           TBI_FOOT_UNLOADS,      TBI_RELEASE,  true },
    {M1,           M1H,           TBI_TOE_UNLOADS,       TBI_RELEASE,  true },
    {M2,           M2H,           TBI_TOE_UNLOADS,       TBI_RELEASE,  true },
    {M3,           M3H,           TBI_TOE_UNLOADS,       TBI_RELEASE,  true },
    {M4,           M4H,           TBI_TOE_UNLOADS,       TBI_RELEASE,  true },
    {M1H,          M2H,           TBI_HEEL_LANDS,        TBI_IMPACT,   true },
    {M1H,          M1,            TBI_SOLE_RETURNS,      TBI_IMPACT,   true },
    {M2H,          M3H,           TBI_TOE_LANDS,         TBI_IMPACT,   true },
    {M2H,          M2,            TBI_SOLE_RETURNS,      TBI_IMPACT,   true },
    {M2H,          M1H,           TBI_FOOT_UNLOADS,      TBI_RELEASE,  true },
    {M3H,          M2,            TBI_SLIP_ENDS,         TBI_SWAP,     true },
    {M3H,          M1H,           TBI_FOOT_UNLOADS,      TBI_RELEASE,  true },
    {M3H,          M3,            TBI_SOLE_RETURNS,      TBI_IMPACT,   true },
    {M3H,          M2H,           TBI_FOOT_TOE_UNLOADS,  TBI_RELEASE,  true },
    {M3H,          M4H,           TBI_FOOT_HEEL_UNLOADS, TBI_RELEASE,  true },
    {M4H,          M4,            TBI_SOLE_RETURNS,      TBI_IMPACT,   true },
    {M4H,          M1H,           TBI_FOOT_UNLOADS,      TBI_RELEASE,  true },
 /* friction begins or ends within a mode */
    {TBI_ANY_MODE, TBI_SAME_MODE, TBI_POINT_STOPS,       TBI_FRICTION, false},
    {TBI_ANY_MODE, TBI_SAME_MODE, TBI_POINT_SLIPS,       TBI_FRICTION, false},
    {TBI_ANY_MODE, TBI_SAME_MODE, TBI_SUPPORT_STOPS,     TBI_FRICTION, false},
    {TBI_ANY_MODE, TBI_SAME_MODE, TBI_SUPPORT_SLIPS,     TBI_FRICTION, false},
 /* ends of the gait */
    {TBI_ANY_MODE, TBI_SAME_MODE, TBI_LOAD_ENDS,         TBI_END,      false},
    {TBI_ANY_MODE, TBI_SAME_MODE, TBI_TOE_SCUFFS,        TBI_END,      false},
    {TBI_ANY_MODE, TBI_SAME_MODE, TBI_HEEL_SINKS,        TBI_END,      false},
    {TBI_ANY_MODE, TBI_SAME_MODE, TBI_JOINT_ENDS,        TBI_END,      false},
    {TBI_ANY_MODE, TBI_SAME_MODE, TBI_LINK_FALLS,        TBI_END,      false},
};
const int32_t tbi_gait_change_count = sizeof tbi_gait_changes / sizeof tbi_gait_changes[0];

const char *tbi_gait_phase_name(const tbi_gait_phase *phase) {
  TBI_ASSERT(phase->mode >= 0 && phase->mode < TBI_GAIT_MODES);
  const tbi_gait_mode *mode = &tbi_gait_modes[phase->mode];
  return phase->support_slip_sign ? mode->slipping : mode->name;
}
