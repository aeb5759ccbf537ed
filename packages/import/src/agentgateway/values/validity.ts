import type { PartProblem } from '../../core/import-result.ts'
import type { Scope } from './convert.ts'

/** Why the gateway would reject a policy; null when it accepts the policy. */
export function whyInvalid(
  section: 'traffic' | 'backend' | 'frontend',
  name: string,
  value: unknown,
  { env, checks }: Scope,
): string | null {
  return messageOf(checks.policy(section, name, env.sampleOf(value)), 0)
}

/** Why the gateway would reject a config with a part at this depth; null when it accepts the part. */
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
