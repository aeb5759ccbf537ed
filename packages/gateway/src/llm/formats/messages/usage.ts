import { countAt, objectAt, textAt } from '../../../wire/json.ts'
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
  const serviceTier = textAt(usage, 'service_tier') ?? before.serviceTier
  const merged: OwnUsage = {
    ...larger('input', before, countAt(usage, 'input_tokens')),
    ...larger('output', before, countAt(usage, 'output_tokens')),
    ...larger('cacheRead', before, countAt(usage, 'cache_read_input_tokens')),
    ...larger('cacheWrite', before, countAt(usage, 'cache_creation_input_tokens')),
    ...larger('reasoning', before, countAt(objectAt(usage, 'output_tokens_details'), 'thinking_tokens')),
  }
  return serviceTier === undefined ? merged : { ...merged, serviceTier }
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

function larger(field: Exclude<keyof OwnUsage, 'serviceTier'>, before: OwnUsage, count: number | undefined): OwnUsage {
  const known = before[field]
  if (count === undefined) return known === undefined ? {} : { [field]: known }
  return { [field]: known === undefined ? count : Math.max(known, count) }
}
