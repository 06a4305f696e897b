"use strict";
/* Draws what the library computes: what a canvas shows, from numbers that page.js fetches or the playground gives. */

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
let palette = {};
function readPalette() {
  for (const name of ["paper", "ink", "soft", "line", "panel", "blue", "orange", "a", "b"]) palette[name] = colour("--" + name);
  palette.rgb = Object.fromEntries(["paper", "blue", "orange"].map((n) => [n, [1, 3, 5].map((k) => parseInt(palette[n].slice(k, k + 2), 16))]));
}

/* A canvas in its size on the screen, in CSS pixels. */
function sheet(canvas) {
  const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const g = canvas.getContext("2d");
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = "12px system-ui, 'DejaVu Sans', sans-serif";
  return { g, width, height };
}

/* Axes with a few marks; returns functions from values to pixels. x and y: {low, high, marks: [[value, label], ...], name}. */
function axes({ g, width, height }, x, y) {
  const left = 52, right = width - 10, top = 22, bottom = height - 34;
  const toX = (v) => left + ((v - x.low) / (x.high - x.low)) * (right - left);
  const toY = (v) => bottom - ((v - y.low) / (y.high - y.low)) * (bottom - top);
  g.strokeStyle = palette.line;
  g.fillStyle = palette.soft;
  g.lineWidth = 1;
  g.beginPath();
  g.textAlign = "center";
  for (const [v, label] of x.marks) { g.moveTo(toX(v), top); g.lineTo(toX(v), bottom); g.fillText(label, toX(v), bottom + 14); }
  g.fillText(x.name, (left + right) / 2, height - 5);
  g.textAlign = "right";
  for (const [v, label] of y.marks) { g.moveTo(left, toY(v)); g.lineTo(right, toY(v)); g.fillText(label, left - 5, toY(v) + 4); }
  g.textAlign = "left";
  g.fillText(y.name, 4, 12);
  g.stroke();
  return { toX, toY, left, right, top, bottom };
}

function line(g, points, style, dash = [], width = 1.7) {
  g.strokeStyle = style;
  g.setLineDash(dash);
  g.lineWidth = width;
  g.beginPath();
  let pen = false;
  for (const [x, y] of points) {
    if (!Number.isFinite(y)) { pen = false; continue; }
    pen ? g.lineTo(x, y) : g.moveTo(x, y);
    pen = true;
  }
  g.stroke();
  g.setLineDash([]);
}

/* Marks at 1, 2, 5 times a power of ten. */
function marks(low, high, most) {
  const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((k) => k * power >= raw) * power, list = [];
  for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * step; v += step) list.push([v, String(+v.toPrecision(6))]);
  return list;
}
const powers = (low, high, step) => {
  const list = [], raised = (k) => String(k).replace("-", "⁻").replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]);
  for (let k = Math.ceil(low / step) * step; k <= high; k += step) list.push([k, "10" + raised(k)]);
  return list;
};

const number = (v) => !Number.isFinite(v) ? "–" : v === 0 ? "0" : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(2) : String(+v.toPrecision(4));

/* A picture of maps beside each other, which canvases enlarge: shade(k) is the colour, 0xBBGGRR, of number k. The first row of a
 * map is the lowest. */
function picture(maps, shade) {
  const canvas = new OffscreenCanvas(maps * MAP, MAP), g = canvas.getContext("2d"), image = g.createImageData(maps * MAP, MAP);
  const pixels = new Uint32Array(image.data.buffer);
  for (let map = 0, k = 0; map < maps; map++)
    for (let row = MAP - 1; row >= 0; row--)
      for (let at = (row * maps + map) * MAP, column = 0; column < MAP; column++) pixels[at++] = 0xff000000 | shade(k++);
  g.putImageData(image, 0, 0);
  return canvas;
}

const mix = (a, b, part) => a.map((v, k) => v + (b[k] - v) * part);

class View {
  constructor(i) {
    this.i = i;
    this.root = $("net").content.firstElementChild.cloneNode(true);
    this.root.querySelector("h2").textContent = `Net ${letters[i]}`;
    $("nets").append(this.root);
    this.at = (name) => this.root.querySelector(`[data-name=${name}]`);
    this.canvas = (name) => this.root.querySelector("canvas." + name);
    this.cursor = null;
    for (const [key, list] of [["activation", ACTIVATIONS], ["optimizer", OPTIMIZERS], ["penalty", PENALTIES]])
      this.at(key).append(...lists[list].map((name) => new Option(name)));
  }
  activation() { return lists[ACTIVATIONS].indexOf(settings.nets[this.i].activation); }

  setSizes() {
    this.widths = [];
    for (let w; (w = lib.playground_width(page, this.i, this.widths.length)) > 0;) this.widths.push(w);
    this.units = this.widths.reduce((a, b) => a + b, 0);
    this.canvas("units").style.height = Math.max(1, this.widths.length) * 34 + "px";
  }

  /* What the map and the score are: of classes, or of numbers. */
  showMeaning() {
    const words = regresses() ? ["Prediction", "−1", "0", "R²"] : ["Probability of class 1", "0", "1/2", "accuracy"];
    [".what", ".low", ".middle"].forEach((name, k) => { this.root.querySelector(name).textContent = words[k]; });
    this.root.querySelectorAll(".score").forEach((name, k) => { name.textContent = (k ? "test " : "") + words[3]; });
  }

  drawMaps(withUnits) {
    const map = floats(lib.playground_map(page, this.i, MAP), (1 + this.units) * MAP * MAP);
    if (map.length) {
      this.drawBoundary(regresses() ? map.subarray(0, MAP * MAP).map((v) => Math.min(1, Math.max(0, (v + 1) / 2))) : map);
      if (withUnits && this.units) this.drawUnits(map);
    }
  }

  drawBoundary(map) {
    const { g, width, height } = sheet(this.canvas("boundary")), { paper, blue, orange } = palette.rgb;
    const shades = Array.from({ length: 101 }, (_, k) => {
      const [r, green, b] = mix(paper, k < 50 ? blue : orange, Math.abs(k - 50) / 50 * 0.65);
      return r | green << 8 | b << 16;
    });
    const p = picture(1, (k) => shades[Math.round(100 * map[k])] ?? 0x808080);
    g.imageSmoothingEnabled = true;
    g.drawImage(p, 0, 0, width, height);
    this.drawContour(g, map, width / MAP);
    const points = floats(lib.playground_points(page), 2 * count()), targets = floats(lib.playground_targets(page), count());
    const side = reach(), toX = (v) => (v / side + 1) / 2 * width, toY = (v) => (1 - (v / side + 1) / 2) * height;
    const shade = (v) => `rgb(${mix(paper, v < 0 ? blue : orange, Math.min(1, Math.abs(v))).join()})`;
    for (let k = 0; k < targets.length; k++) {
      const x = toX(points[2 * k]), y = toY(points[2 * k + 1]), test = lib.playground_is_test(page, k);
      const own = regresses() ? shade(targets[k]) : targets[k] ? palette.orange : palette.blue;
      g.fillStyle = test ? palette.paper : own;
      g.strokeStyle = test ? own : palette.ink;
      g.lineWidth = test ? 1.8 : 1;
      g.beginPath();
      targets[k] === 1 && !regresses() ? g.rect(x - 2.6, y - 2.6, 5.2, 5.2) : g.arc(x, y, 3, 0, 7);
      g.fill();
      g.stroke();
    }
    if (this.cursor && document.activeElement === this.canvas("boundary")) {
      const x = toX(this.cursor[0]), y = toY(this.cursor[1]);
      line(g, [[x - 12, y], [x + 12, y], [x, NaN], [x, y - 12], [x, y + 12]], palette.ink);
    }
  }

  /* Where the probability is 1/2: a piece of line in each square of four middles, by linear interpolation. */
  drawContour(g, map, side) {
    const lines = [], at = (c, r) => map[r * MAP + c] - 0.5;
    const middle = (c, r) => [(c + 0.5) * side, (MAP - r - 0.5) * side];
    for (let r = 0; r + 1 < MAP; r++)
      for (let c = 0; c + 1 < MAP; c++) {
        const corners = [[c, r], [c + 1, r], [c + 1, r + 1], [c, r + 1]], hits = [];
        corners.forEach(([c1, r1], k) => {
          const [c2, r2] = corners[(k + 1) % 4], u = at(c1, r1), v = at(c2, r2);
          if (u < 0 !== v < 0) hits.push(mix(middle(c1, r1), middle(c2, r2), u / (u - v)));
        });
        for (let k = 0; k + 1 < hits.length; k += 2) lines.push(hits[k], hits[k + 1], [0, NaN]);
      }
    line(g, lines, palette.ink);
  }

  drawUnits(map) {
    const { g, width } = sheet(this.canvas("units"));
    const area = MAP * MAP, low = [], over = [];
    for (let u = 0; u < this.units; u++) {
      let least = Infinity, most = -Infinity;
      for (let k = (1 + u) * area; k < (2 + u) * area; k++) { least = Math.min(least, map[k]); most = Math.max(most, map[k]); }
      low.push(least);
      over.push(most > least ? 215 / (most - least) : 0);
    }
    const all = picture(this.units, (k) => { const u = Math.floor(k / area); return Math.round(25 + (map[area + k] - low[u]) * over[u]) * 0x010101; });
    let u = 0;
    this.widths.forEach((units, layer) => {
      const side = Math.min(30, width / units - 2);
      for (let k = 0; k < units; k++) g.drawImage(all, u++ * MAP, 0, MAP, MAP, k * (side + 2), layer * 34 + 1, side, side);
    });
    this.canvas("units").setAttribute("aria-label", `Maps of the outputs of ${this.units} hidden units in ${this.widths.length} layers`);
  }

  drawCurve() {
    const canvas = this.canvas("curve"), s = sheet(canvas), low = -6, high = 6, points = 241, bins = 60;
    const range = { low: -1.5, high: 3 };
    const { toX, toY, bottom, top } = axes(s, { low, high, marks: marks(low, high, 6), name: "x, the unit's input" },
      { ...range, marks: marks(range.low, range.high, 5), name: "f, f′, f″" });
    if (this.units && count()) {
      const parts = doubles(lib.playground_histogram(page, this.i, low, high, bins), bins), most = Math.max(...parts, 1e-9);
      s.g.fillStyle = palette.blue;
      s.g.globalAlpha = 0.35;
      parts.forEach((part, k) => {
        const h = part / most * (bottom - top) * 0.9;
        s.g.fillRect(toX(low + k * (high - low) / bins), bottom - h, toX(low + (high - low) / bins) - toX(low) - 1, h);
      });
      s.g.globalAlpha = 1;
      s.g.fillStyle = palette.soft;
      s.g.textAlign = "right";
      s.g.fillText(`tallest bar: ${(100 * most).toFixed(1)} % of all inputs`, s.width - 12, 12);
    }
    this.curve ??= doubles(lib.playground_curve(page, this.activation(), low, high, points), 3 * points).slice();
    s.g.save();
    s.g.beginPath();
    s.g.rect(toX(low), top, toX(high) - toX(low), bottom - top);
    s.g.clip();
    [[], [6, 4], [1.5, 3]].forEach((dash, order) =>
      line(s.g, Array.from({ length: points }, (_, k) => [toX(low + k * (high - low) / (points - 1)), toY(this.curve[order * points + k])]), palette.ink, dash));
    s.g.restore();
    canvas.setAttribute("aria-label", `The activation ${settings.nets[this.i].activation}, its derivatives and a histogram of its inputs`);
  }

  showFigures() {
    const dead = lib.playground_dead(page, this.i), test = lib.playground_loss(page, this.i, true);
    const [accuracy, tested] = [false, true].map((of) => lib.playground_accuracy(page, this.i, of));
    const share = (v) => !Number.isFinite(v) ? "–" : regresses() ? v.toFixed(3) : (100 * v).toFixed(1) + " %";
    if (Number.isFinite(test) && this.steps) this.tests.push([this.steps, test]);
    this.at("steps").textContent = this.steps;
    this.at("loss").textContent = this.losses.length ? this.losses.at(-1).toPrecision(4) : "–";
    this.at("test-loss").textContent = Number.isFinite(test) ? test.toPrecision(4) : "–";
    this.at("accuracy").textContent = share(accuracy);
    this.at("test-accuracy").textContent = share(tested);
    this.at("dead").textContent = count() ? `${dead} of ${this.units}` : "–";
    this.root.querySelector(".reach").textContent = `Both axes run from −${reach()} to ${reach()}.`;
    this.at("parameters").textContent = lib.playground_parameters(page, this.i);
    this.canvas("boundary").setAttribute("aria-label",
      `${regresses() ? "Predictions" : "Decision boundary"} of net ${letters[this.i]}, ${regresses() ? "R²" : "accuracy"} ${share(accuracy)}. Arrow keys move a cursor, Enter adds a point.`);
  }
}

function drawLosses() {
  const s = sheet($("losses")), steps = Math.max(10, ...views.map((v) => v.steps));
  let low = 0, high = 0;
  const thinned = (list) => {
    const every = Math.max(1, Math.floor(list.length / 600));
    const kept = list.filter((_, k) => k % every === 0).map(([x, v]) => [x, Math.log10(Math.max(v, 1e-12))]);
    for (const [, v] of kept) { low = Math.min(low, v); high = Math.max(high, v); }
    return kept;
  };
  const curves = views.map((view) => thinned(view.losses.map((v, k) => [k + 1, v]))), tests = views.map((view) => thinned(view.tests));
  low = Math.min(-1, Math.floor(low));
  const { toX, toY } = axes(s, { low: 0, high: steps, marks: marks(0, steps, s.width < 500 ? 4 : 8), name: "steps" },
    { low, high: high + 0.1, marks: powers(low, high, Math.ceil((high - low) / 6)), name: regresses() ? "squared error" : "loss, nats" });
  for (const [lists, width] of [[tests, 0.8], [curves, 1.7]])
    lists.forEach((list, i) => line(s.g, list.map(([x, y]) => [toX(x), toY(y)]), i ? palette.b : palette.a, i ? [7, 4] : [], width));
  $("losses").setAttribute("aria-label", "Loss over steps: " + views.map((v, i) => `net ${letters[i]} ${number(v.losses.at(-1) ?? NaN)}`).join(", "));
}

function drawArcs() {
  const canvas = $("tape").querySelector("canvas");
  canvas.style.height = tape.length * 22 + "px";
  const { g, width } = sheet(canvas), y = (i) => 22 * i + 11;
  tape.forEach((node, to) => node.inputs.forEach((from) => {
    const on = shown === to || shown === from, wide = Math.min(width - 8, 6 + 9 * Math.sqrt(to - from));
    g.strokeStyle = on ? (shown === to ? palette.blue : palette.orange) : palette.line;
    g.lineWidth = on ? 2.2 : 1;
    g.beginPath();
    g.moveTo(width - 3, y(from));
    g.bezierCurveTo(width - wide * 1.25, y(from), width - wide * 1.25, y(to), width - 3, y(to));
    g.stroke();
  }));
  g.fillStyle = palette.ink;
  tape.forEach((_, i) => { g.beginPath(); g.arc(width - 4, y(i), 2.5, 0, 7); g.fill(); });
}

function drawDifferences() {
  const s = sheet($("differences")), steps = check ? check.length / 3 : 0, low = -14.5, high = 0, least = -13, most = 2;
  const { toX, toY } = axes(s, { low, high, marks: powers(low, high, s.width < 500 ? 4 : 2), name: "step h" },
    { low: least, high: most, marks: powers(least, most, 3), name: "relative error" });
  const fit = (v) => Math.min(most, Math.max(least, Math.log10(v)));
  [[], [7, 4]].forEach((dash, k) => {
    const curve = Array.from({ length: steps }, (_, i) => [toX(Math.log10(check[i])), toY(fit(check[(k + 1) * steps + i]))]);
    line(s.g, curve, k ? palette.b : palette.a, dash);
  });
  const best = (k) => number(Math.min(...check.slice(k * steps, (k + 1) * steps)));
  $("differences").setAttribute("aria-label", check ? `Smallest relative error: ${best(1)} in double, ${best(2)} in float` : "Empty until the gradient is checked");
}
