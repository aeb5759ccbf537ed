import { trafficPolicies } from './index.ts'
import type { Policy } from '../schema/define-policy.ts'

/** Every key that a trace's `effectivePolicy` always has: null where the policy does not hold. */
export const TRACE_KEYS = [
  'localRateLimit',
  'remoteRateLimit',
  'authorization',
  'jwt',
  'oidc',
  'basicAuth',
  'apiKey',
  'extAuthz',
  'extProc',
  'transformation',
  'csrf',
  'directResponse',
  'requestHeaderModifier',
  'responseHeaderModifier',
  'requestRedirect',
  'urlRewrite',
  'cors',
] as const

/** Returns the configs of policies by their keys in traces; a policy without such a key keeps its name. */
export function configsByTraceKey(configs: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown: Record<string, unknown> = Object.fromEntries(TRACE_KEYS.map((key) => [key, null]))
  for (const [name, config] of Object.entries(configs)) {
    const key = traceKeys.get(name) ?? name
    if (typeof key === 'string') shown[key] = config
    else for (const [field, fieldKey] of Object.entries(key)) shown[fieldKey] = partOf(config, field) ?? null
  }
  return shown
}

const traceKeys = new Map(trafficPolicies.map((policy: Policy) => [policy.name, policy.traceKey ?? policy.name]))

/** One field of a config, of each of several that were joined, or of each form of a conditional one. */
function partOf(config: unknown, field: string): unknown {
  if (Array.isArray(config)) return someOf(config.map((one) => partOf(one, field)))
  if (typeof config !== 'object' || config === null) return undefined
  if (!('conditional' in config) || !Array.isArray(config.conditional)) return fieldOf(config, field)
  const forms = someOf(
    config.conditional.map((form: { policy: unknown }) => {
      const policy = partOf(form.policy, field)
      return policy === undefined ? undefined : { ...form, policy }
    }),
  )
  return forms === undefined ? undefined : { conditional: forms }
}

function fieldOf(config: object, field: string): unknown {
  return Object.entries(config).find(([name]) => name === field)?.[1]
}

function someOf(values: unknown[]): unknown[] | undefined {
  const given = values.filter((value) => value !== undefined)
  return given.length === 0 ? undefined : given
}
