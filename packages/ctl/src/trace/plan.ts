import type { AdminAddress } from './admin-address.ts'
import type { Injection } from './curl.ts'
import { type Planned, planSource, refuse, type Source, type SourceArguments, tokenProblem } from './source.ts'

/** What a trace was asked for, checked. */
export interface TraceRequest {
  /** Who is asked, as messages name it. */
  readonly label: string
  /** Each watches; the first that sees a request tells of it. A request of our own goes to the first of them. */
  readonly admins: readonly [AdminAddress, ...AdminAddress[]]
  readonly token: string | null
  readonly expression: string | null
  /** Null waits for a request from any client. */
  readonly injection: Injection | null
}

/** The same, before it is known how a Gateway of a cluster is reached. */
export interface PlannedTrace extends Omit<TraceRequest, 'label' | 'admins'> {
  readonly from: Source
}

export interface TraceArguments extends SourceArguments {
  readonly port: string | null
  readonly expression: string | null
  readonly adminToken: string | null
  readonly afterDashes: readonly string[] | null
}

export function planTrace(given: TraceArguments): Planned<PlannedTrace> {
  const from = planSource(given)
  if (!from.ok) return from
  const badToken = tokenProblem(given.adminToken)
  if (badToken !== null) return refuse(badToken)
  if (given.expression?.trim() === '') return refuse('--expression is empty')
  const injection = planInjection(given)
  if (!injection.ok) return injection
  const { adminToken: token, expression } = given
  return { ok: true, value: { from: from.value, token, expression, injection: injection.value } }
}

function planInjection({ port, afterDashes }: TraceArguments): Planned<Injection | null> {
  const [url, ...args] = afterDashes ?? []
  if (port === null) {
    return url === undefined
      ? { ok: true, value: null }
      : refuse('a URL needs --port: the listener port that the request is sent to')
  }
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0
  if (number < 1 || number > 65_535) return refuse(`found port ${JSON.stringify(port)}, expected a number up to 65535`)
  if (url === undefined) return refuse('--port needs a URL: add -- <url>, or leave out --port to wait for a request')
  if (!isWebUrl(url)) {
    return refuse(
      `found ${JSON.stringify(url)} after --, expected first a URL with http:// or https://, then curl arguments`,
    )
  }
  // Behind it curl forgets that the request goes to this machine.
  if (args.some((arg) => arg === '--next' || arg === '-:'))
    return refuse('one request is traced: curl --next cannot be used')
  return { ok: true, value: { port: number, url, args } }
}

function isWebUrl(text: string): boolean {
  // curl expands braces and brackets itself, so only the part that it sends elsewhere is checked.
  return /^https?:\/\/[^/?#\s]/i.test(text)
}
