import { INSERTS, NASTY_CHUNKS, NASTY_FRAMING, NASTY_LINES, SIZE_LINES } from './nasty.ts'
import type { Random } from './random.ts'

/** Adds a few faults of the kinds that parsers disagree on. */
export function mutate(random: Random, text: string): string {
  let out = text
  for (let left = 1 + random.below(3); left > 0; left--) out = random.pick(MUTATIONS)(random, out)
  return out
}

/** Cuts bytes into pieces as a network might. */
export function split(random: Random, bytes: Buffer): Buffer[] {
  if (random.chance(50)) return [bytes]
  // Origins of streams send each chunk alone.
  if (random.chance(30)) return chunksOf(bytes)
  const pieces: Buffer[] = []
  const most = random.pick([1, 3, 20, 200])
  for (let at = 0; at < bytes.length;) {
    const size = 1 + random.below(most)
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}

/** Cuts before each line that can be the size line of a chunk. */
function chunksOf(bytes: Buffer): Buffer[] {
  const pieces = bytes.toString('latin1').split(/(?<=\r\n)(?=[0-9a-f]+\r\n)/i)
  return pieces.map((piece) => Buffer.from(piece, 'latin1'))
}

type Mutation = (random: Random, text: string) => string

const flip: Mutation = (random, text) => {
  const at = random.below(text.length + 1)
  const code = (text.charCodeAt(at) || 0) ^ (1 << random.below(8))
  return text.slice(0, at) + String.fromCharCode(code & 255) + text.slice(at + 1)
}

const insert: Mutation = (random, text) => {
  const at = spot(random, text)
  return text.slice(0, at) + random.pick(INSERTS) + text.slice(at)
}

const replace: Mutation = (random, text) => {
  const at = spot(random, text)
  return text.slice(0, at) + random.pick(INSERTS) + text.slice(at + 1)
}

const remove: Mutation = (random, text) => {
  const at = spot(random, text)
  return text.slice(0, at) + text.slice(at + 1 + random.below(3))
}

const duplicateLine: Mutation = (random, text) => {
  const lines = text.split('\r\n')
  const at = random.below(lines.length)
  lines.splice(random.below(lines.length), 0, lines[at]!)
  return lines.join('\r\n')
}

const addLine: Mutation = (random, text) => {
  const lines = text.split('\r\n')
  lines.splice(1 + random.below(Math.min(6, lines.length)), 0, random.pick(NASTY_LINES))
  return lines.join('\r\n')
}

const replaceLine: Mutation = (random, text) => {
  const lines = text.split('\r\n')
  lines[random.below(lines.length)] = random.pick(random.chance(50) ? NASTY_LINES : NASTY_CHUNKS)
  return lines.join('\r\n')
}

const framing: Mutation = (random, text) =>
  text.replace(/(content-length|transfer-encoding):[^\r]*/i, () => random.pick(NASTY_FRAMING))

const chunkSize: Mutation = (random, text) =>
  text.replace(/\r\n[0-9a-f]{1,2}(?=[;\r])/gi, (line) =>
    random.chance(40) ? '\r\n' + random.pick(NASTY_CHUNKS) : line,
  )

/** Keeps the size right but its notation wrong: with a wrong size, the data would reveal the fault. */
const sizeLine: Mutation = (random, text) =>
  text.replace(/\r\n([0-9a-f]{1,2})\r\n/gi, (line, size: string) =>
    random.chance(40) ? '\r\n' + random.pick(SIZE_LINES).replace('N', size) : line,
  )

const lineEnds: Mutation = (random, text) =>
  text.replace(/\r\n/g, (end) => (random.chance(15) ? random.pick(['\n', '\r', '\r\r\n', '\n\r', '\r\n ', '']) : end))

const truncate: Mutation = (random, text) => text.slice(0, random.below(text.length + 1))

const version: Mutation = (random, text) =>
  text.replace(/HTTP\/1\.[01]/, () =>
    random.pick([
      'HTTP/1.2',
      'HTTP/2.0',
      'HTTP/0.9',
      'HTTP/1',
      'http/1.1',
      'HTTP/1.10',
      'HTTP /1.1',
      'HTTP/11',
      'ICE/1.0',
      'RTSP/1.0',
      '',
      'HTTP/1.0',
    ]),
  )

const MUTATIONS: Mutation[] = [
  flip,
  insert,
  insert,
  replace,
  remove,
  duplicateLine,
  addLine,
  addLine,
  replaceLine,
  framing,
  framing,
  chunkSize,
  sizeLine,
  sizeLine,
  lineEnds,
  truncate,
  version,
]

/** Faults in the first lines matter more than faults deep in a body. */
function spot(random: Random, text: string): number {
  return random.below((random.chance(70) ? Math.min(text.length, 150) : text.length) + 1)
}
