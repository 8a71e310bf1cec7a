// Analysed games, kept in this browser so that they outlive the page.

const KEPT = 50;

function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function studies(mode) {
  const request = indexedDB.open("kempelen", 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore("studies", { keyPath: "id" }).createIndex("changed", "changed");
  };
  return (await done(request)).transaction("studies", mode).objectStore("studies");
}

/** Return a saved study, or undefined. */
export async function find(id) {
  return done((await studies("readonly")).get(id));
}

/** Save a study under its id. The oldest studies are deleted. */
export async function save(study) {
  const all = await studies("readwrite");
  await done(all.put({ ...study, changed: Date.now() }));
  const ids = await done(all.index("changed").getAllKeys());
  for (const id of ids.slice(0, -KEPT)) all.delete(id);
}
