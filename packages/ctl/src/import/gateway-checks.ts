import {
  backendPolicies,
  configFile,
  frontendPolicies,
  type Policy,
  type Problem,
  readExpression,
  Refusal,
  type Schema,
  trafficPolicies,
  validate,
} from '@portico/gateway/schema'
import type { GatewayChecks, PartProblem } from '../../../import/src/index.ts'

const SECTIONS = {
  traffic: byName(trafficPolicies),
  backend: byName(backendPolicies),
  frontend: byName(frontendPolicies),
}

function byName(policies: readonly Policy[]): ReadonlyMap<string, Schema> {
  return new Map(policies.map(({ name, schema }) => [name, schema]))
}

/** The checks with which importers validate policies, by the schema of this gateway version. */
export const gatewayChecks: GatewayChecks = {
  policy(section, name, value) {
    const schema = SECTIONS[section].get(name)
    return schema === undefined ? [{ path: [], message: `there is no policy ${name}` }] : problemsOf(schema, value)
  },
  config: (value) => problemsOf(configFile, value),
  expression(source, phase) {
    const read = readExpression(source, phase)
    return read instanceof Refusal ? (read.detail ?? 'expected an expression') : null
  },
}

function problemsOf(schema: Schema, value: unknown): readonly PartProblem[] {
  const result = validate(schema, value)
  return result.ok ? [] : result.problems.map((problem) => ({ path: problem.path, message: messageOf(problem) }))
}

/** Returns the message about a problem without the wrong value, which may be a secret. */
function messageOf({ code, found, expected }: Problem): string {
  const detail = code === 'bad_expression' ? / \((.*)\)$/s.exec(expected)?.[1] : undefined
  if (detail !== undefined) return detail
  return `${code === 'missing_key' || code === 'conflict' ? `${found}, ` : ''}expected ${expected}`
}
