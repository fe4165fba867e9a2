/* live.js - the line to a running world: pictures and news come in, commands go out. */

const RETRY_MS = 1500;
const RETRIES = 20;

export class Live {
  /* on: {picture(buffer), scene(description, reset), error(text), notice(text), line(up)} */
  constructor(url, on) {
    this.url = url;
    this.on = on;
    this.failures = 0;
    this.connect();
  }

  connect() {
    this.socket = new WebSocket(this.url);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.failures = 0;
      this.on.line(true);
    };
    this.socket.onmessage = (event) => this.take(event.data);
    this.socket.onclose = () => {
      this.on.line(false);
      if (++this.failures <= RETRIES) setTimeout(() => this.connect(), RETRY_MS);
    };
  }

  take(data) {
    try {
      if (typeof data !== "string") return this.on.picture(data);
      const news = JSON.parse(data);
      if (news.scene) this.on.scene(news.scene, Boolean(news.reset ?? news.scene.reset));
      if (news.error) this.on.error(news.error);
      if (news.notice) this.on.notice(news.notice);
    } catch (error) {
      this.on.error(`the program sent something this page does not understand: ${error.message}`);
    }
  }

  send(command) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }
}
