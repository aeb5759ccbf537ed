import type { Output, Schema } from './kit.ts'

export type Section = 'frontend' | 'traffic' | 'backend'
/** A part of an MCP backend takes less than a backend. */
export type AttachmentPoint = 'gateway' | 'listener' | 'route' | 'backend' | 'mcpTarget'
/** Before or after the route of a request is chosen. */
export type Phase = 'PreRouting' | 'PostRouting'
export type Merge = 'replace' | 'join'

/** A policy as data. Its folder is `policies/<section>/<name in kebab case>`. */
export interface Policy<Name extends string = string, S extends Schema = Schema, M extends Merge = Merge> {
  name: Name
  section: Section
  /** The objects of the config file that may carry it. */
  attach: readonly AttachmentPoint[]
  /** What happens when several attachments set it: the nearest one replaces the others whole, or all are joined. */
  merge: M
  /** Its key in the trace's `policySelection`; by field when its parts have keys of their own. */
  traceKey?: string | Readonly<Record<string, string>>
  /** Where a traffic policy may run; after routing when left out. */
  phases?: readonly Phase[]
  fileOnly?: boolean
  /** Holds with its defaults even where the config does not mention it. */
  always?: boolean
  schema: S
}

export function definePolicy<const Name extends string, S extends Schema, const M extends Merge>(
  policy: Policy<Name, S, M>,
): Policy<Name, S, M> {
  return policy
}

/** The parsed form of a set of policies, each key optional. */
export type PoliciesOf<All extends readonly Policy[]> = {
  [P in All[number] as P['name']]?: Output<P['schema']>
}

/** Names of the policies whose attachments are all joined. */
export type JoinedOf<All extends readonly Policy[]> = Extract<All[number], { merge: 'join' }>['name']
