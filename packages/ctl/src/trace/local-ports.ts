import { randomInt } from 'node:crypto'

/** A range of ports; both ends are inclusive. */
export interface PortRange {
  readonly first: number
  readonly last: number
}

/** Above the default ephemeral ports of Linux, so that other clients are outside the range. */
const LOWEST = 61_000
const HIGHEST = 65_535
/** Several ports, because curl may open several connections, and a port rests for a minute after use. */
const COUNT = 16
/** Options that change the source of the request. */
const OTHER_ORIGIN = new Set(['--local-port', '--interface', '--unix-socket', '--abstract-unix-socket'])

/** How to identify our own request; null when it cannot be identified. */
export type Origin = PortRange | 'loopback' | null

/** Returns source ports for curl, which identify its request; null when the user sets the source. */
export function pickLocalPorts(curlArgs: readonly string[]): PortRange | null {
  if (curlArgs.some((arg) => OTHER_ORIGIN.has(arg))) return null
  const first = randomInt(LOWEST, HIGHEST - COUNT + 2)
  return { first, last: first + COUNT - 1 }
}

/** Returns CEL for the user's expression, limited to requests from the origin when it is known. */
export function requestFilter(expression: string | null, origin: Origin): string | null {
  if (origin === null) return expression
  const fromPorts =
    origin === 'loopback'
      ? // Forwarded requests come from the Pod itself, and hardly any others do.
        'source.rawAddress in ["127.0.0.1", "::1"]'
      : `source.rawAddress == "127.0.0.1" && source.rawPort >= ${origin.first} && source.rawPort <= ${origin.last}`
  // The expression stands on its own lines, because a comment at its end must not swallow the rest.
  return expression === null ? fromPorts : `(\n${expression}\n) && ${fromPorts}`
}
