// The map's nodes, unpacked from base64 into flat arrays.

function unpack(text, wide) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return wide ? new Uint16Array(bytes.buffer) : bytes;
}

function readPoints(packed) {
  const count = packed.shown;
  const none = packed.wide ? 65535 : 255;
  const place = unpack(packed.place, true);
  const given = unpack(packed.given, packed.wide);
  const predicted = unpack(packed.predicted, packed.wide);
  const x = new Float32Array(count);
  const y = new Float32Array(count);
  const label = new Uint16Array(count);
  for (let i = 0; i < count; i++) {
    x[i] = place[2 * i] / 65535;
    y[i] = 1 - place[2 * i + 1] / 65535; // up is up
    label[i] = given[i] === none ? predicted[i] : given[i];
  }
  return {
    count,
    none,
    x,
    y,
    label,
    given,
    predicted,
    truth: packed.truth && unpack(packed.truth, packed.wide),
    confidence: unpack(packed.confidence, false),
    top: unpack(packed.top, packed.wide),
    topShare: unpack(packed.topShare, false),
    tops: packed.tops,
    isGiven: (i) => given[i] !== none,
    id: (i) => (packed.ids === null ? String(i) : String(packed.ids[i])),
  };
}
