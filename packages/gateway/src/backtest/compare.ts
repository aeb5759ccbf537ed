import type { Cost } from '../records/cost.ts'
import { type Decision, decisionWords, type ModelCall } from './decision.ts'
import type { FlipKind } from './report.ts'

export interface Flip {
  readonly kind: FlipKind
  readonly cause: string
}

/**
 * Compares two decisions about one request. A different backend is a flip only when `isPossible` returns false for the
 * recorded backend.
 */
export function compareDecisions(
  before: Decision,
  after: Decision,
  isPossible: (backend: string) => boolean,
): readonly Flip[] {
  if (before.verdict === 'passed' && after.verdict === 'failed') {
    return [{ kind: 'newly-failed', cause: decisionWords(after) }]
  }
  if (before.verdict === 'passed' && after.verdict !== 'passed') {
    return [{ kind: after.verdict === 'limited' ? 'newly-limited' : 'newly-denied', cause: decisionWords(after) }]
  }
  if (before.verdict !== 'passed' && after.verdict === 'passed') {
    return [{ kind: 'newly-admitted', cause: `no longer ${decisionWords(before)}` }]
  }
  if (before.verdict !== 'passed') return differentlyDenied(before, after)
  const flips: Flip[] = []
  const on = after.route === null ? '' : ` on route ${after.route}`
  if (before.route !== after.route) {
    flips.push({ kind: 'route-moved', cause: `route ${named(before.route)} → ${named(after.route)}` })
  }
  if (before.backend !== after.backend && !(before.backend !== null && isPossible(before.backend))) {
    flips.push({ kind: 'backend-moved', cause: `backend ${named(before.backend)} → ${named(after.backend)}${on}` })
  }
  if (before.model !== null && after.model !== null) flips.push(...modelFlips(before.model, after.model, on))
  return flips
}

function differentlyDenied(before: Decision, after: Decision): Flip[] {
  const isSame =
    before.verdict === after.verdict &&
    before.status === after.status &&
    before.kind === after.kind &&
    before.policy === after.policy
  if (isSame) return []
  return [{ kind: 'denied-differently', cause: `${decisionWords(before)} → ${decisionWords(after)}` }]
}

function modelFlips(before: ModelCall, after: ModelCall, on: string): Flip[] {
  const [old, now] = [before, after].map(({ provider, model }) => `${provider}/${model}`)
  const flips: Flip[] = old === now ? [] : [{ kind: 'model-changed', cause: `model ${old} → ${now}${on}` }]
  const change = priceChange(before.cost, after.cost)
  if (change !== null) flips.push({ kind: 'price-changed', cause: `the price ${change}, model ${now}${on}` })
  return flips
}

function priceChange(before: Cost | null | undefined, after: Cost | null | undefined): string | null {
  if (before === undefined || after === undefined) return null
  const [old, now] = [before, after].map((cost) => (cost?.kind === 'known' ? cost.nanoDollars : null))
  if (old === now || old === undefined || now === undefined) return null
  if (old === null) return 'becomes known'
  if (now === null) return 'becomes unknown'
  return now > old ? 'rises' : 'falls'
}

function named(name: string | null): string {
  return name ?? '(none)'
}
