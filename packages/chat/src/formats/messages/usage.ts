import { countAt, objectAt, put, textAt } from '@portico/http/json'
import type { JsonObject, Usage } from '../../middle.ts'

/** Counts of this format: its `input` excludes tokens read from and written to the cache. */
export type OwnUsage = Pick<Usage, 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'reasoning' | 'serviceTier'>

/** Counts of one stream up to now: `before`, and a record's `usage`. */
export function addReport(before: OwnUsage, usage: JsonObject): OwnUsage {
  const report: OwnUsage = {}
  put(report, 'input', countAt(usage, 'input_tokens'))
  put(report, 'output', countAt(usage, 'output_tokens'))
  put(report, 'cacheRead', countAt(usage, 'cache_read_input_tokens'))
  put(report, 'cacheWrite', countAt(usage, 'cache_creation_input_tokens'))
  put(report, 'reasoning', countAt(objectAt(usage, 'output_tokens_details'), 'thinking_tokens'))
  put(report, 'serviceTier', textAt(usage, 'service_tier'))
  return mergeReports(before, report)
}

/**
 * Counts after a later report of the same stream. Reports are totals, so the last report of each class counts, and a class
 * that it leaves out keeps its count: vLLM begins with all tokens as `input`, and ends with most of them as `cacheRead`.
 * Some servers end with zeros: a report without a single input token says nothing of the input, and one without output
 * tokens says nothing of the output.
 */
export function mergeReports(before: OwnUsage, report: OwnUsage): OwnUsage {
  const merged: OwnUsage = { ...before, ...report }
  const inputTokens = (report.input ?? 0) + (report.cacheRead ?? 0) + (report.cacheWrite ?? 0)
  if (inputTokens === 0) for (const name of INPUT_CLASSES) put(merged, name, before[name])
  if ((report.output ?? 0) === 0) for (const name of OUTPUT_CLASSES) put(merged, name, before[name])
  return merged
}

const INPUT_CLASSES = ['input', 'cacheRead', 'cacheWrite'] as const
const OUTPUT_CLASSES = ['output', 'reasoning'] as const

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
