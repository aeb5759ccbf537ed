import { countAt, objectAt, textAt, withoutAbsent } from '../../../wire/json.ts'
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
  return withoutAbsent({
    input: larger(before.input, countAt(usage, 'input_tokens')),
    output: larger(before.output, countAt(usage, 'output_tokens')),
    cacheRead: larger(before.cacheRead, countAt(usage, 'cache_read_input_tokens')),
    cacheWrite: larger(before.cacheWrite, countAt(usage, 'cache_creation_input_tokens')),
    reasoning: larger(before.reasoning, countAt(objectAt(usage, 'output_tokens_details'), 'thinking_tokens')),
    serviceTier: textAt(usage, 'service_tier') ?? before.serviceTier,
  })
}

/** Null when nothing was reported. */
export function usageOf(own: OwnUsage): Usage | null {
  const { input, ...others } = own
  if (input === undefined && own.output === undefined) return null
  if (input === undefined) return others
  return {
    ...others,
    input: input + (own.cacheRead ?? 0) + (own.cacheWrite ?? 0),
    providerInput: input,
    ...(own.output !== undefined && { providerTotal: input + own.output }),
  }
}

export function encodeUsage(usage: Usage): JsonObject {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = usage
  return {
    input_tokens: Math.max(0, input - cacheRead - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
    ...(usage.reasoning !== undefined && { output_tokens_details: { thinking_tokens: usage.reasoning } }),
    ...(usage.serviceTier !== undefined && { service_tier: usage.serviceTier }),
  }
}

function larger(known: number | undefined, count: number | undefined): number | undefined {
  return known === undefined || count === undefined ? (count ?? known) : Math.max(known, count)
}
