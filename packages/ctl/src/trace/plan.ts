import type { AdminAddress } from './admin-address.ts'
import type { Injection } from './curl.ts'
import { type PlanResult, planSource, failure, type Source, type SourceArguments, tokenProblem } from './source.ts'

/** A validated trace request. */
export interface TraceRequest {
  /** The gateway, as named in messages. */
  readonly label: string
  /** The gateways that watch; the first that sees a request reports it. Our own request goes to the first one. */
  readonly admins: readonly [AdminAddress, ...AdminAddress[]]
  readonly token: string | null
  readonly expression: string | null
  /** The request to send; null waits for a request of any client. */
  readonly injection: Injection | null
}

/** A trace request before the connection to a cluster's Gateway is known. */
export interface PlannedTrace extends Omit<TraceRequest, 'label' | 'admins'> {
  readonly from: Source
}

export interface TraceArguments extends SourceArguments {
  readonly port: string | null
  readonly expression: string | null
  readonly adminToken: string | null
  readonly afterDashes: readonly string[] | null
}

export function planTrace(given: TraceArguments): PlanResult<PlannedTrace> {
  const from = planSource(given)
  if (!from.ok) return from
  const badToken = tokenProblem(given.adminToken)
  if (badToken !== null) return failure(badToken)
  if (given.expression?.trim() === '') return failure('--expression is empty')
  const injection = planInjection(given)
  if (!injection.ok) return injection
  const { adminToken: token, expression } = given
  return { ok: true, value: { from: from.value, token, expression, injection: injection.value } }
}

function planInjection({ port, afterDashes }: TraceArguments): PlanResult<Injection | null> {
  const [url, ...args] = afterDashes ?? []
  if (port === null) {
    return url === undefined
      ? { ok: true, value: null }
      : failure('a URL needs --port: the listener port that the request is sent to')
  }
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0
  if (number < 1 || number > 65_535) return failure(`found port ${JSON.stringify(port)}, expected a number up to 65535`)
  if (url === undefined) return failure('--port needs a URL: add -- <url>, or leave out --port to wait for a request')
  if (!isWebUrl(url)) {
    return failure(
      `found ${JSON.stringify(url)} after --, expected first a URL with http:// or https://, then curl arguments`,
    )
  }
  // After `--next`, curl would no longer redirect the request to this machine.
  if (args.some((arg) => arg === '--next' || arg === '-:'))
    return failure('one request is traced: curl --next cannot be used')
  return { ok: true, value: { port: number, url, args } }
}

function isWebUrl(text: string): boolean {
  // curl expands braces and brackets itself, so only the start of the URL is checked.
  return /^https?:\/\/[^/?#\s]/i.test(text)
}
