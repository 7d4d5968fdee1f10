"use strict";
// Attention: a picture for every head, and for the chosen one what each token attends to.
(() => {
  const block = document.getElementById("data");
  if (!block) return;
  const data = JSON.parse(block.textContent);
  const weights = Uint8Array.from(atob(data.weights), (character) => character.charCodeAt(0));
  const count = data.tokens.length, size = count * count;
  const LEVELS = 5, NAMED = 5;
  const starts = []; // of each layer, in heads
  data.heads.reduce((sum, heads) => (starts.push(sum), sum + heads), 0);
  let layer = 0, head = 0, token = 0;
  const by = (id) => document.getElementById(id);
  const weight = (row, column) => weights[(starts[layer] + head) * size + row * count + column] / 255;

  function make(name, properties = {}, ...children) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children); // text nodes: no token is read as HTML
    return element;
  }

  function channels(variable) { // of a colour of the style sheet, in this theme
    const probe = make("span");
    probe.style.color = `var(${variable})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
    probe.remove();
    return found;
  }

  function draw(canvas, number, low, high) {
    canvas.width = canvas.height = count;
    const context = canvas.getContext("2d"), picture = context.createImageData(count, count);
    for (let at = 0; at < size; at++) {
      const share = Math.sqrt(weights[number * size + at] / 255); // small weights can be seen
      for (let channel = 0; channel < 3; channel++) picture.data[4 * at + channel] = low[channel] + share * (high[channel] - low[channel]);
      picture.data[4 * at + 3] = 255;
    }
    context.putImageData(picture, 0, 0);
  }

  function drawAll() {
    const low = channels("--raised"), high = channels("--accent");
    document.querySelectorAll("#heads canvas").forEach((canvas, number) => draw(canvas, number, low, high));
  }

  const nameOf = (at, one) => data.mean ? `layer ${at + 1}, mean over heads` : `layer ${at + 1}, head ${one + 1}`;

  function show() {
    document.querySelectorAll("#heads button").forEach((button) => {
      const chosen = Number(button.dataset.layer) === layer && Number(button.dataset.head) === head;
      button.setAttribute("aria-pressed", chosen);
      button.tabIndex = chosen ? 0 : -1;
    });
    by("chosen").textContent = nameOf(layer, head);
    const row = data.tokens.map((_, column) => weight(token, column));
    [...by("tokens").children].forEach((button, column) => {
      const level = Math.round(LEVELS * Math.sqrt(row[column]));
      button.className = level ? `for${level}` : "";
      button.setAttribute("aria-pressed", column === token);
      button.tabIndex = column === token ? 0 : -1;
    });
    const best = row.map((value, column) => [value, column]).sort((a, b) => b[0] - a[0]).slice(0, NAMED);
    by("reads").textContent = `“${data.tokens[token]}” attends to ${best.map(([value, column]) => `“${data.tokens[column]}” ${(100 * value).toFixed(0)} %`).join(", ")}.`;
  }

  function moveHead(down, right) {
    layer = Math.min(Math.max(layer + down, 0), data.heads.length - 1);
    head = Math.min(Math.max(head + right, 0), data.heads[layer] - 1);
    show();
    document.querySelector('#heads [aria-pressed="true"]').focus();
  }

  function moveToken(step) {
    token = Math.min(Math.max(token + step, 0), count - 1);
    show();
    by("tokens").children[token].focus();
  }

  const KEYS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  by("heads").append(...data.heads.map((heads, at) => make("div", { className: "layer" }, make("span", {}, `layer ${at + 1}`),
    ...Array.from({ length: heads }, (_, one) => {
      const button = make("button", { type: "button", title: nameOf(at, one), ariaLabel: nameOf(at, one) }, make("canvas"));
      Object.assign(button.dataset, { layer: at, head: one });
      button.addEventListener("click", () => { layer = at; head = one; show(); });
      return button;
    }))));
  by("tokens").append(...data.tokens.map((text, at) => {
    const button = make("button", { type: "button" }, text);
    for (const event of ["click", "pointerenter", "focus"]) button.addEventListener(event, () => { if (token !== at) { token = at; show(); } });
    return button;
  }));
  by("heads").addEventListener("keydown", (event) => {
    if (!(event.key in KEYS)) return;
    event.preventDefault();
    moveHead(...KEYS[event.key]);
  });
  by("tokens").addEventListener("keydown", (event) => {
    if (!(event.key in KEYS)) return;
    event.preventDefault();
    moveToken(KEYS[event.key][0] + KEYS[event.key][1]);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  drawAll();
  show();
})();
