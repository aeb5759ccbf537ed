import type { RequestSummary } from '@portico/gateway/admin-api'

type ShadowOutcome = NonNullable<RequestSummary['shadows']>[number]

/** The requests of one route for which one shadow policy had the same outcome. */
export interface ShadowRow {
  readonly policy: string
  /** The name of the route; `unknown` for requests without a route. */
  readonly route: string
  readonly outcome: ShadowOutcome['outcome']
  readonly count: number
  /** The causes of the outcome in words, the most frequent first; at most ten. */
  readonly causes: readonly { readonly text: string; readonly count: number }[]
  /** The newest request of the row. */
  readonly example: {
    readonly id: string
    readonly at: number
    readonly method: string | null
    readonly path: string | null
  }
}

export interface ShadowSummary {
  /** The number of requests that a shadow policy judged. */
  readonly requests: number
  /** The start of the oldest and of the newest request, in milliseconds since 1970; null without requests. */
  readonly from: number | null
  readonly to: number | null
  /** The rows, denials first, then by count. */
  readonly rows: readonly ShadowRow[]
}

export interface ShadowSelection {
  readonly policy: string | null
  readonly outcomes: readonly string[]
}

/** Counts the outcomes of shadow policies by policy, route and outcome. */
export function summarizeShadows(requests: readonly RequestSummary[], selection: ShadowSelection): ShadowSummary {
  const groups = new Map<string, { outcome: ShadowOutcome; newest: RequestSummary; causes: Map<string, number> }>()
  const times: number[] = []
  for (const request of requests) {
    const outcomes = (request.shadows ?? []).filter((each) => isSelected(each, selection))
    if (outcomes.length > 0) times.push(request.at)
    for (const outcome of outcomes) {
      const key = JSON.stringify([outcome.policy, request.route, outcome.outcome])
      const group = groups.get(key) ?? { outcome, newest: request, causes: new Map<string, number>() }
      if (request.at > group.newest.at) group.newest = request
      group.causes.set(outcome.text, (group.causes.get(outcome.text) ?? 0) + 1)
      groups.set(key, group)
    }
  }
  const rows = [...groups.values()].map(({ outcome: { policy, outcome }, newest, causes }): ShadowRow => {
    const { id, at, method, path } = newest
    const counts = [...causes].map(([text, count]) => ({ text, count })).toSorted((a, b) => b.count - a.count)
    const count = counts.reduce((sum, each) => sum + each.count, 0)
    const route = newest.route ?? 'unknown'
    return { policy, route, outcome, count, causes: counts.slice(0, MOST_CAUSES), example: { id, at, method, path } }
  })
  const rank = ({ outcome }: ShadowRow): number => ORDER.indexOf(outcome)
  const sorted = rows.toSorted((a, b) => rank(a) - rank(b) || b.count - a.count || (a.policy < b.policy ? -1 : 1))
  return {
    requests: times.length,
    from: times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b)),
    to: times.length === 0 ? null : times.reduce((a, b) => Math.max(a, b)),
    rows: sorted,
  }
}

function isSelected({ policy, outcome }: ShadowOutcome, selection: ShadowSelection): boolean {
  return (selection.policy === null || selection.policy === policy) && selection.outcomes.includes(outcome)
}

const MOST_CAUSES = 10
/** The outcomes in the order of the report, the most important first. */
export const ORDER: readonly string[] = ['denied', 'error', 'unknown', 'allowed']
