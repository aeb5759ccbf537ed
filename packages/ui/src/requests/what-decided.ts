import type { RequestSummary } from '@portico/gateway/admin-api'
import { formatCount } from '../format/numbers.ts'

/** In a line what decided about a request that did not simply pass, or what a model or a tool did. */
export function whatDecided({ reason, error, llm, mcp, attempts }: RequestSummary): string {
  if (reason !== null) {
    if (reason.policy === null && error !== null) return `${reason.kind}: ${error}`
    const by = reason.policy ?? reason.kind
    return [`${by}:`, reason.code.replaceAll('_', ' '), printValues(reason.values)]
      .filter((part) => part !== '')
      .join(' ')
  }
  if (error !== null) return error
  const parts = [mcp === null ? null : mcpLine(mcp), llm === null ? null : llmLine(llm)].filter((part) => part !== null)
  if (attempts > 1) parts.push(`${attempts} attempts`)
  return parts.join(' · ')
}

function mcpLine({ method, name, outcome }: NonNullable<RequestSummary['mcp']>): string {
  const what = name === null ? method : `${method} ${name}`
  return outcome === null || outcome === 'ok' ? what : `${what}: ${outcome}`
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

/** Plain values only: the whole is in the detail. */
function printValues(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ')
}
