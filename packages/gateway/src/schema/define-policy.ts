import { withShadowMode } from './fields/shadow-mode.ts'
import type { Output, Schema } from './kit.ts'

export type Section = 'frontend' | 'traffic' | 'backend'
/** The objects that a policy attaches to. An MCP target accepts fewer policies than a backend. */
export type AttachmentPoint = 'gateway' | 'listener' | 'route' | 'backend' | 'mcpTarget'
/** Before or after the route of a request is chosen. */
export type Phase = 'PreRouting' | 'PostRouting'
type Merge = 'replace' | 'join'

/** A policy as data. Its folder is `policies/<section>/<name in kebab case>`. */
export interface Policy<
  Name extends string = string,
  S extends Schema = Schema,
  M extends Merge = Merge,
  D extends boolean = boolean,
> {
  name: Name
  section: Section
  /** The objects of the config file that may have this policy. */
  attach: readonly AttachmentPoint[]
  /** The effect of several attachments: `replace` takes the nearest one whole, `join` takes all of them. */
  merge: M
  /** The policy's key in `policySelection` of the trace; by field when its parts have their own keys. */
  traceKey?: string | Readonly<Record<string, string>>
  /** The phases in which a traffic policy may run; after routing by default. */
  phases?: readonly Phase[]
  fileOnly?: boolean
  /** Whether the policy applies with its defaults even when the config does not mention it. */
  always?: boolean
  /** Whether the policy decides if a request may pass. Such a policy can run as a shadow policy: see `pipeline/shadow`. */
  decides?: D
  schema: S
}

export function definePolicy<
  const Name extends string,
  S extends Schema,
  const M extends Merge,
  const D extends boolean = false,
>(policy: Policy<Name, S, M, D>): Policy<Name, S, M, D> {
  return policy.decides === true ? { ...policy, schema: withShadowMode(policy.schema) } : policy
}

/** The parsed form of a set of policies, each key optional. */
export type PoliciesOf<All extends readonly Policy[]> = {
  [P in All[number] as P['name']]?: Output<P['schema']>
}

/** The names of the policies that can run as shadow policies. */
export type DecidingOf<All extends readonly Policy[]> = Extract<All[number], { decides?: true }>['name']

/** Names of the policies whose attachments are all joined. */
export type JoinedOf<All extends readonly Policy[]> = Extract<All[number], { merge: 'join' }>['name']
