/* hooks.js - window.tabi, for tests and scripts.
 *
 * These stay as they are:
 * - window.tabi = {ready, readyMs, live, time, index, count, playing, speed, factor, scriptMs,
 *   error, drawn, scene, options, seek(t), play(), pause(), step(n), reset(), show(name, value),
 *   signal(name), onScreen(link), screenshot()}; {ready: false, error} when the page cannot start.
 * - elements: #view (the canvas), #play, #step, #back, #reset, #time, #scrub, #speed, #factor,
 *   #toggle-plots, #help-button, #help, #signal, #plot-list, #messages, #title, #subtitle, #facts;
 *   in the panel #option-NAME (NAME as in options), #action-fit, #action-screenshot,
 *   #action-video, #set-contact, #set-friction, #set-timestep. */
import { screenshot } from "./capture.js";

export function hooks(viewer, messages) {
  const { player, replay, options } = viewer;
  const redraw =
    (action) =>
    (...args) => {
      action(...args);
      viewer.stale = true;
    };
  return {
    get ready() {
      return viewer.readyMs !== undefined;
    } /* a picture was drawn */,
    get readyMs() {
      return viewer.readyMs;
    } /* since the page was asked for */,
    get live() {
      return Boolean(player.live);
    },
    get time() {
      return replay.count ? replay.times[player.index] : NaN;
    } /* s, of the picture shown */,
    get index() {
      return player.index;
    },
    get count() {
      return replay.count;
    },
    get playing() {
      return player.playing;
    },
    get speed() {
      return player.speed;
    },
    get factor() {
      return replay.count ? replay.at(player.index).factor : 0;
    },
    get scriptMs() {
      return viewer.pictureTimes.median;
    } /* of script in each of the last pictures */,
    get error() {
      return messages.last;
    } /* the last one shown, or "" */,
    get drawn() {
      /* how many of each are in the picture */
      const { contacts, balance, model, trails } = viewer.sceneView;
      return {
        points: contacts.points.count,
        arrows: contacts.arrows.count,
        cones: contacts.cones.count,
        coms: balance.coms.count,
        zmps: balance.zmps.count,
        axes: model.axes.count,
        inertias: model.boxes.count,
        trail: options.trails ? trails.segments.mesh.count : 0,
        polygons: balance.polygons.filter((polygon) => polygon.count > 0).length,
        ghost: Boolean(viewer.sceneView.ghost?.group.visible),
        band: viewer.push?.active ?? false,
      };
    },
    get scene() {
      return viewer.runs[0].description;
    },
    get stage() {
      return viewer.runs[0].description;
    } /* the old name of scene, until 1.0 */,
    get options() {
      return { ...options };
    },
    seek: (time) => viewer.seek(time),
    play: redraw(() => player.play()),
    pause: redraw(() => player.pause()),
    step: redraw((n = 1) => player.step(n)),
    reset: redraw(() => player.reset()),
    show: (name, value) => viewer.show(name, value),
    /* value of a signal in the picture shown */
    signal: (name) =>
      replay.value(
        player.index,
        viewer.runs[0].description.signals.findIndex((s) => s.name === name),
      ),
    /* where a link is on the page, in its pixels: [x, y] */
    onScreen: (link) => viewer.sceneView.onScreen(link),
    screenshot: () => screenshot(viewer.sceneView),
  };
}
