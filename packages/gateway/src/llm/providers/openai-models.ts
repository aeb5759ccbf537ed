import type { FormatName } from '../middle.ts'

/** What the name of a model of OpenAI says about it. Deployments on Azure mostly carry the name too. */

/** 501 for `gpt-5.1-mini`; null for all that is no GPT. `gpt-oss` runs on servers of others. */
function gptVersion(model: string): number | null {
  const found = /^(?:openai\/)?(?:chat)?gpt-(\d{1,2})(?:\.(\d{1,2}))?/.exec(model)
  return found === null ? null : Number(found[1]) * 100 + Number(found[2] ?? 0)
}

function isOSeries(model: string): boolean {
  return /^(?:openai\/)?o\d/.test(model)
}

/** Models that think before they answer. */
function reasons(model: string): boolean {
  return isOSeries(model) || ((gptVersion(model) ?? 0) >= 500 && !model.includes('-chat'))
}

/** Of these, chats with tools can be had with reasoning in the Responses format alone. */
function reasonsWithToolsElsewhere(model: string): boolean {
  return reasons(model) && (gptVersion(model) ?? 0) > 502
}

/** Not to be had as chat completions at all. */
function isResponsesOnly(model: string): boolean {
  if (/^(?:codex|computer-use)-/.test(model)) return true
  return reasons(model) && /-(?:codex|pro|deep-research)\b/.test(model)
}

/** For the vendor itself, which has every model in its best format. */
export function openAiFormats(model: string): readonly [FormatName, ...FormatName[]] {
  if (isResponsesOnly(model)) return RESPONSES_ONLY
  return reasonsWithToolsElsewhere(model) ? RESPONSES_FIRST : COMPLETIONS_FIRST
}

/** Quirks of chat completions, as the encoder of that format lists them; `isVendor`: no other vendor has models there. */
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
/** Names of deployments and of models that were tuned are free; every model of the vendor takes the newer limit. */
const UNKNOWN: ReadonlySet<string> = new Set(['completionTokens', 'noReasoningHistory'])
export const NONE: ReadonlySet<string> = new Set()
