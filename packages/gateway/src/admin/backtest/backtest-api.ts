import type { IncomingMessage } from 'node:http'
import type { CheckedConfig } from '../config-edit-view.ts'
import { json, MOST_EDIT_BYTES, readCheckRequest } from '../config-edit-api.ts'
import { type Reply, text } from '../http.ts'
import { readJson } from '../read-json.ts'
import type { BacktestAnswer, BacktestRequest } from './backtest-view.ts'

/** The back-tests of this gateway, which the main thread provides. */
export interface BacktestSource {
  /** Decides recorded requests with an edited config. The run ends early when `signal` aborts. */
  run(request: BacktestRequest, signal: AbortSignal): Promise<BacktestOutcome>
}

export type BacktestOutcome =
  | { readonly kind: 'done'; readonly answer: BacktestAnswer }
  /** The edited config is invalid and cannot go live. */
  | { readonly kind: 'rejected'; readonly checked: CheckedConfig }
  /** The gateway has no live config to compare with, or no records. */
  | { readonly kind: 'closed'; readonly reason: string }
  /** Another simulation is in progress. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'failed'; readonly reason: string }

export async function answerBacktest(request: IncomingMessage, source: BacktestSource): Promise<Reply> {
  const body = await readJson(request, MOST_EDIT_BYTES)
  if ('refused' in body) return body.refused
  const read = readRequest(body.value)
  if (typeof read === 'string') return text(400, `${read}\n`)
  const left = new AbortController()
  const leave = (): void => left.abort()
  // The back-test ends when its client, such as a closed page, disconnects.
  request.socket.once('close', leave)
  const outcome = await source.run(read, left.signal)
  request.socket.off('close', leave)
  switch (outcome.kind) {
    case 'done':
      return json(200, outcome.answer)
    case 'rejected':
      return json(422, outcome.checked)
    case 'closed':
      return text(409, `${outcome.reason}\n`)
    case 'busy':
      return text(429, 'another back-test is running: try again when it has ended\n', { 'retry-after': '5' })
    case 'failed':
      return text(503, `${outcome.reason}\n`)
  }
}

function readRequest(value: unknown): BacktestRequest | string {
  const members: Record<string, unknown> = typeof value === 'object' && value !== null ? { ...value } : {}
  const { last = '1h', limit = 5_000, ...rest } = members
  const check = readCheckRequest(rest)
  if (typeof check === 'string') return check
  if (typeof last !== 'string' || !/^[0-9]{1,6}[smhd]$/.test(last)) {
    return 'expected `last`, a time such as "15m" or "1h"'
  }
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > MOST_RECORDS) {
    return `expected \`limit\`, an integer from 1 to ${MOST_RECORDS}`
  }
  return { ...check, last, limit }
}

const MOST_RECORDS = 20_000
