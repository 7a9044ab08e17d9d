// Draws the cells that the server sends, and sends keys and mouse. Text becomes text nodes only, never markup.
"use strict";
(() => {
  const BOLD = 1, DIM = 2, ITALIC = 4, UNDERLINE = 8, STRIKE = 16, OVERLINE = 32;
  const SHIFT = 1, ALT = 2, CTRL = 4;
  const LONGEST_PASTE = 20000;
  const MODIFIER_KEYS = ["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock", "NumLock", "Fn", "Dead", "Process", "Unidentified"];
  const KEYS_OF_BROWSER = ["F5", "F11", "F12"];
  const screen = document.getElementById("screen");
  const keys = document.getElementById("keys");
  const words = document.getElementById("words");
  const probe = document.getElementById("probe");

  // Cells are whole pixels wide: fractions would leave gaps between backgrounds.
  const natural = probe.getBoundingClientRect().width / probe.textContent.length;
  const width = Math.round(natural), height = 18;
  screen.style.letterSpacing = `${width - natural}px`;

  const socket = new WebSocket(`ws://${location.host}${location.pathname}screen`);
  const send = (...message) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };
  const measure = () => [Math.floor(innerWidth / width), Math.floor(innerHeight / height)];

  // Frames

  let rows = [];

  function makeRun(text, cells, left, [foreground, background, flags]) {
    const run = document.createElement("span");
    run.textContent = text;
    const style = run.style;
    style.left = `${left * width}px`;
    style.width = `${cells * width}px`;
    style.color = foreground;
    style.backgroundColor = background;
    if (flags & BOLD) style.fontWeight = "bold";
    if (flags & DIM) style.opacity = "0.6";
    if (flags & ITALIC) style.fontStyle = "italic";
    const lines = [[UNDERLINE, "underline"], [STRIKE, "line-through"], [OVERLINE, "overline"]];
    const drawn = lines.filter(([flag]) => flags & flag).map(([, name]) => name).join(" ");
    if (drawn) style.textDecoration = drawn;
    return run;
  }

  // A run of two values has one code point in each cell; its third value is the width of a single character in cells.
  function makeRow(runs, styles) {
    const made = [];
    let left = 0;
    for (const [text, style, cells] of runs) {
      if (cells !== undefined) {
        made.push(makeRun(text, cells, left, styles[style]));
        left += cells;
        continue;
      }
      for (const part of text.match(/[\x20-\x7e]+|./gsu)) { // another font may draw others wider
        const count = part.codePointAt(0) < 0x7f ? part.length : 1;
        made.push(makeRun(part, count, left, styles[style]));
        left += count;
      }
    }
    return made;
  }

  function resizeScreen(count) {
    while (rows.length < count) {
      const row = document.createElement("div");
      row.style.top = `${rows.length * height}px`;
      rows.push(row);
      screen.append(row);
    }
    for (const row of rows.splice(count)) row.remove();
  }

  function draw(frame) {
    resizeScreen(frame.height);
    for (const [number, runs] of frame.rows) rows[number].replaceChildren(...makeRow(runs, frame.styles));
    screen.dataset.columns = frame.width;
    screen.dataset.frame = frame.number;
    if (socket.readyState === WebSocket.OPEN) words.textContent = ""; // else it says why it ended
    send("ack", frame.number);
  }

  function copy(text) {
    const refused = () => { words.textContent = "This web browser did not let memtui copy."; };
    if (navigator.clipboard) navigator.clipboard.writeText(text).catch(refused);
    else refused();
  }

  let ending = "";
  socket.onopen = () => send("hello", ...measure(), matchMedia("(prefers-color-scheme: light)").matches);
  socket.onmessage = (event) => {
    const message = JSON.parse(event.data);
    if (message.end !== undefined) ending = message.end;
    else requestAnimationFrame(() => draw(message)); // a hidden page draws nothing, and is sent nothing more
    if (message.copy) copy(message.copy);
  };
  socket.onclose = (event) => {
    const reason = ending || event.reason || "The connection to memtui serve has ended.";
    words.textContent = `${reason} Reload this page to open it again.`;
  };

  // Keys. The text box takes what is composed of several keys; it is empty otherwise.

  const modifiers = (event) => {
    const graph = event.getModifierState && event.getModifierState("AltGraph");
    return (event.shiftKey ? SHIFT : 0) | (event.altKey && !graph ? ALT : 0) | (event.ctrlKey && !graph ? CTRL : 0);
  };
  keys.addEventListener("keydown", (event) => {
    if (event.isComposing || MODIFIER_KEYS.includes(event.key)) return;
    const pastes = event.ctrlKey && !event.altKey && event.key.toLowerCase() === "v";
    const isOfBrowser = event.metaKey || KEYS_OF_BROWSER.includes(event.key) || (event.ctrlKey && event.shiftKey);
    if (pastes || isOfBrowser) return;
    if (event.ctrlKey && event.key === "c" && !getSelection().isCollapsed) return;
    event.preventDefault();
    send("key", event.key, modifiers(event));
  });
  const sendTyped = () => {
    if (keys.value) send("text", keys.value.slice(0, LONGEST_PASTE));
    keys.value = "";
  };
  keys.addEventListener("input", (event) => { if (!event.isComposing) sendTyped(); });
  keys.addEventListener("compositionend", sendTyped);
  keys.addEventListener("paste", (event) => {
    event.preventDefault();
    send("paste", event.clipboardData.getData("text/plain").slice(0, LONGEST_PASTE));
  });
  keys.addEventListener("blur", () => { send("focus", false); });
  keys.addEventListener("focus", () => { send("focus", true); });

  // Mouse. With Shift it selects text of the page, as in a terminal.

  const getCell = (event) => [Math.floor(event.clientX / width), Math.floor(event.clientY / height)];
  let moved = null, last = "";
  function sendMove() {
    const event = moved;
    moved = null;
    const [x, y] = getCell(event);
    const button = event.buttons & 1 ? 1 : event.buttons & 4 ? 2 : event.buttons & 2 ? 3 : 0;
    const cell = `${x} ${y} ${button}`;
    if (cell !== last) send("mouse", "move", x, y, button, modifiers(event));
    last = cell;
  }
  document.addEventListener("mousedown", (event) => {
    screen.classList.toggle("selectable", event.shiftKey);
    if (event.shiftKey) return;
    event.preventDefault();
    getSelection().removeAllRanges();
    keys.focus();
    send("mouse", "down", ...getCell(event), event.button + 1, modifiers(event));
  });
  document.addEventListener("mouseup", (event) => {
    if (!screen.classList.contains("selectable")) send("mouse", "up", ...getCell(event), event.button + 1, modifiers(event));
  });
  document.addEventListener("mousemove", (event) => {
    if (!moved) requestAnimationFrame(sendMove);
    moved = event;
  });
  document.addEventListener("contextmenu", (event) => { if (!event.shiftKey) event.preventDefault(); });
  let turned = 0;
  document.addEventListener("wheel", (event) => {
    if (event.ctrlKey) return; // zooms
    turned += event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY / 40 : event.deltaY;
    for (; Math.abs(turned) >= 1; turned -= Math.sign(turned)) {
      send("mouse", turned > 0 ? "scroll_down" : "scroll_up", ...getCell(event), 0, modifiers(event));
      if (Math.abs(turned) > 10) turned = 10 * Math.sign(turned);
    }
  }, { passive: true });

  let resized = 0;
  addEventListener("resize", () => {
    clearTimeout(resized);
    resized = setTimeout(() => send("size", ...measure()), 50);
  });
  keys.focus();
})();
