import type { PartProblem } from '../../core/import-result.ts'
import type { Scope } from './convert.ts'

/** Returns why Portico would reject a policy; null when Portico accepts the policy. */
export function whyInvalid(
  section: 'traffic' | 'backend' | 'frontend',
  name: string,
  value: unknown,
  { env, checks }: Scope,
): string | null {
  return messageOf(checks.policy(section, name, env.sampleOf(value)), 0)
}

/**
 * Returns why Portico would reject a config; null when Portico accepts the config. Paths in the reason leave out the
 * first `depth` steps.
 */
export function whyInvalidConfig(config: object, { env, checks }: Scope, depth: number): string | null {
  return messageOf(checks.config(env.sampleOf(config)), depth)
}

function messageOf(problems: readonly PartProblem[], depth: number): string | null {
  if (problems.length === 0) return null
  return problems
    .slice(0, 2)
    .map(({ path, message }) => {
      const place = path.slice(depth).map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
      return `${place.length === 0 ? '' : `${place.join('').replace(/^\./, '')}: `}${message}`.slice(0, 300)
    })
    .join('; ')
}
