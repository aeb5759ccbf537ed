import { randomInt } from 'node:crypto'

/** Both ends belong to it. */
export interface PortRange {
  readonly first: number
  readonly last: number
}

/** Above the ports that Linux gives to clients by default, so that other clients are not in the range. */
const LOWEST = 61_000
const HIGHEST = 65_535
/** More than one, because curl may open several connections and a port rests for a minute after use. */
const COUNT = 16
/** Options with which the request comes from elsewhere. */
const OTHER_ORIGIN = new Set(['--local-port', '--interface', '--unix-socket', '--abstract-unix-socket'])

/** How a request of our own is told from others; null where it cannot be. */
export type Origin = PortRange | 'loopback' | null

/** The ports that curl may send from, so that its request can be told from others; null when the user chose. */
export function pickLocalPorts(curlArgs: readonly string[]): PortRange | null {
  if (curlArgs.some((arg) => OTHER_ORIGIN.has(arg))) return null
  const first = randomInt(LOWEST, HIGHEST - COUNT + 2)
  return { first, last: first + COUNT - 1 }
}

/** CEL that is true for the user's expression and, where its origin is known, only for requests from there. */
export function requestFilter(expression: string | null, origin: Origin): string | null {
  if (origin === null) return expression
  const fromPorts =
    origin === 'loopback'
      ? // What is forwarded comes from the Pod itself, and hardly anything else does.
        'source.rawAddress in ["127.0.0.1", "::1"]'
      : `source.rawAddress == "127.0.0.1" && source.rawPort >= ${origin.first} && source.rawPort <= ${origin.last}`
  // On lines of their own: a comment at the end of the expression must not swallow the rest.
  return expression === null ? fromPorts : `(\n${expression}\n) && ${fromPorts}`
}
