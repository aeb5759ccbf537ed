import type { Random } from './random.ts'

/** The text with a few faults of the kinds that parsers disagree on. */
export function mutate(random: Random, text: string): string {
  let out = text
  for (let left = 1 + random.below(3); left > 0; left--) out = random.pick(MUTATIONS)(random, out)
  return out
}

/** Cuts bytes into pieces as a network might. */
export function split(random: Random, bytes: Buffer): Buffer[] {
  if (random.chance(50)) return [bytes]
  const pieces: Buffer[] = []
  const most = random.pick([1, 3, 20, 200])
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + random.below(most)
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
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
  text.replace(/\r\n[0-9a-f]{1,2}(?=[;\r])/gi, (line) => (random.chance(40) ? '\r\n' + random.pick(NASTY_CHUNKS) : line))

/** Keeps the size right and writes it wrong: with a wrong size the data would give the fault away. */
const sizeLine: Mutation = (random, text) =>
  text.replace(/\r\n([0-9a-f]{1,2})\r\n/gi, (line, size: string) =>
    random.chance(40) ? '\r\n' + random.pick(SIZE_LINES).replace('N', size) : line,
  )

const lineEnds: Mutation = (random, text) =>
  text.replace(/\r\n/g, (end) => (random.chance(15) ? random.pick(['\n', '\r', '\r\r\n', '\n\r', '\r\n ', '']) : end))

const truncate: Mutation = (random, text) => text.slice(0, random.below(text.length + 1))

const version: Mutation = (random, text) =>
  text.replace(/HTTP\/1\.[01]/, () => random.pick(['HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1', 'http/1.1', 'HTTP/1.10', 'HTTP /1.1', 'HTTP/11', 'ICE/1.0', 'RTSP/1.0', '', 'HTTP/1.0']))

const MUTATIONS: Mutation[] = [
  flip, insert, insert, replace, remove, duplicateLine, addLine, addLine, replaceLine, framing, framing, chunkSize,
  sizeLine, sizeLine, lineEnds, truncate, version,
] // prettier-ignore

/** Faults in the first lines matter more than faults deep in a body. */
function spot(random: Random, text: string): number {
  return random.below((random.chance(70) ? Math.min(text.length, 150) : text.length) + 1)
}

const INSERTS = ['\r', '\n', '\r\n', '\0', ' ', '\t', '\x0b', '\x0c', '\x7f', '\x80', '\xa0', '\xff', '\x85', ':', ',', ';', '#', '\\', '%', '0', '+', '-', '_', '"', '=', '/', '.', '@', '\r\n\r\n', '\x01', '?', '[', '{', 'A'] // prettier-ignore

const NASTY_FRAMING = [
  'Content-Length: 0', 'Content-Length: 5', 'Content-Length: +5', 'Content-Length: -1', 'Content-Length: 5, 5',
  'Content-Length: 5 5', 'Content-Length: 0x5', 'Content-Length: 5_0', 'Content-Length:', 'Content-Length: 05',
  'Content-Length: 99999999999999999999', 'Content-Length: 18446744073709551617', 'Content-Length: 5;', 'Content-Length: 5.0',
  'Content-Length : 5', 'Content-Length\t: 5', ' Content-Length: 5', 'Content_Length: 5', 'Content-Length: \x0b5', 'Content-Length: 5\x00',
  'Content-Length: 5\r\nContent-Length: 5', 'Content-Length: 5\r\nContent-Length: 6', 'Content-Length: 5\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 5', 'Transfer-Encoding: chunked', 'Transfer-Encoding:\tchunked', 'Transfer-Encoding: chunked ',
  'Transfer-Encoding: chunked, chunked', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: chunked, gzip', 'Transfer-Encoding: identity',
  'Transfer-Encoding: xchunked', 'Transfer-Encoding: chunkedx', 'Transfer-Encoding: "chunked"', 'Transfer-Encoding:\x0bchunked',
  'Transfer-Encoding : chunked', 'Transfer-Encoding\x0b: chunked', ' Transfer-Encoding: chunked', 'Transfer_Encoding: chunked', 'Transfer-Encoding:\r\n chunked',
  'Transfer-Encoding: chunked;q=1', 'Transfer-Encoding: ,chunked', 'Transfer-Encoding: chunked,', 'Transfer-Encoding:', 'X: y\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', 'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked',
] // prettier-ignore

const NASTY_LINES = [
  ...NASTY_FRAMING,
  'Host: b', 'Host:', 'Host: a b', 'Host: a\r\nHost: a', 'X-A: b\r\n folded', '\tfolded', ': empty', 'no colon', 'X A: b', 'X-A\xa0: b', 'X-A: \0',
  'Connection: close', 'Connection: Close', 'Connection: close, x', 'Connection: keep-alive', 'Connection: closed', 'Connection: close\xa0', 'Connection: upgrade', 'Upgrade: h2c',
  'Connection: content-length', 'Connection: transfer-encoding', 'Proxy-Connection: close', 'Expect: 100-continue', 'Expect: 200-ok', 'Keep-Alive: timeout=5', 'GET / HTTP/1.1', '',
] // prettier-ignore

const SIZE_LINES = [
  'N \r\n', ' N\r\n', '\tN\r\n', 'N\t\r\n', '0xN\r\n', '+N\r\n', '-N\r\n', '0N\r\n', 'N_\r\n', 'N,\r\n', 'N\0\r\n', 'N\n', 'N\r', 'N\r ', 'N\rx', 'N\r\r\n', 'N\n\r',
  'N;\r\n', 'N;a\n', 'N;a\r', 'N;a\rb\r\n', 'N; a\r\n', 'N;a \r\n', 'N ;a\r\n', 'N;a=\r\n', 'N;a= b\r\n', 'N;a =b\r\n', 'N;a="b\r\n', 'N;a="\n"\r\n', 'N;a="\r\n"\r\n', 'N;a="\\\n"\r\n',
  'N;a=b"\r\n', 'N;a="b"c\r\n', 'N;a;b="c"\r\n', 'N;;a\r\n', 'N;a;\r\n', 'N;a\x80\r\n', 'N;a="\x80"\r\n', 'N;a="\x7f"\r\n', 'N;a\0\r\n', 'N;a==b\r\n', '10000000000000000N\r\n', '0000000000000000000N\r\n',
] // prettier-ignore

const NASTY_CHUNKS = [
  '0', '5', 'a', 'A', 'ffffffffffffffff', '10000000000000000', 'fffffffffffffffff', '0x5', '+5', '-5', ' 5', '5 ', '5\t', '05', '0005', '5_0', 'g', '',
  '5;', '5; a', '5;a=', '5;a="', '5;a="b', '5;a=b c', '5 ;a', '5;a ', '5;=b', '5;a;b', '5;\x7f', '5;a=\x80', '5;\n', '5\n', '5,5', '5;a="\\\x01"', '5;a=b"', '5;a="b"c', '5;a="\t"',
  '0;', '0 ', '0\n', '0;a', '-0', '+0', '0x0', '00',
] // prettier-ignore
