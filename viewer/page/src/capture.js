/* capture.js - what is seen, as a PNG or a WebM file. */

const KINDS = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];
const BITS_PER_SECOND = 8e6;

export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export function screenshot(sceneView) {
  sceneView.render(); /* the canvas keeps its pixels only until the browser shows them */
  return new Promise((resolve, reject) => {
    sceneView.canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error("the browser gave no picture"))),
      "image/png",
    );
  });
}

export class Video {
  /* finished(blob), changed(recording) */
  constructor(sceneView, finished, changed) {
    this.sceneView = sceneView;
    this.finished = finished;
    this.changed = changed;
    this.recorder = null;
  }

  get recording() {
    return this.recorder !== null;
  }

  start() {
    const kind =
      globalThis.MediaRecorder && KINDS.find((name) => MediaRecorder.isTypeSupported(name));
    if (!kind) throw new Error("this browser writes no WebM; try Chromium or Firefox");
    const stream = this.sceneView.canvas.captureStream(60);
    const parts = [];
    this.recorder = new MediaRecorder(stream, {
      mimeType: kind,
      videoBitsPerSecond: BITS_PER_SECOND,
    });
    this.recorder.ondataavailable = (event) => parts.push(event.data);
    this.recorder.onstop = () => {
      for (const track of stream.getTracks()) track.stop();
      this.finished(new Blob(parts, { type: "video/webm" }));
    };
    this.recorder.start(1000);
    this.sceneView.dirty = true;
    this.changed(true);
  }

  stop() {
    this.recorder?.stop();
    this.recorder = null;
    this.changed(false);
  }
}
