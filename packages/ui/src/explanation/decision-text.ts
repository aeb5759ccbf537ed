import type { ListedRequest, RequestSummary } from '@portico/gateway/admin-api'
import { formatCount } from '../format/numbers.ts'

/** One line on why a request ended as it did. A request that passed begins with its model or tool call. */
export function decisionText(request: ListedRequest): string {
  const { headline = request.error ?? '' } = request
  return [callDetails(request), asSentence(headline)].filter((part) => part !== '').join(' · ')
}

/** The model or tool call of a request and its attempts; empty for a request that did not pass. */
export function callDetails({ reason, error, llm, mcp, attempts }: RequestSummary): string {
  if (reason !== null || error !== null) return ''
  const parts = [mcp === null ? null : mcpLine(mcp), llm === null ? null : llmLine(llm)].filter((part) => part !== null)
  if (attempts > 1) parts.push(`${attempts} attempts`)
  return parts.join(' · ')
}

/** A headline with a capital: the gateway writes them in lower case. */
export function asSentence(headline: string): string {
  return headline.slice(0, 1).toUpperCase() + headline.slice(1)
}

/** Null for a message that failed: its headline says so. */
function mcpLine({ method, name, outcome }: NonNullable<RequestSummary['mcp']>): string | null {
  if (outcome !== null && outcome !== 'ok') return null
  return name === null ? method : `${method} ${name}`
}

function llmLine({
  requestModel,
  responseModel,
  inputTokens,
  outputTokens,
}: NonNullable<RequestSummary['llm']>): string {
  const model =
    responseModel === '' || responseModel === requestModel ? requestModel : `${requestModel} → ${responseModel}`
  if (inputTokens === null && outputTokens === null) return model
  return `${model} · ${formatCount(inputTokens ?? 0)} + ${formatCount(outputTokens ?? 0)} tokens`
}
