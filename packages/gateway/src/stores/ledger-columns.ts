import type { LedgerEntry } from './store.ts'

/** The columns of the table of entries by the field of an entry. */
export const LEDGER_COLUMNS: Readonly<Record<keyof LedgerEntry, string>> = {
  id: 'id',
  at: 'at',
  requestId: 'request_id',
  key: 'key',
  team: 'team',
  route: 'route',
  requestedModel: 'requested_model',
  model: 'model',
  provider: 'provider',
  operation: 'operation',
  status: 'status',
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  cacheReadTokens: 'cache_read_tokens',
  cacheWriteTokens: 'cache_write_tokens',
  reasoningTokens: 'reasoning_tokens',
  nanoDollars: 'nano_dollars',
  basis: 'basis',
  provenance: 'provenance',
  firstTokenMs: 'first_token_ms',
  totalMs: 'total_ms',
  attempts: 'attempts',
  cache: 'cache',
  savedNanoDollars: 'saved_nano_dollars',
}

/** The fields that entries in the spool of an older version do not have. */
export const ADDED_FIELDS: Pick<LedgerEntry, 'cache' | 'savedNanoDollars'> = { cache: '', savedNanoDollars: null }
