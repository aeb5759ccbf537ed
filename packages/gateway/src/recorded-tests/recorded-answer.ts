import type { JsonObject } from '../schema/kit.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'

/** A response of the upstream that may have led to the outcome of a record, with the parts that were not recorded. */
interface PossibleAnswer {
  readonly reply: JsonObject
  readonly replaced: readonly string[]
}

/**
 * Returns the upstream responses to try for a record, the most probable first. The list is never empty, although a
 * denied request may have called no backend.
 */
export function possibleAnswers(record: RequestRecord): PossibleAnswer[] {
  const { llm, mcp, outcome, reason, status, responseBody } = record
  if (outcome === 'failed' && reason !== null && reason.kind !== 'Upstream') {
    return faultsOf(record).map((fault) => ({ reply: { fault }, replaced: [] }))
  }
  if (mcp !== null) {
    const tools = mcp.kind === 'tool' && mcp.name !== null ? [{ name: mcp.name }] : [{ name: 'stand-in' }]
    return [{ reply: { mcp: { tools } }, replaced: ['the answer of the MCP server'] }]
  }
  if (llm !== null && status < 400) {
    const { inputTokens, outputTokens } = llm
    const usage = { input: inputTokens ?? 0, output: outputTokens ?? 0 }
    return [{ reply: { chat: 'not recorded', usage }, replaced: ['the answer of the model'] }]
  }
  // The policy that denied the request may have run after the response of the backend, or in place of the backend.
  if (outcome === 'denied' || outcome === 'limited') return [{ reply: {}, replaced: [] }]
  const text = responseBody !== null && !responseBody.isCut ? responseBody.text : null
  const isOk = status === 200
  return [{ reply: { ...(!isOk && { status }), ...(text !== null && text !== '' && { body: text }) }, replaced: [] }]
}

/** Returns the faults of an upstream, beginning with those that fit the recorded error. */
function faultsOf({ error }: RequestRecord): string[] {
  const isLikely = ({ sign }: { sign: RegExp }): boolean => sign.test(error ?? '')
  return FAULTS.toSorted((a, b) => Number(isLikely(b)) - Number(isLikely(a))).map(({ fault }) => fault)
}

const FAULTS = [
  { fault: 'refused', sign: /refused|unreachable/i },
  { fault: 'reset', sign: /reset|closed|ended/i },
  { fault: 'silent', sign: /time/i },
]
