// Analysed games, and puzzles made of their mistakes, kept in this browser to outlive the page.

const KEPT = 50;
const KEPT_PUZZLES = 1000;

function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

const connections = {}; // by object store

/** Open a database with one object store: a new version of another store would wait for other tabs. */
async function connect(database, store) {
  const request = indexedDB.open(database, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(store, { keyPath: "id" }).createIndex("changed", "changed");
  };
  const opened = await done(request);
  opened.onclose = () => delete connections[store]; // the visitor has cleared the data
  return opened;
}

/** Return an object store for a transaction, or connect to it without a mode. */
async function open(database, store, mode) {
  connections[store] ??= connect(database, store);
  return mode && (await connections[store]).transaction(store, mode).objectStore(store);
}

const studies = (mode) => open("kempelen", "studies", mode);
const puzzles = (mode) => open("kempelen-puzzles", "puzzles", mode);

// What is saved just before the visitor leaves the page must not wait for a connection.
for (const all of [studies, puzzles]) all();

/** Save an entry under its id. The oldest entries are deleted. */
async function put(all, entry, kept) {
  await done(all.put({ ...entry, changed: Date.now() }));
  const ids = await done(all.index("changed").getAllKeys());
  for (const id of ids.slice(0, -kept)) all.delete(id);
}

/** Return a saved study, or undefined. */
export async function find(id) {
  return done((await studies("readonly")).get(id));
}

/** Save a study under its id. The oldest studies are deleted. */
export async function save(study) {
  await put(await studies("readwrite"), study, KEPT);
}

/** Return all puzzles, the oldest first. */
export async function allPuzzles() {
  return done((await puzzles("readonly")).index("changed").getAll());
}

/** Save a puzzle and its state. The oldest puzzles are deleted. */
export async function savePuzzle(puzzle) {
  await put(await puzzles("readwrite"), puzzle, KEPT_PUZZLES);
}

/** Add puzzles that are not saved yet. Known ones keep their state. */
export async function collect(found) {
  if (!found.length) return;
  const known = new Set((await allPuzzles()).map(({ id }) => id));
  for (const puzzle of found) {
    if (!known.has(puzzle.id)) await savePuzzle(puzzle);
  }
}

export async function removePuzzle(id) {
  await done((await puzzles("readwrite")).delete(id));
}
