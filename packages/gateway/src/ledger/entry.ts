import type { Cost } from '../records/cost.ts'
import type { LlmRecord } from '../records/llm-record.ts'
import type { LedgerEntry } from '../stores/store.ts'

/** The fields of a finished request that the ledger reads; the `RequestContext` of the pipeline has them. */
export interface LedgerRequest {
  readonly llm: LlmRecord | null
  readonly requestId: string | null
  readonly routeName: string | null
  readonly status: number
  readonly startedAt: number
  readonly durationMs: number
  readonly apiKey: { readonly [name: string]: unknown } | null
}

/** The parts of an entry that the request itself does not have. */
interface EntryParts {
  readonly id: string
  /** The end of the request in milliseconds since 1970. */
  readonly now: number
  readonly key: string
}

/** Returns the entry of a request; null when no model was called. */
export function entryOf(rx: LedgerRequest, { id, now, key }: EntryParts): LedgerEntry | null {
  const { llm } = rx
  if (llm === null || (llm.attempts.length === 0 && !llm.isCached)) return null
  const { usage, cost } = llm
  // The cost includes what earlier attempts were charged.
  const nanoDollars = cost?.kind === 'known' ? cost.nanoDollars + llm.charged('usd') : null
  const isKnown = cost?.kind === 'known' && nanoDollars !== null && nanoDollars <= MOST_NANO_DOLLARS
  return {
    id,
    at: Math.round(now - rx.durationMs),
    requestId: rx.requestId ?? '',
    key,
    team: textIn(rx.apiKey?.['team']),
    route: rx.routeName ?? '',
    requestedModel: shortened(llm.clientModel || llm.requestModel),
    model: shortened(llm.responseModel || llm.requestModel),
    provider: llm.provider,
    operation: llm.operation ?? '',
    status: rx.status,
    inputTokens: wholeNumber(usage.input),
    outputTokens: wholeNumber(usage.output),
    cacheReadTokens: wholeNumber(usage.cacheRead),
    cacheWriteTokens: wholeNumber(usage.cacheWrite),
    reasoningTokens: wholeNumber(usage.reasoning),
    nanoDollars: isKnown ? nanoDollars : null,
    basis: isKnown ? cost.basis : 'unknown',
    provenance: isKnown ? `${cost.row} of ${cost.table}` : whyUnknown(cost),
    firstTokenMs: llm.timeToFirstToken(rx.startedAt),
    totalMs: rx.durationMs,
    attempts: llm.attempts.length,
    cache: llm.cache?.status ?? '',
    savedNanoDollars: savedBy(llm),
  }
}

function savedBy({ savedNanoDollars: saved }: LlmRecord): number | null {
  return saved !== null && saved <= MOST_NANO_DOLLARS ? saved : null
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? shortened(value) : ''
}

function whyUnknown(cost: Cost | null): string {
  if (cost === null) return 'no prices policy'
  return cost.kind === 'unknown' ? cost.why : 'the tokens are more than a call can have'
}

/** Providers may report any number. A store takes whole ones, and sums of hours must fit into 64 bits. */
function wholeNumber(value: number | undefined): number | null {
  const rounded = Math.round(value ?? Number.NaN)
  return rounded >= 0 && rounded <= MOST_TOKENS ? rounded : null
}

/** Clients and providers choose the names of models. */
function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

const MAX_TEXT = 256
const MOST_TOKENS = 1e10
/** A million US dollars. */
const MOST_NANO_DOLLARS = 1e15
