// Games in the address of a link: compressed with deflate, in Base64 for URLs.

const MAX_LINK = 30000; // characters; programs cut longer links
const MAX_TEXT = 2 << 20; // bytes; the server reads half as much

/** Return all bytes of a stream. Throws an Error if there are too many. */
async function bytesOf(stream) {
  const parts = [];
  let size = 0;
  for (const reader = stream.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MAX_TEXT) throw new Error("invalid link");
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Return a text in the form for a link. Throws an Error if it is too long. */
export async function pack(text) {
  const bytes = await bytesOf(new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw")));
  if (bytes.length * 4 / 3 > MAX_LINK) throw new Error("too long for a link");
  const letters = btoa([...bytes].map((byte) => String.fromCharCode(byte)).join(""));
  return letters.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Return the text in a link. Throws an Error if the link is damaged. */
export async function unpack(packed) {
  try {
    const letters = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    return new TextDecoder().decode(
      await bytesOf(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))));
  } catch {
    throw new Error("invalid link");
  }
}
