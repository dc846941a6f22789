// Runs before the terminal's script: copies what the program copies (OSC 52), and reopens a session.
"use strict";

const COPY = /\x1b\]52;c;([A-Za-z0-9+/=]*)(?:\x07|\x1b\\)/g;
const Plain = window.WebSocket;

window.WebSocket = class extends Plain {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", (event) => {
      if (event.data instanceof ArrayBuffer) copyFrom(new Uint8Array(event.data));
    });
  }
};

function copyFrom(bytes) {
  if (!bytes.includes(0x1b)) return;
  const text = new TextDecoder("latin1").decode(bytes);
  for (const [, encoded] of text.matchAll(COPY)) {
    const raw = Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0));
    navigator.clipboard.writeText(new TextDecoder().decode(raw)).catch(console.warn);
  }
}

window.addEventListener("load", () => {
  // After the terminal's own handler, which makes the field that takes the keys.
  setTimeout(() => document.querySelector(".xterm-helper-textarea")?.focus(), 0);
});

window.addEventListener("DOMContentLoaded", () => {
  document.getElementById("again").addEventListener("click", () => window.location.reload());
});
