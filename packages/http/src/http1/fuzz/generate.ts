import type { Random } from './random.ts'

/** Returns a valid pipeline of requests, as latin1 text. */
export function generateRequests(random: Random): string {
  return Array.from({ length: random.chance(60) ? 1 : 2 + random.below(3) }, () => request(random)).join('')
}

function request(random: Random): string {
  const method = random.pick(METHODS)
  const host = random.pick(method === 'CONNECT' ? HOSTS_WITH_PORT : HOSTS)
  const lines = [`${caseOf(random, 'Host')}:${random.pick(BLANKS)}${host}`, ...random.several(5, () => field(random))]
  let body = ''
  if (method !== 'CONNECT' && (random.chance(60) || method === 'POST')) {
    const framed = framedBody(random)
    lines.push(framed.line)
    body = framed.body
  }
  if (random.chance(4)) lines.push(random.pick(['Connection: close', 'Connection: keep-alive', 'Connection: x-a, te']))
  if (random.chance(4)) lines.push('Expect: 100-continue')
  if (random.chance(4)) lines.push('Connection: Upgrade', 'Upgrade: websocket')
  shuffle(random, lines)
  const version = random.chance(92) ? 'HTTP/1.1' : 'HTTP/1.0'
  const lead = random.chance(5) ? '\r\n' : ''
  return `${lead}${method} ${targetOf(random, method, host)} ${version}\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}

/** Returns a valid response, possibly after interim responses, as latin1 text. */
export function generateResponse(random: Random): string {
  const interim = random.chance(10) ? `HTTP/1.1 ${random.pick([100, 102, 103])} Early\r\n${field(random)}\r\n\r\n` : ''
  const lines = random.several(5, () => field(random))
  let body = ''
  if (random.chance(80)) {
    const framed = framedBody(random)
    lines.push(framed.line)
    body = framed.body
  } else body = bytesOf(random)
  if (random.chance(8)) lines.push(random.pick(['Connection: close', 'Connection: keep-alive', 'Connection: x-a']))
  shuffle(random, lines)
  const status = random.pick([200, 200, 200, 201, 204, 206, 301, 304, 404, 500, 503])
  const reason = random.pick([' OK', ' Not Found', ' ', ' caf\xe9', ''])
  const version = random.chance(90) ? 'HTTP/1.1' : 'HTTP/1.0'
  return `${interim}${version} ${status}${reason}\r\n${lines.map((line) => line + '\r\n').join('')}\r\n${body}`
}

function framedBody(random: Random): { line: string; body: string } {
  const bytes = bytesOf(random)
  if (random.chance(45)) return { line: `${caseOf(random, 'Content-Length')}: ${bytes.length}`, body: bytes }
  let body = ''
  for (let at = 0; at < bytes.length;) {
    const size = 1 + random.below(Math.min(40, bytes.length - at))
    body += `${hex(random, size)}${extension(random)}\r\n${bytes.slice(at, at + size)}\r\n`
    at += size
  }
  const trailers = random.chance(20) ? random.several(3, () => `${field(random)}\r\n`).join('') : ''
  const line = `${caseOf(random, 'Transfer-Encoding')}: ${caseOf(random, 'chunked')}`
  return { line, body: `${body}${random.chance(90) ? '0' : '00'}${extension(random)}\r\n${trailers}\r\n` }
}

function hex(random: Random, size: number): string {
  const digits = size.toString(16)
  return (random.chance(5) ? '0' : '') + (random.chance(50) ? digits.toUpperCase() : digits)
}

function extension(random: Random): string {
  return random.chance(10) ? random.pick([';a', ';a=b', ';a="b c"', ';a=b;c=d', ';a="\\""']) : ''
}

function bytesOf(random: Random): string {
  const kind = random.below(4)
  const length = random.below(random.chance(90) ? 60 : 2000)
  if (kind === 0) return ''
  if (kind === 1) return 'x'.repeat(length)
  if (kind === 2) return random.pick(TRAPS)
  return Array.from({ length }, () => String.fromCharCode(random.below(256))).join('')
}

function field(random: Random): string {
  const value = random.chance(80)
    ? random.pick(VALUES)
    : Array.from({ length: random.below(12) }, () => random.pick(VALUE_CHARS)).join('')
  return `${caseOf(random, random.pick(NAMES))}:${random.pick(BLANKS)}${value}${random.chance(5) ? random.pick(BLANKS) : ''}`
}

function targetOf(random: Random, method: string, host: string): string {
  if (method === 'CONNECT') return host
  if (method === 'OPTIONS' && random.chance(50)) return '*'
  if (random.chance(10)) return `http://${host}${random.pick(['', '/', '/a?b', '?q'])}`
  return random.pick(TARGETS)
}

function caseOf(random: Random, name: string): string {
  const kind = random.below(4)
  if (kind === 0) return name.toLowerCase()
  if (kind === 1) return name.toUpperCase()
  return name
}

function shuffle(random: Random, lines: string[]): void {
  for (let i = lines.length - 1; i > 0; i--) {
    const j = random.below(i + 1)
    const line = lines[i]!
    lines[i] = lines[j]!
    lines[j] = line
  }
}

const METHODS = ['GET', 'GET', 'POST', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'CONNECT', 'PROPFIND']
const HOSTS = ['a', 'example.com', 'example.com:80', '[::1]:8080', '127.0.0.1', 'A.b']
const HOSTS_WITH_PORT = HOSTS.filter((host) => /:[0-9]+$/.test(host))
const TARGETS = [
  '/',
  '/a',
  '/a/b?c=d',
  '/a%2Fb',
  '/a;b=c',
  '/?',
  '/%00',
  '//x',
  "/~!$&'()*+,=:@",
  '/a?x=/../',
  '/a%20b',
  '/{|}',
]
const BLANKS = [' ', ' ', '', '  ', '\t', ' \t ']
const NAMES = [
  'Accept',
  'X-A',
  'X-B',
  'Cookie',
  'User-Agent',
  'X-Forwarded-For',
  'Te',
  'Trailer',
  'A',
  "!#$%&'*+-.^_`|~9",
]
const VALUES = [
  '',
  '1',
  'a, b',
  'text/html; q=0.5',
  '"quoted \\" string"',
  'trailers',
  'chunked',
  'caf\xe9',
  'a:b',
  'x-a',
]
const VALUE_CHARS = 'abc019 \t,;:="\\/()\x80\xff~!'.split('')
/** Bodies that look like messages. */
const TRAPS = ['0\r\n\r\n', 'GET /trap HTTP/1.1\r\nHost: trap\r\n\r\n', '\r\n', '5\r\nabcde\r\n0\r\n\r\n', '\r\n\r\n']
