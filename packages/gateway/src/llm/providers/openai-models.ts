import type { FormatName } from '@portico/chat'

/** Properties of an OpenAI model, read from its name. Azure deployments usually keep the name of the model. */

/**
 * The version as a number: 501 for `gpt-5.1-mini`; null for other models, including `gpt-oss`, which runs on servers of
 * other vendors.
 */
function gptVersion(model: string): number | null {
  const found = /^(?:openai\/)?(?:chat)?gpt-(\d{1,2})(?:\.(\d{1,2}))?/.exec(model)
  return found === null ? null : Number(found[1]) * 100 + Number(found[2] ?? 0)
}

function isOSeries(model: string): boolean {
  return /^(?:openai\/)?o\d/.test(model)
}

/** Whether the model reasons before it responds. */
function reasons(model: string): boolean {
  return isOSeries(model) || ((gptVersion(model) ?? 0) >= 500 && !model.includes('-chat'))
}

/** Whether the model reasons with tools only in the Responses format. */
function reasonsWithToolsElsewhere(model: string): boolean {
  return reasons(model) && (gptVersion(model) ?? 0) > 502
}

/** Whether the model is not available as Chat Completions. */
function isResponsesOnly(model: string): boolean {
  if (/^(?:codex|computer-use)-/.test(model)) return true
  return reasons(model) && /-(?:codex|pro|deep-research)\b/.test(model)
}

/** The formats of a model at OpenAI itself, the best first. */
export function openAiFormats(model: string): readonly [FormatName, ...FormatName[]] {
  if (isResponsesOnly(model)) return RESPONSES_ONLY
  return reasonsWithToolsElsewhere(model) ? RESPONSES_FIRST : COMPLETIONS_FIRST
}

/**
 * The quirks of Chat Completions for a model; `encodeRequest` of that format lists them. `isVendor` means that the
 * endpoint has only OpenAI's models.
 */
export function openAiQuirks(model: string, isVendor: boolean): ReadonlySet<string> {
  const version = gptVersion(model)
  if (version === null && !isOSeries(model)) return isVendor ? UNKNOWN : NONE
  const quirks = new Set(['completionTokens', 'noReasoningHistory'])
  if (!reasons(model)) quirks.add('noReasoning')
  if (isOSeries(model) || (version === 500 && reasons(model))) quirks.add('noSampling').add('noStop')
  if (reasonsWithToolsElsewhere(model)) quirks.add('noReasoningWithTools')
  if (version !== null && version >= 500) quirks.add('customTools')
  if (version !== null && version >= 506) quirks.add('cacheBreakpoints')
  return quirks
}

export const COMPLETIONS_FIRST: readonly [FormatName, FormatName] = ['completions', 'responses']
const RESPONSES_FIRST: readonly [FormatName, FormatName] = ['responses', 'completions']
const RESPONSES_ONLY: readonly [FormatName] = ['responses']
/** Deployments and fine-tuned models have arbitrary names; every OpenAI model accepts `max_completion_tokens`. */
const UNKNOWN: ReadonlySet<string> = new Set(['completionTokens', 'noReasoningHistory'])
export const NONE: ReadonlySet<string> = new Set()
