import { isObject } from '@portico/http/json'
import type { SendCall } from './send-view.ts'

/**
 * Validates a call; returns a text that says what is wrong with it. Every part of the message may contain only the
 * characters that are valid at its position, so that no field can end its line.
 */
export function checkCall(value: unknown): SendCall | string {
  if (!isObject(value)) return 'expected an object'
  const fields = value
  const unknown = Object.keys(fields).find((name) => !(name in CHECKS))
  if (unknown !== undefined)
    return `unknown field ${JSON.stringify(unknown)}, expected ${Object.keys(CHECKS).join(', ')}`
  for (const [name, { isNeeded, problem }] of Object.entries(CHECKS)) {
    const field = fields[name]
    if (field === undefined && !isNeeded) continue
    const wrong = problem(field)
    if (wrong !== null) return `${name}: ${wrong}`
  }
  return fields as unknown as SendCall
}

interface Check {
  isNeeded: boolean
  problem: (value: unknown) => string | null
}

const CHECKS: Readonly<Record<keyof SendCall, Check>> = {
  bind: needed((value) => like(value, /^[^]{1,512}$/, 'the key of a bind')),
  listener: needed((value) => like(value, /^[^]{1,512}$/, 'the key of a listener')),
  method: needed(
    (value) => like(value, /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/, 'a method such as GET') ?? noTunnel(String(value)),
  ),
  path: needed((value) => like(value, /^\/[\x21-\x7e]{0,8191}$/, 'a path that begins with /, percent-encoded')),
  host: {
    isNeeded: false,
    problem: (value) =>
      like(
        value,
        /^(?:[\w.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/,
        'a name or an address, with a port or without',
      ),
  },
  headers: { isNeeded: false, problem: headersProblem },
  body: { isNeeded: false, problem: (value) => (typeof value === 'string' ? null : 'expected a string') },
  trace: { isNeeded: false, problem: (value) => (typeof value === 'boolean' ? null : 'expected true or false') },
}

function needed(problem: Check['problem']): Check {
  return { isNeeded: true, problem }
}

function like(value: unknown, pattern: RegExp, what: string): string | null {
  return typeof value === 'string' && pattern.test(value) ? null : `expected ${what}`
}

function noTunnel(method: string): string | null {
  return method.toUpperCase() === 'CONNECT' ? 'CONNECT opens a tunnel, which cannot be sent from here' : null
}

function headersProblem(value: unknown): string | null {
  if (!Array.isArray(value) || value.length > MAX_HEADERS) return `expected a list of at most ${MAX_HEADERS} pairs`
  for (const pair of value as unknown[]) {
    if (!Array.isArray(pair) || pair.length !== 2) return 'expected pairs of name and value'
    const [name, content] = pair as unknown[]
    if (typeof name !== 'string' || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/.test(name))
      return `found name ${JSON.stringify(name)}, expected a token`
    if (FORBIDDEN.has(name.toLowerCase())) return `${name.toLowerCase()} is a connection header and cannot be sent`
    if (typeof content !== 'string' || !/^[\t\x20-\x7e\x80-\xff]{0,16384}$/.test(content))
      return `the value of ${name.toLowerCase()} contains characters that are not allowed in headers, or is too long`
  }
  return null
}

/** Headers that belong to one connection, or frame the message. */
const FORBIDDEN: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const MAX_HEADERS = 100
