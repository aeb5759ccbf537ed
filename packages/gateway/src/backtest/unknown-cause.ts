import type { Outcome } from '../simulate/outcome.ts'

/** Headers that the gateway reads of every request before it decides, for other purposes than the decision. */
const READ_ONCE: ReadonlySet<string> = new Set(['content-type', 'content-encoding'])

/**
 * Returns the reason why the outcome of a replayed request is unknown, such as a missing body that a policy reads; null
 * when the outcome is known.
 */
export function unknownCause(outcome: Outcome, isBodyMissing: boolean): string | null {
  const [unknown] = outcome.unknowns
  if (unknown !== undefined) return UNKNOWNS[unknown.kind]
  const { request } = outcome
  if (request === null) return `no decision: ${outcome.closedBy ?? 'the request was not admitted'}`
  const read = readOf(outcome.missingReads)
  if (read !== null) return read === '*' ? 'all headers are read' : `the header ${read} is not recorded`
  const { bufferedBody, llm, mcp } = request
  if (isBodyMissing && mcp !== null) return 'the body of an MCP message is not recorded'
  if (isBodyMissing && bufferedBody !== null && llm === null) return 'the body of the request is not recorded'
  return null
}

const UNKNOWNS = {
  upstream: 'the answer of a service is not recorded',
  name: 'the addresses of a name are not recorded',
  answer: 'the answer of a service is not recorded',
  token: 'the answer of a token endpoint is not recorded',
  process: 'the answer of a program is not recorded',
  listener: 'the listener is unknown',
} as const

function readOf(reads: readonly string[]): string | null {
  const decisive = reads.find((name) => !READ_ONCE.has(name))
  if (decisive !== undefined) return decisive
  return reads.find((name, index) => reads.indexOf(name) !== index) ?? null
}
