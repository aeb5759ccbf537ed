import type { IncomingMessage } from 'node:http'
import { USAGE_GROUPS, type UsageQuery, type UsageResult, type UsageSums } from '../stores/store.ts'
import { readTime, TIME_FORM } from '../telemetry/recorder/record-filter.ts'
import { pathOf, queryOf, type Reply, text } from './http.ts'
import { printDollars } from './print-dollars.ts'
import type { UsageGroup, UsageReport } from './usage-view.ts'

/** Reads the ledger; null without `config.ledger`. */
export type UsageSource = { usage(query: UsageQuery): Promise<UsageResult | { readonly problem: string }> } | null

/** The endpoint, as the start page of the admin server lists it. */
export const USAGE_ROUTES: readonly { path: string; summary: string }[] = [
  {
    path: '/api/usage',
    summary: 'calls, tokens and costs of the ledger; ?by=key,model groups, ?since= and ?until= limit',
  },
]

/** Null for another path. */
export function answerUsageApi(request: IncomingMessage, source: UsageSource): Promise<Reply> | Reply | null {
  if (pathOf(request) !== '/api/usage') return null
  const query = readQuery(queryOf(request), Date.now())
  if (typeof query === 'string') return text(400, `${query}\n`)
  if (source === null) return text(404, 'the gateway has no ledger: set config.ledger and config.stateDir\n')
  return source.usage(query).then((result) => {
    if ('problem' in result) return text(503, `the ledger cannot be read: ${result.problem}\n`)
    const report: UsageReport = {
      ...query,
      groups: result.sums.map((sums) => viewGroup(query.by, sums)),
      isCut: result.isCut,
    }
    return { status: 200, type: 'application/json', body: `${JSON.stringify(report)}\n` }
  })
}

/** Returns the reason as a text when a parameter is wrong. */
function readQuery(query: URLSearchParams, now: number): UsageQuery | string {
  for (const name of query.keys()) {
    if (!PARAMETERS.includes(name)) {
      return `unknown parameter ${JSON.stringify(name)}, expected ${PARAMETERS.map((each) => `?${each}=`).join(', ')}`
    }
  }
  const by = (query.get('by') ?? '').split(',').filter((name) => name !== '')
  const unknown = by.find((name) => !USAGE_GROUPS.includes(name))
  if (unknown !== undefined) return `by: found ${JSON.stringify(unknown)}, expected ${USAGE_GROUPS.join(', ')}`
  if (new Set(by).size < by.length) return 'by: expected each name once'
  const since = readTime(query.get('since'), now)
  const until = readTime(query.get('until'), now)
  if (since === undefined) return `since: ${TIME_FORM}`
  if (until === undefined) return `until: ${TIME_FORM}`
  return { by, since: since ?? 0, until: until ?? now + 1 }
}

function viewGroup(by: readonly string[], { group, nanoDollars, savedNanoDollars, ...counts }: UsageSums): UsageGroup {
  return {
    group: Object.fromEntries(by.map((name, i) => [name, group[i] ?? ''])),
    ...counts,
    costUsd: nanoDollars === null ? null : printDollars(nanoDollars),
    savedUsd: printDollars(savedNanoDollars),
  }
}

const PARAMETERS = ['by', 'since', 'until']
