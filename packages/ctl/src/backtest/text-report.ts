import type { BacktestExample } from '@portico/gateway/backtest'
import { printable } from '../printable.ts'
import type { BacktestRun } from './backtest-run.ts'
import { locationText } from './location-text.ts'

/** Returns the report as text for people: the numbers, then each group of requests with its example. */
export function textReport({ report, before }: BacktestRun): string {
  const { records, from, until, same, flipped, unknown, flips, unknowns, remarks, isCut } = report
  const span = from === null || until === null ? '' : ` from ${time(from)} to ${time(until)}`
  const lines = [
    `${records} requests${span}${before === null ? '' : `, decided by ${before}`}`,
    `${same} alike, ${flipped} flipped, ${unknown} unknown`,
    ...flips.flatMap(({ kind, cause, count, example, decidedAt }) => [
      '',
      `${count} ${kind}: ${cause}`,
      ...(decidedAt === null ? [] : [`    ${locationText(decidedAt)}`]),
      ...exampleLines(example),
    ]),
    ...unknowns.flatMap(({ cause, count, example }) => ['', `${count} unknown: ${cause}`, ...exampleLines(example)]),
    ...(remarks.length === 0 ? [] : ['']),
    ...remarks.map((remark) => `note: ${remark}`),
    ...(isCut ? ['note: the time ran out, so later records are not decided'] : []),
  ]
  return `${lines.map(printable).join('\n')}\n`
}

function exampleLines({ id, method, host, path, key, before, after }: BacktestExample): string[] {
  const client = key === null ? '' : ` of ${key}`
  const request = method === null ? 'a connection' : `${method} ${host ?? ''}${path ?? ''}`
  return [`    such as ${id}: ${request}${client}`, `      was: ${before}`, `      now: ${after}`]
}

function time(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ')
}
