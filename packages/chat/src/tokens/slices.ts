/**
 * Splits a text into slices whose tokens can be counted one by one. An encoder takes quadratic time for very long
 * words, so these are cut; other cuts are before a space, where a token begins anyway.
 */
export function* slicesOf(text: string): Generator<string> {
  let from = 0
  for (const { index, 0: run } of text.matchAll(LONG_RUN)) {
    yield* pages(text.slice(from, index))
    yield* cut(run)
    from = index + run.length
  }
  yield* pages(text.slice(from))
}

function* cut(run: string): Generator<string> {
  for (let from = 0; from < run.length;) {
    const to = wholeCharacter(run, from + LONGEST_RUN)
    yield run.slice(from, to)
    from = to
  }
}

function* pages(text: string): Generator<string> {
  let from = 0
  while (text.length - from > PAGE) {
    let to = from + PAGE
    // No run is long, so there is a space nearby; the first of several, because they belong together.
    while (!isSpace(text, to)) to -= 1
    while (isSpace(text, to - 1)) to -= 1
    yield text.slice(from, to)
    from = to
  }
  if (from < text.length) yield text.slice(from)
}

/** Moves the end of a slice so that no surrogate pair is split. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at
}

function isSpace(text: string, at: number): boolean {
  return /\s/.test(text.charAt(at))
}

/** In characters; counted in a few milliseconds, whatever the text. */
const PAGE = 1_024
const LONGEST_RUN = 64
const LONG_RUN = /\S{65,}|\s{65,}/g
