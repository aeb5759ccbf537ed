import type { Backend } from '@portico/gateway/ir'
import {
  backendPolicies,
  frontendPolicies,
  inResource,
  isIssuer,
  printPath,
  Refusal,
  resolveReferences,
  trafficPolicies,
  validate,
} from '@portico/gateway/schema'
import type { ResourceChecks } from '@portico/gateway/checks'
import type { Policy, ReferredObjects, TrafficPolicies } from '@portico/gateway/schema'
import type { Resource } from '../../resources/resource.ts'
import { printProblems } from '../backends/backend.ts'
import { closedForm, isWrittenShadow, withoutBadRules } from './closed-forms.ts'
import type { Context } from '../context.ts'
import { referredObjects } from '../backends/referred-objects.ts'

/** Policies by section. */
export const policySections = {
  frontend: frontendPolicies,
  traffic: trafficPolicies,
  backend: backendPolicies,
} as const
type Section = keyof typeof policySections

interface FieldContext {
  at: string[]
  made: Record<string, unknown>
  closed: Record<string, unknown>
}

/** Translates the fields of a GwPolicy or a GwFilter. An invalid field affects only itself, and fails closed when it is protective. */
export class PolicyFields {
  readonly problems: string[] = []
  readonly invalid: Backend[] = []
  readonly #owner: { kind: 'GwPolicy' | 'GwFilter'; place: string }
  readonly #objects: ReferredObjects
  readonly #checks: ResourceChecks

  constructor(context: Context, kind: 'GwPolicy' | 'GwFilter', { metadata: { name, namespace = '' } }: Resource) {
    this.#owner = { kind, place: `${namespace}/${name}` }
    this.#checks = context.settings.checks
    const objects = referredObjects(context, { kind, namespace })
    this.#objects = { ...objects, backend: (reference) => this.#backend(objects.backend(reference)) }
  }

  /** Translates a section; null when it is absent. */
  section(section: Section, written: unknown): object | null {
    if (typeof written !== 'object' || written === null) return null
    const made: Record<string, unknown> = {}
    const closed: Record<string, unknown> = {}
    const policies = (policySections[section] as readonly Policy[]).filter(({ fileOnly }) => fileOnly !== true)
    for (const [name, raw] of Object.entries(written)) {
      const policy = policies.find((each) => each.name === name)
      if (policy !== undefined) this.#field(policy, raw, { at: ['spec', section, name], made, closed })
      else if (name !== 'phase') this.problems.push(`spec.${section}.${name}: is unknown and was ignored`)
    }
    // Closed forms win over valid fields: the closed form of one field may set another, such as `extAuth`.
    return { ...made, ...closed }
  }

  /** The closed forms of all fields of a section; null when it is absent. */
  closedSection(section: Section, written: unknown): object | null {
    if (typeof written !== 'object' || written === null) return null
    const policies = policySections[section] as readonly Policy[]
    const forms = Object.entries(written).map(([name, raw]) => {
      const policy = policies.find((each) => each.name === name && each.fileOnly !== true)
      return policy === undefined ? {} : this.#closed(policy, raw)
    })
    return Object.assign({}, ...forms) as object
  }

  /** Translates a field, or replaces an invalid one by its closed form. */
  #field(policy: Policy, raw: unknown, { at, made, closed }: FieldContext): void {
    const read = validate(inResource(policy.schema), raw)
    if (!read.ok) {
      this.problems.push(printProblems(read.problems.map((each) => ({ ...each, path: [...at, ...each.path] }))))
      const mended = withoutBadRules(policy.name, raw, read.problems)
      const again = mended === null ? null : validate(inResource(policy.schema), mended)
      if (again?.ok === true) made[policy.name] = resolveReferences(policy.schema, again.value, this.#objects, at).value
      else Object.assign(closed, this.#closed(policy, raw))
      return
    }
    const before = this.problems.length
    const { value, problems } = resolveReferences(policy.schema, read.value, this.#objects, at)
    const fault = problems.length > 0 ? printProblems(problems) : this.#faultIn(policy, value, at)
    if (fault !== null) {
      this.problems.push(fault)
      Object.assign(closed, this.#closed(policy, raw))
      return
    }
    // Only this function knows the path of the reference.
    for (let index = before; index < this.problems.length; index++) {
      this.problems[index] = `${at.join('.')}: ${this.problems[index]}`
    }
    made[policy.name] = value
  }

  /** Returns the fault that keeps every data plane from compiling the field; null if there is none. */
  #faultIn(policy: Policy, value: unknown, at: string[]): string | null {
    const issuer = issuerFault(policy, value)
    if (issuer !== null) return issuer
    // Certificates are checked when they are read.
    const isChecked = policy.section === 'backend' && policy.name === 'tls'
    const faults = isChecked ? [] : this.#checks.policy(policy.section, policy.name, value)
    if (faults.length === 0) return null
    return faults.map(({ path, message }) => `${printPath([...at, ...path])}: ${message}`).join('; ')
  }

  /** A call to a missing backend fails according to the `failureMode` of the policy. */
  #backend(found: string | Refusal): string {
    if (!(found instanceof Refusal)) return found
    const reason = found.detail ?? 'backend not found'
    this.problems.push(reason)
    return this.#unreachable(reason)
  }

  #closed({ section, name }: Policy, written: unknown): Record<string, unknown> {
    if (isWrittenShadow(name, written)) return {}
    const reason = `${this.#owner.kind} ${this.#owner.place}: ${section}.${name} cannot be used`
    return closedForm(section, name, () => this.#unreachable(reason))
  }

  /** Returns the key of an invalid backend, which fails every call; backends with the same reason are shared. */
  #unreachable(reason: string): string {
    const known = this.invalid.find(({ target }) => target.kind === 'invalid' && target.reason === reason)
    if (known !== undefined) return known.key
    const kind = this.#owner.kind === 'GwPolicy' ? 'policy' : 'filter'
    const key = `backend/${kind}/${this.#owner.place}/${this.invalid.length}`
    this.invalid.push({ key, name: 'invalid', target: { kind: 'invalid', reason } })
    return key
  }
}

/** MCP clients are directed to the first issuer. */
function issuerFault({ section, name }: Policy, value: unknown): string | null {
  if (section !== 'traffic' || name !== 'jwtAuthentication') return null
  const { mcp, providers } = value as NonNullable<TrafficPolicies['jwtAuthentication']>
  if (mcp === undefined || isIssuer(providers[0]?.issuer ?? '')) return null
  return 'spec.traffic.jwtAuthentication.providers[0].issuer: must be a URL without user, query or fragment, because MCP clients are directed there'
}
