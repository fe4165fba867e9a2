/* test_refused.c - scenes that must be refused, and what must be said about them. */
#include "scene/refused.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <stdlib.h>
#include <string.h>

#define BALL   "shape: {sphere: 0.1}"
#define ROBOT  "robots: [{name: r, model: arm.urdf, base: fixed, "
#define FORCE  "bodies: [{name: a, mass: 1, " BALL "}]\nforces: [{body: a, "
#define DRIVEN ROBOT "controller: "

static const refused scenes[] = {
    {"timestep: 0\n",                                                                     1, "timestep must be in [1e-7, 0.1]"                   },
    {"timestep: -1\n",                                                                    1, "timestep must be in [1e-7, 0.1]"                   },
    {"timestep: nan\n",                                                                   1, "timestep must be in [1e-7, 0.1]"                   },
    {"timestep: .nan\n",                                                                  1, "timestep must be in [1e-7, 0.1]"                   },
    {"timestep: 1e9\n",                                                                   1, "timestep must be in [1e-7, 0.1]"                   },
    {"timestep: soon\n",                                                                  1, "timestep 'soon' is not a number"                   },
    {"timestep: 1,5\n",                                                                   1, "timestep '1,5' is not a number (use a point)"      },
    {"timestep: [1]\n",                                                                   1, "timestep must be a single value"                   },
    {"name: x\ngravty: [0, 0, -9.81]\n",                                                  2, "unknown key 'gravty' (did you mean 'gravity'?)"    },
    {"xyzzy: 1\n",                                                                        1, "unknown key 'xyzzy' (name, timestep, "             },
    {"duration: 0\n",                                                                     1, "duration 0 must be > 0"                            },
    {"duration: inf\n",                                                                   1, "duration 'inf' is not a finite number"             },
    {"gravity: [0, 0]\n",                                                                 1, "gravity needs 3 numbers, got 2"                    },
    {"gravity: [0, 0, x]\n",                                                              1, "gravity 'x' is not a number"                       },
    {"gravity: -9.81\n",                                                                  1, "gravity must be a list"                            },
    {"[1, 2]\n",                                                                          1, "expected a map"                                    },
    {"just text\n",                                                                       1, "expected a map"                                    },
    {"integrator: verlet\n",                                                              1,
     "unknown integrator 'verlet' (semi-implicit, midpoint, rk4, euler)"                                                                         },
    {"contact: {model: kone}\n",                                                          1, "unknown contact method 'kone' (cone, lcp"          },
    {"contact: cone\n",                                                                   1, "contact must be a map"                             },
    {"contact: {iterations: 1}\n",                                                        1, "iterations must be at least 2"                     },
    {"contact: {iterations: 1.5}\n",                                                      1, "iterations 1.5 must be a whole number"             },
    {"contact: {iterations: 9e99}\n",                                                     1, "iterations 9e99 must be a whole number"            },
    {"contact: {variant: old}\n",                                                         1, "variant must be block or paper, not 'old'"         },
    {"contact: {seed: -1}\n",                                                             1, "seed must be a whole number"                       },
    {"contact: {correction: 2}\n",                                                        1, "correction 2 must be in [0, 1]"                    },
    {"contact: {static: maybe}\n",                                                        1, "static must be true or false, not 'maybe'"         },
    {"connections: [{type: ball}]\n",                                                     1, "connection: a is missing"                          },
    {"contact: {impacts: one}\n",                                                         1, "impacts must be simultaneous or sequential"        },
    {"contact: {fallback: cone}\n",                                                       1, "fallback must be none, newton or exact, not 'cone'"},
    {"contact: {grip: -1}\n",                                                             1, "tangential_stiffness -1 must be >= 0"              },
    {"contact: {grip: 1e4}\n",                                                            1, "tangential_stiffness 10000 must be in [0, 1000]"   },
    {"contact: {model: exact, variant: paper}\n",                                         1, "exact has no variant: paper; leave it out"         },
    {"integrator: rk4\ncontact: {model: penalty, variant: paper}\n",                      2,
     "penalty is explicit under rk4, without variants; leave variant out"                                                                        },
    {"contact: {model: penalty, storage: dense}\n",                                       1,
     "penalty has no storage: dense; leave it out"                                                                                               },
    {"contact: {model: exact, storage: dense}\n",                                         1, "exact has no storage: dense; leave it out"         },
    {"contact: {model: lcp, fallback: newton}\n",                                         1, "fallback: newton is for model: cone"               },
    {"contact: {model: penalty, fallback: exact}\n",                                      1, "penalty obeys another law than exact"              },
    {"contact:\n  model: impulse\n  fallback: exact\n",                                   3, "impulse obeys another law than exact"              },
    {"log: {every: 0}\n",                                                                 1, "every must be at least 1"                          },
    {"log: {signals: [x]}\n",                                                             1, "no body is called 'x'"                             },
    {"materials: {w: {frictoin: 1}}\n",                                                   1,
     "material 'w': unknown key 'frictoin' (did you mean 'friction'?)"                                                                           },
    {"materials: {w: {viscous: -1}}\n",                                                   1, "material 'w': viscous -1 must be >= 0"             },
    {"materials: {w: {rolling_friction: -1}}\n",                                          1,
     "material 'w': rolling_friction -1 must be >= 0"                                                                                            },
    {"materials: {w: {torsional_friction: -1}}\n",                                        1,
     "material 'w': torsional_friction -1 must be >= 0"                                                                                          },
    {"materials: {w: {friction: -1}}\n",                                                  1, "material 'w': friction -1 must be >= 0"            },
    {"materials: {w: {restitution: 1.5}}\n",                                              1, "restitution 1.5 must be in [0, 1]"                 },
    {"materials: {w: {friction: 0.2, kinetic: 1}}\n",                                     1, "kinetic 1 is above friction 0.2"                   },
    {"materials: {w: 0.5}\n",                                                             1, "material 'w': expected a map"                      },
    {"pairs: [[a, b, {}]]\n",                                                             1, "no material is called 'a'"                         },
    {"pairs: [[a, b]]\n",                                                                 1, "expected [material, material, {friction: ...}]"    },
    {"pairs: [a]\n",                                                                      1, "expected [material, material, {friction: ...}]"    },
    {"bodies:\n  - {" BALL "}\n",                                                         2, "body: name is missing"                             },
    {"bodies: [{name: a, " BALL "}]\n",                                                   1, "body 'a': a body that moves needs mass or density" },
    {"bodies: [{name: a, mass: 1}]\n",                                                    1, "body 'a': without a solid shape it needs inertia"  },
    {"bodies: [{name: a, mass: 0, " BALL "}]\n",                                          1, "body 'a': mass 0 must be > 0"                      },
    {"bodies: [{name: a, mass: nan, " BALL "}]\n",                                        1,
     "body 'a': mass 'nan' is not a finite number"                                                                                               },
    {"bodies: [{name: a, mas: 1, " BALL "}]\n",                                           1,
     "body 'a': unknown key 'mas' (did you mean 'mass'?)"                                                                                        },
    {"bodies: [{name: a, mass: 1, density: 2, " BALL "}]\n",                              1, "give mass or density, not both"                    },
    {"bodies: [{name: a, mass: 1, shape: {plane: {}}, inertia: [1,1,1]}]\n",              1,
     "a plane needs fixed: true"                                                                                                                 },
    {"bodies: [{name: a, mass: 1, shape: {ball: 1}}]\n",                                  1, "unknown shape 'ball' (box, sphere"                 },
    {"bodies: [{name: a, mass: 1, shape: {box: [1, 2]}}]\n",                              1, "box needs 3 numbers, got 2"                        },
    {"bodies: [{name: a, mass: 1, shape: {box: [1, 2, 0]}}]\n",                           1, "box: size 0 must be > 0"                           },
    {"bodies: [{name: a, mass: 1, shape: {sphere: -1}}]\n",                               1, "sphere: size -1 must be > 0"                       },
    {"bodies: [{name: a, mass: 1, shape: {sphere: 1, box: 2}}]\n",                        1,
     "shape must have exactly one key"                                                                                                           },
    {"bodies: [{name: a, mass: 1, shape: {heightfield: x}}]\n",                           1, "height field 'x' not found"                        },
    {"bodies: [{name: a, fixed: true, shape: {heightfield: [1]}}]\n",                     1,
     "heightfield needs the name of a file"                                                                                                      },
    {"bodies: [{name: a, fixed: true, shape: {heightfield: {file: x, size: [1, 0]}}}]\n", 1,
     "size of a heightfield must be > 0"                                                                                                         },
    {"bodies: [{name: a, fixed: true, shape: {heightfield: {fil: x}}}]\n",                1,
     "did you mean 'file'"                                                                                                                       },
    {"bodies: [{name: a, mass: 1, shape: {mesh: no.stl}}]\n",                             1, "no.stl"                                            },
    {"bodies: [{name: a, mass: 1, shape: {mesh: ../../etc/passwd}}]\n",                   1,
     "leaves the model's package"                                                                                                                },
    {"bodies: [{name: a, mass: 1, shape: {hull: [[0,0,0],[1,0,0],[0,1,0]]}}]\n",          1, "a"                                                 },
    {"bodies: [{name: a, mass: 1, inertia: [1, 1, 3], " BALL "}]\n",                      1, "inertia violates A+B>=C"                           },
    {"bodies: [{name: a, mass: 1, inertia: [1, 1, 0], " BALL "}]\n",                      1, "inertia 0 must be > 0"                             },
    {"bodies: [{name: a, mass: 1, rpy: [0,0,0], quat: [1,0,0,0], " BALL "}]\n",           1,
     "give rpy or quat, not both"                                                                                                                },
    {"bodies: [{name: a, mass: 1, quat: [0,0,0,0], " BALL "}]\n",                         1, "quat has length 0"                                 },
    {"bodies: [{name: a, mass: 1, xyz: [1e999,0,0], " BALL "}]\n",                        1,
     "xyz '1e999' is not a finite number"                                                                                                        },
    {"bodies: [{name: a, mass: 1, material: w, " BALL "}]\n",                             1,
     "body 'a': no material is called 'w'"                                                                                                       },
    {"bodies: [{name: a, fixed: true, lin: [1,0,0]}]\n",                                  1, "a fixed body has no velocity"                      },
    {"bodies:\n  - {name: a, fixed: true}\n  - {name: a, fixed: true}\n",                 3,
     "link 'a' defined twice (first at line 2)"                                                                                                  },
    {"bodies: [{name: a, fixed: true}]\nforces: [{force: [1, 0, 0]}]\n",                  2, "body is missing"                                   },
    {"bodies: [{name: a, fixed: true}]\nforces: [{body: a}]\n",                           2, "'a' does not move"                                 },
    {"bodies: [{name: ab, fixed: true}]\nforces: [{body: abc}]\n",                        2,
     "no body is called 'abc' (did you mean 'ab'?)"                                                                                              },
    {FORCE "sine: {frequency: 1}}]\n",                                                    2, "force: a sine needs an amplitude"                  },
    {FORCE "force: [1, 0, 0], sine: {phase: 1}}]\n",                                      2, "force: sine needs a frequency, Hz"                 },
    {FORCE "force: [1, 0, 0], sine: {frequency: -1}}]\n",                                 2, "frequency -1 must be > 0"                          },
    {FORCE "force: [1, 0, 0], table: a.csv}]\n",                                          2, "a table stands alone, without other values"        },
    {FORCE "table: no.csv}]\n",                                                           2, "no.csv': cannot open"                              },
    {FORCE "table: [1]}]\n",                                                              2, "table needs the name of a CSV file"                },
    {FORCE "table: bad.csv}]\n",                                                          2,
     "column 'fq' of 'bad.csv' has no meaning here (did you mean 'f"                                                                             },
    {FORCE "table: twice.csv}]\n",                                                        2, "two columns of 'twice.csv' give 'fx'"              },
    {"bodies: [{name: a, motion: {speed: 1}}]\n",                                         1, "body 'a': unknown key 'speed' (velocity, "         },
    {"bodies: [{name: a, motion: {in_place: true}}]\n",                                   1, "motion needs a velocity or a table"                },
    {"bodies: [{name: a, fixed: true, motion: {velocity: [1, 0, 0]}}]\n",                 1,
     "what has motion is not fixed, and lin and ang follow from it"                                                                              },
    {"bodies: [{name: a, motion: {velocity: [1, 0, 0]}, shape: {plane: {}}}]\n",          1,
     "a plane needs fixed: true"                                                                                                                 },
    {ROBOT "motion: {elbo: {velocity: 1}}}]\n",                                           1, "no joint is called 'elbo' (did you mean"           },
    {ROBOT "motion: {base: {velocity: 1}}}]\n",                                           1,
     "motion: joint 'base' is not one with one coordinate that moves"                                                                            },
    {ROBOT "motion: {elbow: {velocity: [1, 2]}}}]\n",                                     1, "velocity must be a single value"                   },
    {ROBOT "motion: {elbow: {velocity: 1, in_place: true}}}]\n",                          1, "unknown key 'in_place'"                            },
    {"robots: [{model: x}]\n",                                                            1, "name is missing"                                   },
    {"robots: [{name: r}]\n",                                                             1, "robot 'r': model is missing"                       },
    {"robots: [{name: r, model: no.urdf}]\n",                                             1, "no.urdf': cannot open"                             },
    {ROBOT "bas: fixed}]\n",                                                              1, "robot 'r': unknown key 'bas'"                      },
    {"robots: [{name: r, model: arm.urdf, base: tied}]\n",                                1,
     "base must be free or fixed, not 'tied'"                                                                                                    },
    {ROBOT "posture: {elbo: 1}}]\n",                                                      1, "no joint is called 'elbo' (did you mean 'elbow'?)" },
    {ROBOT "posture: {elbow: [1, 2]}}]\n",                                                1, "elbow must be a single value"                      },
    {ROBOT "posture: {elbow: nan}}]\n",                                                   1, "elbow 'nan' is not a finite number"                },
    {ROBOT "lock: [hand]}]\n",                                                            1, "no joint is called 'hand'"                         },
    {ROBOT "lock: [base]}]\n",                                                            1, "joint 'base' is not one with one coordinate"       },
    {ROBOT "lock: [elbow], velocity: {elbow: 1}}]\n",                                     1, "joint 'elbow' does not move"                       },
    {ROBOT "materials: {lowerr: w}}]\n",                                                  1, "no link is called 'lowerr' (did you mean 'lower'?)"},
    {ROBOT "materials: {lower: w}}]\n",                                                   1, "no material is called 'w'"                         },
    {ROBOT "joints: {elbo: {damping: 1}}}]\n",                                            1,
     "robot 'r': joints: no joint is called 'elbo' (did you mean 'elbow'?)"                                                                      },
    {ROBOT "joints: {elbow: {dampin: 1}}}]\n",                                            1,
     "robot 'r': joint 'elbow': unknown key 'dampin' (did you mean 'damping'?)"                                                                  },
    {ROBOT "joints: {elbow: {damping: -1}}}]\n",                                          1, "joint 'elbow': damping -1 must be >= 0"            },
    {ROBOT "joints: {base: {damping: 1}}}]\n",                                            1, "joint 'base': it is fixed"                         },
    {ROBOT "links: {lowerr: {mass: 1}}}]\n",                                              1,
     "links: no link is called 'lowerr' (did you mean 'lower'?)"                                                                                 },
    {ROBOT "links: {lower: {mass: nan}}}]\n",                                             1, "link 'lower': mass 'nan' is not a finite number"   },
    {ROBOT "links: {lower: {com: 1}}}]\n",                                                1, "link 'lower': com must be a list"                  },
    {ROBOT "lin: [1, 0, 0]}]\n",                                                          1, "lin and ang need a base that floats"               },
    {DRIVEN "{kp: 1}}]\n",                                                                1, "type is missing (pd, csv, walk, plugin)"           },
    {DRIVEN "{type: pid, kp: 1}}]\n",                                                     1, "unknown type 'pid' (did you mean 'pd'?)"           },
    {DRIVEN "{type: magic}}]\n",                                                          1, "unknown type 'magic' (pd, csv, walk, plugin)"      },
    {DRIVEN "{type: [pd]}}]\n",                                                           1, "controller: type must be a single value"           },
    {DRIVEN "{type: pd, kp: 1, springs: {elbow: -1}}}]\n",                                1, "springs: elbow -1 must be >= 0"                    },
    {DRIVEN "{type: walk, steps: 4, kp: 1}}]\n",                                          1, "no link is called 'l_foot'; name both soles"       },
    {DRIVEN "{type: plugin}}]\n",                                                         1, "file is missing: a shared object"                  },
    {DRIVEN "{type: plugin, file: ./no.so}}]\n",                                          1, "this program does not run plugins"                 },
    {DRIVEN "{type: pd}}]\n",                                                             1, "kp is missing"                                     },
    {DRIVEN "{type: pd, kp: -1}}]\n",                                                     1, "kp -1 must be >= 0"                                },
    {DRIVEN "{type: pd, kp: 1, joints: {x: {kp: 1}}}}]\n",                                1, "no joint is called 'x'"                            },
    {DRIVEN "{type: pd, kp: 1, joints: {elbow: {ki: 1}}}}]\n",                            1,
     "joint 'elbow': unknown key 'ki'"                                                                                                           },
    {DRIVEN "{type: csv, kp: 1}}]\n",                                                     1, "file is missing"                                   },
    {DRIVEN "{type: csv, kp: 1, file: no.csv}}]\n",                                       1, "no.csv': cannot open"                              },
};

static const refused tables[] = {
    {"",                            1, "no rows of numbers"           },
    {"time,elbow\n",                1, "no rows of numbers"           },
    {"time\n0\n",                   1, "no columns but the time"      },
    {"elbow,time\n0,0\n",           1, "the first column is 'elbow'"  },
    {"time,elbow\n0,1\n1\n",        3, "row has 1 values, expected 2" },
    {"time,elbow\n0,1,2\n",         2, "row has 3 values, expected 2" },
    {"time,elbow\n0,x\n",           2, "'x' is not a finite number"   },
    {"time,elbow\n0,nan\n",         2, "'nan' is not a finite number" },
    {"time,elbow\n0,1\n1,2\n1,3\n", 4, "time 1 does not rise"         },
    {"# rate -5\nelbow\n0\n",       1, "rate '-5' is not a number > 0"},
};

static const char arm[] =
    "<robot name='arm'><link name='upper'><inertial><mass value='1'/>"
    "<inertia ixx='1' iyy='1' izz='1'/></inertial></link><link name='lower'><inertial>"
    "<mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
    "<joint name='elbow' type='continuous'><parent link='upper'/><child link='lower'/>"
    "<origin xyz='0 0 0.3'/><axis xyz='0 1 0'/></joint></robot>";

static void refuse_all(void) {
  (void)scratch_text("arm.urdf", arm);
  (void)scratch_text("bad.csv", "time,fq\n0,0\n");
  (void)scratch_text("twice.csv", "time,fx,fx\n0,0,0\n");
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; ++i) {
    const char *path = scratch_text("s.yaml", scenes[i].text);
    refused_check(path, &scenes[i], path);
  }
}

static void test_scenes(void **state) {
  (void)state;
  refuse_all();
}

/* docs/limits.md */
static const refused beyond[] = {
    {"gravity: [1e9, 0, 0]\n",                                                1, "gravity of 1e+09 m/s^2 is beyond the limit of 1e+06"},
    {"bodies: [{name: a, shape: {cylinder: [1e155, 1]}}]\n",                  1,
     "size 1e+155 m is beyond the limit"                                                                                              },
    {"bodies: [{name: a, shape: {box: [1, 1, 1e-99]}}]\n",                    1, "size 1e-99 m is below the limit"                    },
    {"bodies: [{name: a, shape: {sphere: 1}, mass: 1e30}]\n",                 1,
     "mass 1e+30 kg is beyond the limit"                                                                                              },
    {"bodies: [{name: a, shape: {sphere: 1}, mass: 1, xyz: [0, 0, 1e18]}]\n", 1,
     "beyond the limit"                                                                                                               },
};

static void test_limits(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof beyond / sizeof *beyond; ++i) {
    const char *path = scratch_text("s.yaml", beyond[i].text);
    refused_check(path, &beyond[i], path);
  }
}

static void test_german(void **state) {
  (void)state;
  scratch_need_german();
  refuse_all();
}

static void test_tables(void **state) {
  (void)state;
  (void)scratch_text("arm.urdf", arm);
  const char *path = scratch_text("s.yaml", DRIVEN "{type: csv, kp: 1, file: t.csv}}]\n");
  for (size_t i = 0; i < sizeof tables / sizeof *tables; ++i)
    refused_check(path, &tables[i], scratch_text("t.csv", tables[i].text));
  const refused unknown = {"", 1, "no joint is called 'elbw' (did you mean 'elbow'?)"};
  (void)scratch_text("t.csv", "time,elbw\n0,0\n");
  refused_check(path, &unknown, path);
  const refused twice = {"", 1, "two columns are called 'elbow'"};
  (void)scratch_text("t.csv", "time,elbow,elbow\n0,0,0\n");
  refused_check(path, &twice, path);
}

/* Every beginning of a good scene, and every byte of it changed, is refused or read, not more. */
static void test_broken(void **state) {
  (void)state;
  static const char good[] =
      "name: x\ntimestep: 1e-3\ncontact: {model: cone, iterations: 20}\n"
      "materials: {w: {friction: 0.5}}\npairs: [[w, w, {friction: 0.4}]]\n"
      "bodies:\n  - {name: a, mass: 1, shape: {box: [1, 2, 3]}, xyz: [0, 0, 1], material: w}\n"
      "forces: [{body: a, force: [1, 0, 0], from: 0, to: 1}]\nlog: {every: 2, signals: [a]}\n";
  char text[sizeof good];
  tabi_error err;
  for (size_t n = 0; n < sizeof good; ++n)
    tabi_scene_destroy(tabi_scene_load_text(good, n, "x.yaml", NULL, &err));
  static const char changes[] = "[{:-'\"&*!# \n\t0\x80";
  for (size_t at = 0; at + 1 < sizeof good; ++at) {
    for (size_t k = 0; k + 1 < sizeof changes; ++k) {
      memcpy(text, good, sizeof good);
      text[at] = changes[k];
      tabi_scene *scene = tabi_scene_load_text(text, sizeof good - 1, "x.yaml", NULL, &err);
      assert_true(scene || err.message[0] != '\0');
      tabi_scene_destroy(scene);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scenes), cmocka_unit_test(test_limits), cmocka_unit_test(test_tables),
      cmocka_unit_test(test_broken), cmocka_unit_test(test_german),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
