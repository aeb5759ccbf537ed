import type { BacktestReport, FlipKind } from '@portico/gateway/admin-config'

/**
 * Returns the result of a back-test in sentences: first the requests that would be denied, then the limits of the
 * result.
 */
export function backtestSentences({ records, flipped, unknown, counts, isCut, remarks }: BacktestReport): string[] {
  const denied = sum(counts, DENIALS)
  const admitted = sum(counts, ['newly-admitted'])
  const others = flipped - denied - admitted
  const lead = records === 1 ? 'Of the last request' : `Of the last ${number(records)} requests`
  return [
    `${lead} ${number(denied)} would be denied now; ${number(admitted)} would be admitted that ${was(admitted)} denied.`,
    ...(others > 0 ? [`${number(others)} would change in another way.`] : []),
    ...(unknown > 0 ? [`${number(unknown)} cannot be decided, because the records lack what decides.`] : []),
    ...(isCut ? ['The time was up before the newest requests were decided.'] : []),
    ...remarks.map((remark) => `${remark.slice(0, 1).toUpperCase()}${remark.slice(1)}.`),
  ]
}

/** The words for each kind of flip, which follow the number of requests. */
export const FLIP_WORDS: Readonly<Record<FlipKind, string>> = {
  'newly-denied': 'denied now',
  'newly-limited': 'limited now',
  'newly-failed': 'failed now',
  'newly-admitted': 'admitted now',
  'denied-differently': 'denied otherwise',
  'route-moved': 'on another route',
  'backend-moved': 'to another backend',
  'path-changed': 'with another path',
  'headers-changed': 'with other headers',
  'model-changed': 'to another model',
  'price-changed': 'at another price',
}

const DENIALS: readonly FlipKind[] = ['newly-denied', 'newly-limited', 'newly-failed']

function sum(counts: BacktestReport['counts'], kinds: readonly FlipKind[]): number {
  return kinds.reduce((total, kind) => total + (counts[kind] ?? 0), 0)
}

function was(count: number): string {
  return count === 1 ? 'was' : 'were'
}

function number(value: number): string {
  return value.toLocaleString('en')
}
