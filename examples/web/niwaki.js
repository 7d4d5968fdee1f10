// Packed models (docs/packed_models.md) in a browser or in node: kernels in WebAssembly, no network, no dependencies.
//
//   const model = await Niwaki.open(kernels, file);   // two ArrayBuffers: niwaki.wasm, and what `niwaki pack --processor wasm` wrote
//   model.predict("a film to see twice");             // { label, probabilities: { negative: …, positive: … }, logits }
"use strict";

class Niwaki {
  static async open(kernels, file) {
    const module = await WebAssembly.compile(kernels);
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) (imports[from] ??= {})[name] = () => 0; // the system is never asked
    const { exports } = await WebAssembly.instantiate(module, imports);
    if (exports._initialize) exports._initialize();
    return new Niwaki(exports, file);
  }

  constructor(exports, file) {
    this.c = exports;
    const start = Math.ceil(this.c.malloc(file.byteLength + 64) / 64) * 64;
    new Uint8Array(this.c.memory.buffer).set(new Uint8Array(file), start);
    this.model = this.c.niwaki_open_bytes(start, file.byteLength);
    if (!this.model) throw new Error(this.text(this.c.niwaki_error()));
    this.outputs = this.c.niwaki_outputs(this.model);
    this.maxTokens = this.c.niwaki_max_tokens(this.model);
    this.kernels = this.text(this.c.niwaki_kernels_of(this.model));
    this.labels = Array.from({ length: this.outputs }, (_, n) => this.text(this.c.niwaki_label(this.model, n)));
  }

  // Memory may have grown and moved since the last call: views are made anew.
  text(at) {
    const bytes = new Uint8Array(this.c.memory.buffer);
    return new TextDecoder().decode(bytes.slice(at, bytes.indexOf(0, at)));
  }

  tokenize(text) {
    const bytes = new TextEncoder().encode(text.replaceAll("\0", " "));
    const given = this.c.malloc(bytes.length + 1), ids = this.c.malloc(8 * this.maxTokens), types = ids + 4 * this.maxTokens;
    new Uint8Array(this.c.memory.buffer).set([...bytes, 0], given);
    const count = this.c.niwaki_tokenize(this.model, given, ids, types, this.maxTokens);
    const found = [ids, types].map((at) => [...new Int32Array(this.c.memory.buffer, at, Math.max(count, 0))]);
    this.c.free(given);
    this.c.free(ids);
    if (count < 0) throw new Error(this.text(this.c.niwaki_error()));
    return { ids: found[0], types: found[1] };
  }

  // The outputs of one text, or those of its tokens one behind the other.
  logits({ ids, types }) {
    const rows = this.c.niwaki_per_token(this.model) ? ids.length : 1, count = rows * this.outputs;
    const given = this.c.malloc(4 * (2 * ids.length + 1 + count)), found = given + 4 * (2 * ids.length + 1);
    new Int32Array(this.c.memory.buffer).set([...ids, ...types, ids.length], given / 4);
    const failed = this.c.niwaki_predict(this.model, given, given + 4 * ids.length, given + 8 * ids.length, 1, 1, found);
    const logits = [...new Float32Array(this.c.memory.buffer, found, count)];
    this.c.free(given);
    if (failed) throw new Error(this.text(this.c.niwaki_error()));
    return logits;
  }

  predict(text) {
    const logits = this.logits(this.tokenize(text));
    const meaning = this.c.niwaki_answer(this.model); // as in niwaki.h: numbers, one label, several labels
    if (meaning === 0 || this.c.niwaki_per_token(this.model)) return { logits };
    const most = Math.max(...logits), powers = logits.map((one) => Math.exp(one - most)), sum = powers.reduce((a, b) => a + b);
    const shares = meaning === 1 ? powers.map((one) => one / sum) : logits.map((one) => 1 / (1 + Math.exp(-one)));
    const probabilities = Object.fromEntries(this.labels.map((label, n) => [label, shares[n]]));
    return { label: this.labels[shares.indexOf(Math.max(...shares))], probabilities, logits };
  }
}

if (typeof module !== "undefined") module.exports = { Niwaki };
