import { countAt, objectAt, put, textAt } from '../../../wire/json.ts'
import type { JsonObject, Usage } from '../../middle.ts'

/** Numbers as this format says them: its input leaves out what was read from, and written to, the cache. */
export interface OwnUsage {
  input?: number
  output?: number
  cacheRead?: number
  cacheWrite?: number
  reasoning?: number
  serviceTier?: string
}

/** A stream says usage at its start and at its end. Counts only grow, and some servers end with zeros. */
export function mergeUsage(before: OwnUsage, usage: JsonObject): OwnUsage {
  const merged: OwnUsage = {}
  put(merged, 'input', larger(before.input, countAt(usage, 'input_tokens')))
  put(merged, 'output', larger(before.output, countAt(usage, 'output_tokens')))
  put(merged, 'cacheRead', larger(before.cacheRead, countAt(usage, 'cache_read_input_tokens')))
  put(merged, 'cacheWrite', larger(before.cacheWrite, countAt(usage, 'cache_creation_input_tokens')))
  const thought = countAt(objectAt(usage, 'output_tokens_details'), 'thinking_tokens')
  put(merged, 'reasoning', larger(before.reasoning, thought))
  put(merged, 'serviceTier', textAt(usage, 'service_tier') ?? before.serviceTier)
  return merged
}

/** Null when nothing was reported. */
export function usageOf(own: OwnUsage): Usage | null {
  const { input, output } = own
  if (input === undefined && output === undefined) return null
  const usage: Usage = { ...own }
  if (input === undefined) return usage
  usage.input = input + (own.cacheRead ?? 0) + (own.cacheWrite ?? 0)
  usage.providerInput = input
  if (output !== undefined) usage.providerTotal = input + output
  return usage
}

export function encodeUsage(usage: Usage): JsonObject {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = usage
  const encoded: JsonObject = {
    input_tokens: Math.max(0, input - cacheRead - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
  }
  if (usage.reasoning !== undefined) encoded.output_tokens_details = { thinking_tokens: usage.reasoning }
  put(encoded, 'service_tier', usage.serviceTier)
  return encoded
}

function larger(known: number | undefined, count: number | undefined): number | undefined {
  return known === undefined || count === undefined ? (count ?? known) : Math.max(known, count)
}
