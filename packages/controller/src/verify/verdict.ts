import { createHash } from 'node:crypto'
import type { PolicyTestsResult } from '@portico/gateway/policy-tests'
import {
  type Condition,
  condition,
  type PolicyVerification,
  type Reason,
  type VerifiedRecord,
} from '@portico/translate'

/** The outcome of a verification, as the status of the GwPolicy shows it. */
export interface Verdict {
  readonly uid: string
  readonly condition: Condition
  readonly verified: VerifiedRecord
}

interface Finding {
  readonly reason: Reason
  readonly message: string
}

/** The hash of the spec and the tests of a policy. */
export function inputOf({ uid, spec, tests }: PolicyVerification): string {
  return createHash('sha256')
    .update(JSON.stringify([uid, spec, tests?.text ?? null]))
    .digest('base64url')
}

/** Why the tests of a policy cannot run; null when they can. */
export function obstacleOf({ spec, tests, problem }: PolicyVerification): Finding | null {
  if (problem !== null) return problem
  const tooLong = (what: string): Finding => ({
    reason: 'TestsInvalid',
    message: `${what} longer than ${MOST_CHARACTERS} characters`,
  })
  if (spec.length > MOST_CHARACTERS) return tooLong('the spec is')
  return (tests?.text.length ?? 0) > MOST_CHARACTERS ? tooLong(`${tests?.location}: the tests are`) : null
}

export function findingOf(result: PolicyTestsResult): Finding {
  switch (result.kind) {
    case 'passed': {
      const { tests, gateways } = result
      const at = `${gateways.length === 1 ? 'Gateway' : 'Gateways'} ${gateways.join(', ')}`
      return { reason: 'Verified', message: `${tests} ${tests === 1 ? 'test' : 'tests'} passed at ${at}` }
    }
    case 'failed':
      return { reason: 'TestsFailed', message: result.message }
    case 'invalid':
      return { reason: 'TestsInvalid', message: result.message }
    case 'exceeded':
      return { reason: 'Timeout', message: result.message }
  }
}

/** The verdict of a run; `before` is the record of the spec that was in force. */
export function verdictOf(
  wanted: PolicyVerification,
  { reason, message }: Finding,
  before: VerifiedRecord | null,
): Verdict {
  const { uid, generation, spec } = wanted
  const isVerified = reason === 'Verified'
  const { checked: _checked, ...force } = before ?? {}
  const verified = { checked: inputOf(wanted), ...(isVerified ? { generation, spec } : force) }
  const kept =
    force.generation === undefined
      ? 'no spec is in force, and fields that guard access are closed'
      : `generation ${force.generation} stays in force`
  const text = isVerified ? message : `${message.slice(0, MOST_MESSAGE)}; ${kept}`
  return { uid, condition: condition('Verified', isVerified, { reason, message: text, generation }), verified }
}

/** The limit of the status for the spec in force. */
const MOST_CHARACTERS = 262_144
const MOST_MESSAGE = 4_096
