// Short synthesised sounds: no files are loaded.

// Each note: frequency in Hz, start and duration in seconds.
const NOTES = {
  move: [[330, 0, 0.06]],
  capture: [[330, 0, 0.05], [220, 0.05, 0.08]],
  check: [[660, 0, 0.08], [660, 0.12, 0.08]],
  low: [[880, 0, 0.1], [880, 0.2, 0.1]],
  end: [[392, 0, 0.12], [494, 0.12, 0.12], [587, 0.24, 0.25]],
};
const VOLUME = 0.15;
let context = null;

/** Play a sound. Browsers allow sounds only after the visitor has used the page. */
export function play(kind) {
  if (!navigator.userActivation?.hasBeenActive || !window.AudioContext) return;
  context ??= new AudioContext();
  for (const [frequency, start, duration] of NOTES[kind]) {
    const from = context.currentTime + start;
    const tone = new OscillatorNode(context, { type: "triangle", frequency });
    const volume = new GainNode(context, { gain: 0 });
    volume.gain.setValueAtTime(VOLUME, from);
    volume.gain.exponentialRampToValueAtTime(0.001, from + duration); // without a click at the end
    tone.connect(volume).connect(context.destination);
    tone.start(from);
    tone.stop(from + duration);
  }
}

/** Return the sound of the last move, or "" if nothing was played since the state before. */
export function soundOf(before, state) {
  if (state.result && !before.result) return "end";
  if (state.ply <= before.ply) return "";
  const { board } = state;
  if (board.check) return "check";
  const captured = (view) => view.prisoners ? view.prisoners[0] + view.prisoners[1]
    : view.text.filter((move) => move.includes("x")).length;
  return captured(board) > captured(before.board) ? "capture" : "move";
}
