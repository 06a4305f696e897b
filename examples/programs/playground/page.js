"use strict";
/* Passes on to the library (playground.h) what the reader chooses, and has draw.js draw what it answers. */

const MAP = 48, TRAINING_MS = 6, DATA = 0, ACTIVATIONS = 1, OPTIMIZERS = 2, PENALTIES = 3;
const CHOICES = ["activation", "depth", "width", "optimizer", "rate", "batch", "penalty", "strength"];
const $ = (id) => document.getElementById(id);
const letters = ["A", "B"];
let lib, page;                  // the library's exports; the playground
let lists;                      // names of data sets, activations, optimisers, penalties
let running = true;
const settings = { data: "spirals", points: 300, noise: 0, test: 25, seed: 1, nets: [] };
const views = [];               // one for each net
const frames = [];              // milliseconds of work in the last frames

/* ---- the library ---- */

function bytesOfPage() {
  const text = atob($("wasm").textContent.trim());
  return Uint8Array.from(text, (c) => c.charCodeAt(0));
}

/* The library asks its surroundings for a clock and an environment: it gets none. Readers of files are not in the page. */
async function start() {
  const module = await WebAssembly.compile(bytesOfPage()), imports = {};
  for (const { module: room, name } of WebAssembly.Module.imports(module))
    (imports[room] ??= {})[name] = () => 0;
  let second = 0; // result of a helper of setjmp, which the gradient checker uses
  Object.assign(imports.env, { setTempRet0: (value) => void (second = value), getTempRet0: () => second });
  lib = (await WebAssembly.instantiate(module, imports)).exports;
  lib._initialize?.();
  page = lib.playground_new();
}

function text(pointer) {
  if (!pointer) return null;
  const bytes = new Uint8Array(lib.memory.buffer, pointer);
  return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
}
const floats = (pointer, count) => new Float32Array(lib.memory.buffer, pointer, pointer ? count : 0);
const doubles = (pointer, count) => new Float64Array(lib.memory.buffer, pointer, pointer ? count : 0);

function listOf(list) {
  const names = [];
  for (let name; (name = text(lib.playground_name(list, names.length))) !== null;) names.push(name);
  return names;
}

/* ---- settings, and the link that carries them ---- */

function hash() {
  const net = (n) => CHOICES.map((key) => n[key]).join();
  let link = `data=${settings.data}&points=${settings.points}&noise=${settings.noise}&test=${settings.test}&seed=${settings.seed}&a=${net(settings.nets[0])}&b=${net(settings.nets[1])}`;
  if (settings.data === "own") {
    const points = floats(lib.playground_points(page), 2 * count()), labels = floats(lib.playground_targets(page), count());
    link += "&own=" + Array.from(labels, (l, i) => `${points[2 * i].toFixed(2)},${points[2 * i + 1].toFixed(2)},${l}`).join(";");
  }
  return "#" + link;
}

const within = (value, low, high, otherwise) =>
  Number.isFinite(+value) && value !== "" ? Math.min(high, Math.max(low, +value)) : otherwise;
const whole = (value, low, high, otherwise) => Math.round(within(value, low, high, otherwise));

/* Takes over what a link says, as far as it makes sense; the rest is the default. */
function readHash() {
  const said = new URLSearchParams(location.hash.slice(1));
  settings.data = [...lists[DATA], "own"].includes(said.get("data")) ? said.get("data") : lists[DATA][0];
  settings.points = whole(said.get("points") ?? "", 2, 2000, 300);
  settings.noise = within(said.get("noise") ?? "", 0, 1, usualNoise());
  settings.test = whole(said.get("test") ?? "", 0, 90, 25);
  settings.seed = whole(said.get("seed") ?? "", 0, 999999, 1);
  settings.nets = ["a", "b"].map((key, i) => {
    const [activation, depth, width, optimizer, rate, batch, penalty, strength] = (said.get(key) ?? "").split(",");
    const known = lists[OPTIMIZERS].includes(optimizer) ? optimizer : lists[OPTIMIZERS][0];
    return {
      activation: lists[ACTIVATIONS].includes(activation) ? activation : ["gelu_exact", "relu"][i],
      depth: whole(depth ?? "", 0, 6, 2), width: whole(width ?? "", 1, 32, 16), optimizer: known,
      rate: within(rate ?? "", 1e-6, 10, lib.playground_rate(lists[OPTIMIZERS].indexOf(known))),
      batch: whole(batch ?? "", 0, 2000, 0), penalty: lists[PENALTIES].includes(penalty) ? penalty : lists[PENALTIES][0],
      strength: within(strength ?? "", 0, 10, 0.001),
    };
  });
  return settings.data === "own" ? (said.get("own") ?? "").split(";").filter(Boolean).map((p) => p.split(",").map(Number)) : null;
}

function showSettings() {
  for (const key of ["data", "points", "noise", "test", "seed"]) $(key).value = settings[key];
  $("points").disabled = $("noise").disabled = settings.data === "own";
  $("measure").textContent = regresses() ? "Mean squared error" : "Mean cross entropy in nats";
  if (settings.data === "own") $("points").value = count();
  views.forEach((view, i) => {
    for (const key of CHOICES) view.at(key).value = settings.nets[i][key];
    view.at("strength").disabled = settings.nets[i].penalty === lists[PENALTIES][0];
    view.showMeaning();
    const gated = text(lib.playground_formula(view.activation()));
    view.root.querySelector(".formula").textContent =
      `f(x) of ${settings.nets[i].activation}: ${gated}. Solid: f. Dashed: f′. Dotted: f″.` + (gated.includes("gate") ? " Drawn: what is applied to the gate." : "");
  });
}

const remember = () => history.replaceState(null, "", hash());
const count = () => lib.playground_count(page), reach = () => lib.playground_reach(page);
const regresses = () => !!lib.playground_regresses(page);
const usualNoise = () => settings.data === "own" ? 0 : +lib.playground_noise(lists[DATA].indexOf(settings.data)).toPrecision(6);

function say(message, isError) {
  $("message").textContent = message;
  $("message").className = isError ? "error" : "";
}

/* ---- data and nets ---- */

function makeData(own) {
  lib.playground_hold_out(page, settings.test);
  if (settings.data !== "own")
    return lib.playground_draw(page, lists[DATA].indexOf(settings.data), settings.points, settings.noise, settings.seed);
  if (own) {
    lib.playground_clear(page);
    for (const [x, y, label] of own) lib.playground_add(page, x, y, label);
  }
}

function makeNet(i) {
  const n = settings.nets[i], view = views[i];
  view.steps = 0;
  view.losses = [];
  view.tests = [];              // the step and the test loss, each time it is drawn
  view.stopped = !lib.playground_net(page, i, lists[ACTIVATIONS].indexOf(n.activation), n.depth, n.width,
    lists[OPTIMIZERS].indexOf(n.optimizer), n.rate, settings.seed) ||
    !lib.playground_way(page, i, n.batch, lists[PENALTIES].indexOf(n.penalty), n.strength);
  if (view.stopped) say(`Net ${letters[i]}: ${text(lib.playground_error(page))}`, true);
  view.curve = null;
  view.setSizes();
}

function restart(own) {
  say("");
  makeData(own);
  for (const i of [0, 1]) makeNet(i);
  showSettings();
  remember();
  drawAll();
  recordTape();
}

/* Each net by as many steps as the other. */
function train(steps) {
  if (!count()) return;
  for (const [i, view] of views.entries()) {
    if (view.stopped) continue;
    for (let k = 0; k < steps; k++) {
      const loss = lib.playground_train(page, i, 1);
      if (!Number.isFinite(loss)) {
        view.stopped = true;
        say(`Net ${letters[i]} has stopped: ${text(lib.playground_error(page)) ?? "the loss is no finite number"}. Try a smaller learning rate, then Restart.`, true);
        break;
      }
      view.steps++;
      view.losses.push(loss);
    }
  }
}

/* Everything, or of what is costly one part in turn; what is compared is drawn of both nets at once, after equal steps. */
function drawAll(turn) {
  views.forEach((view, i) => {
    if (view.stopped && !view.steps) return;
    if (turn === undefined || turn % 2 === 0) {
      view.drawMaps(turn === undefined || turn % 8 === 0);
      view.showFigures();
    }
    if (turn === undefined || turn % 8 === 5 + 2 * i) view.drawCurve();
  });
  if (turn === undefined || turn % 4 === 1) drawLosses();
}

let turn = 0;
function frame() {
  const begin = performance.now();
  if (running && count()) {
    do train(1); while (performance.now() - begin < TRAINING_MS && !views.every((v) => v.stopped));
    drawAll(turn++);
    frames.push(performance.now() - begin);
    if (frames.length > 240) frames.shift();
    if (turn % 30 === 0) {
      const sorted = frames.slice().sort((a, b) => a - b);
      $("frame").textContent = `A frame takes ${sorted[sorted.length >> 1].toFixed(1)} ms, of which about ${TRAINING_MS} are training.`;
    }
  }
  requestAnimationFrame(frame);
}

/* ---- the tape ---- */

/* The graph as the library describes it: lines of Graphviz. */
function parseGraph(dot) {
  const nodes = [];
  let backward = false;
  for (const row of dot.split("\n")) {
    const node = row.match(/^ *v(\d+) \[label="((?:[^"\\]|\\.)*)"/), edge = row.match(/^ *v(\d+) -> v(\d+);/);
    backward ||= row.includes("subgraph cluster_");
    if (node) nodes[+node[1]] = { words: node[2].split("\\n").filter(Boolean), backward, inputs: [], outputs: [] };
    if (edge) { nodes[+edge[2]].inputs.push(+edge[1]); nodes[+edge[1]].outputs.push(+edge[2]); }
  }
  return nodes;
}

let tape = [], shown = -1;
function recordTape() {
  const net = +$("tape-net").value, dot = count() ? text(lib.playground_tape(page, net)) : null;
  tape = dot ? parseGraph(dot) : [];
  shown = -1;
  $("tape").querySelector("ol").replaceChildren(...tape.map((node, i) => {
    const row = document.createElement("li");
    row.textContent = `${String(i).padStart(3)}  ${node.words.join("  ")}`;
    row.title = node.backward ? "backward pass" : "forward pass";
    row.tabIndex = i ? -1 : 0;
    row.classList.toggle("backward", node.backward);
    row.addEventListener("mouseenter", () => showTensor(i));
    row.addEventListener("focus", () => showTensor(i));
    return row;
  }));
  const passes = tape.filter((node) => node.backward).length;
  $("tensor").textContent = tape.length ? `${tape.length - passes} tensors of the forward pass, ${passes} of the backward pass.` : "There are no points yet.";
  drawArcs();
}

function showTensor(i) {
  if (shown === i) return;
  shown = i;
  const rows = [...$("tape").querySelectorAll("li")], [value, gradient] = [0, 4].map((k) => doubles(lib.playground_tensor(page, i), 8).slice(k, k + 4));
  rows.forEach((row, k) => {
    row.classList.toggle("shown", k === i);
    row.classList.toggle("input", tape[i].inputs.includes(k));
    row.classList.toggle("output", tape[i].outputs.includes(k));
    row.tabIndex = k === i ? 0 : -1;
  });
  const range = ([n, low, mean, high]) => n === 1 ? number(mean) : `${n} elements from ${number(low)} to ${number(high)}, mean ${number(mean)}`;
  $("tensor").textContent = `Tensor ${i}, ${tape[i].words.join(", ")}: ` +
    (value[0] ? `${range(value)}.` : "its memory was used again later in the backward pass.") +
    (gradient[0] ? ` Gradient of the loss by it, in nats per unit: ${range(gradient)}.` : "") +
    ` Inputs: ${tape[i].inputs.join(", ") || "none"}. Used by: ${tape[i].outputs.join(", ") || "none"}.`;
  drawArcs();
}

/* ---- the gradient check ---- */

let check = null;
function checkGradient() {
  if (!count()) return;
  const net = +$("check-net").value, steps = 48;
  check = doubles(lib.playground_differences(page, net, steps), 3 * steps).slice();
  $("verdict").textContent = `Net ${letters[net]}, all parameters, in double: ${text(lib.playground_gradcheck(page, net))}`;
  drawDifferences();
}

/* ---- what the reader does ---- */

function addPoint(x, y, other) {
  const label = +document.querySelector("input[name=label]:checked").value;
  if (regresses()) { // own points have classes
    settings.data = "own";
    lib.playground_clear(page);
    restart();
  }
  if (!lib.playground_add(page, x, y, other ? 1 - label : label)) return say(text(lib.playground_error(page)), true);
  settings.data = "own";
  showSettings();
  remember();
  drawAll();
  recordTape();
}

function listen() {
  const read = { data: String, points: (v) => whole(v, 2, 2000, 300), noise: (v) => within(v, 0, 1, usualNoise()),
                 test: (v) => whole(v, 0, 90, 25), seed: (v) => whole(v, 0, 999999, 1) };
  for (const key of Object.keys(read))
    $(key).addEventListener("change", () => {
      settings[key] = read[key]($(key).value);
      if (key === "data") settings.noise = usualNoise();
      restart();
    });
  for (const [i, view] of views.entries()) {
    for (const key of CHOICES)
      view.at(key).addEventListener("change", (event) => {
        const n = settings.nets[i], value = event.target.value;
        n[key] = { depth: () => whole(value, 0, 6, 2), width: () => whole(value, 1, 32, 16), rate: () => within(value, 1e-6, 10, 0.01),
                   batch: () => whole(value, 0, 2000, 0), strength: () => within(value, 0, 10, 0.001) }[key]?.() ?? value;
        if (key === "optimizer") n.rate = lib.playground_rate(lists[OPTIMIZERS].indexOf(value));
        restart();
      });
    const canvas = view.canvas("boundary");
    canvas.addEventListener("click", (event) => {
      const box = canvas.getBoundingClientRect();
      addPoint(((event.clientX - box.left) / box.width * 2 - 1) * reach(), (1 - (event.clientY - box.top) / box.height * 2) * reach(), event.shiftKey);
    });
    canvas.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
      view.cursor ??= [0, 0];
      if (move) view.cursor = view.cursor.map((v, k) => Math.max(-reach(), Math.min(reach(), v + move[k])));
      else if (event.key === "Enter" || event.key === " ") addPoint(...view.cursor, event.shiftKey);
      else return;
      event.preventDefault();
      view.drawMaps(false);
    });
    canvas.addEventListener("focus", () => { view.cursor ??= [0, 0]; });
  }
  $("run").addEventListener("click", () => { running = !running; $("run").textContent = running ? "Pause" : "Run"; });
  $("step").addEventListener("click", () => { running = false; $("run").textContent = "Run"; train(1); drawAll(); recordTape(); });
  $("restart").addEventListener("click", () => restart());
  $("clear").addEventListener("click", () => { settings.data = "own"; lib.playground_clear(page); restart(); });
  $("link").addEventListener("click", () => {
    remember();
    Promise.resolve(navigator.clipboard?.writeText(location.href) ?? Promise.reject())
      .then(() => say("The link is copied. It carries all settings."), () => say("The address of this page carries all settings: copy it from the address bar."));
  });
  $("tape-record").addEventListener("click", recordTape);
  $("tape-net").addEventListener("change", recordTape);
  $("check").addEventListener("click", checkGradient);
  $("tape").addEventListener("keydown", (event) => {
    const to = { ArrowUp: shown - 1, ArrowDown: shown + 1, Home: 0, End: tape.length - 1 }[event.key];
    if (to === undefined || !tape[to]) return;
    event.preventDefault();
    $("tape").querySelectorAll("li")[to].focus();
  });
  window.addEventListener("hashchange", () => { if (location.hash !== hash()) restart(readHash()); });
  const redraw = () => { readPalette(); drawAll(); drawArcs(); drawDifferences(); };
  window.addEventListener("resize", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

start().then(() => {
  lists = [DATA, ACTIVATIONS, OPTIMIZERS, PENALTIES].map(listOf);
  $("data").append(...lists[DATA].map((name) => new Option(name)), new Option("own points", "own"));
  views.push(new View(0), new View(1));
  const own = readHash();
  if (new URLSearchParams(location.hash.slice(1)).get("run") === "no") { running = false; $("run").textContent = "Run"; }
  readPalette();
  listen();
  restart(own);
  drawDifferences();
  frame();
}).catch((error) => say(`The page cannot start: ${error.message}`, true));
