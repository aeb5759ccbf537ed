import { countAt, objectsAt } from '@portico/http/json'
import type { JsonObject, Usage } from '../../middle.ts'

/** Decodes `usageMetadata`. The prompt count includes cached tokens; the candidates count excludes thoughts. */
export function decodeUsage(metadata: JsonObject): Usage {
  const prompt = countAt(metadata, 'promptTokenCount')
  const thoughts = countAt(metadata, 'thoughtsTokenCount')
  const candidates = countAt(metadata, 'candidatesTokenCount')
  const total = countAt(metadata, 'totalTokenCount')
  const input = sum(prompt, countAt(metadata, 'toolUsePromptTokenCount'))
  // Gemini omits zeros, so the output count may follow only from the total.
  const output =
    sum(candidates, thoughts) ?? (input !== undefined && total !== undefined ? Math.max(0, total - input) : undefined)
  return {
    ...present('input', input),
    ...present('output', output),
    ...present('cacheRead', countAt(metadata, 'cachedContentTokenCount')),
    ...present('reasoning', thoughts),
    ...present('inputAudio', tokensOf(metadata, 'promptTokensDetails', 'AUDIO')),
    ...present('inputImage', tokensOf(metadata, 'promptTokensDetails', 'IMAGE')),
    ...present('outputAudio', tokensOf(metadata, 'candidatesTokensDetails', 'AUDIO')),
    ...present('providerInput', prompt),
    ...present('providerTotal', total),
  }
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0)
}

function tokensOf(metadata: JsonObject, list: string, modality: string): number | undefined {
  const detail = objectsAt(metadata, list).find((entry) => entry.modality === modality)
  return detail === undefined ? undefined : countAt(detail, 'tokenCount')
}

function present(name: keyof Usage, value: number | undefined): Usage {
  return value === undefined ? {} : { [name]: value }
}
