/* 03_stand.c - load a robot, put it on a floor, hold its joints, step, and print the force under
 * each foot. */
#include <tabi/tabi.h>
#include <tabi/tabi_io.h>

#include <stdio.h>
#include <stdlib.h>

static tabi_model *robot_on_floor(const char *path, double height, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return NULL;
  tabi_load_def load = tabi_load_def_default();
  load.base = TABI_BASE_FREE;
  load.place_base = true;
  load.base_pos[2] = height; /* m, of the pelvis: the soles just touch */
  tabi_shape_def floor = tabi_shape_def_default();
  floor.type = TABI_SHAPE_PLANE;
  floor.link = TABI_WORLD;
  (void)tabi_builder_add_shape(builder, &floor);
  tabi_model *model = NULL;
  if (tabi_builder_load(builder, path, &load, err) == TABI_OK)
    model = tabi_builder_build(builder, err);
  tabi_builder_destroy(builder);
  return model;
}

/* An implicit spring and damper in every joint, which is stable at any stiffness. */
static void hold_joints(const tabi_model *robot, tabi_world *world) {
  const tabi_servo servo = {.kp = 2000, .kd = 50, .implicit = true}; /* N m/rad, N m s/rad */
  for (int32_t i = 0; i < tabi_model_njoint(robot); ++i)
    if (tabi_model_joint(robot, i).type == TABI_JOINT_REVOLUTE)
      tabi_world_set_servo(world, i, &servo);
}

static void print_feet(const tabi_model *robot, const tabi_world *world) {
  const char *const feet[2] = {"l_foot", "r_foot"};
  const double origin[3] = {0};
  double force[3], torque[3];
  for (int i = 0; i < 2; ++i) {
    int32_t link = tabi_model_find_link(robot, feet[i]);
    if (link == TABI_NONE) continue;
    tabi_world_contact_wrench(world, link, origin, force, torque);
    printf("%-8s %7.1f N up, %6.1f N forward\n", feet[i], force[2], force[0]);
  }
}

static int run(const tabi_model *robot, tabi_world *world) {
  hold_joints(robot, world);
  while (tabi_world_time(world) < 1) {
    if (tabi_world_step_or_grow(world, NULL) == TABI_OK) continue;
    (void)fprintf(stderr, "%s\n", tabi_world_error(world)->message);
    return EXIT_FAILURE;
  }
  tabi_certificate c = tabi_world_certificate(world);
  printf("%.1f kg after %g s, pelvis at %.3f m\n", tabi_model_mass(robot), tabi_world_time(world),
         tabi_world_q(world)[2]);
  print_feet(robot, world);
  printf("%d contacts, friction beyond its cone %.1g N, overlap %.3f mm\n", c.contacts, c.cone,
         1e3 * c.gap);
  return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  tabi_error err = {0};
  tabi_model *robot = robot_on_floor(argc > 1 ? argv[1] : "models/humanoid36.urdf",
                                     argc > 2 ? strtod(argv[2], NULL) : 0.705, &err);
  tabi_world *world = robot ? tabi_world_create(robot, NULL, &err) : NULL;
  int status = world ? run(robot, world) : EXIT_FAILURE;
  if (!world) {
    char text[1024];
    tabi_error_text(&err, "error", text, sizeof text);
    (void)fprintf(stderr, "%s\n", text);
  }
  tabi_world_destroy(world);
  tabi_model_destroy(robot);
  return status;
}
