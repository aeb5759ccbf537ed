import type { SourcePosition } from '../core/source.ts'

/** Routes of gateways that choose the first rule that fits. Every importer of such a gateway makes these. */

/** A condition on the path of a request, without its query. */
export type PathCondition =
  | PathText
  /** A pattern in RE2 syntax that fits the whole path. */
  | { readonly kind: 'pattern'; readonly regex: string }

/**
 * A path, a text at the start of the path (`start`: `/a` fits `/ab`), or whole segments at its start (`segments`: `/a` fits
 * `/a/b`, not `/ab`). The text is in lower case if letter case does not matter.
 */
interface PathText {
  readonly kind: 'exact' | 'start' | 'segments'
  readonly path: string
  readonly isCaseless?: true
}
/** A condition on a header or a query parameter: an exact value, or a pattern for the whole value. */
export interface FieldCondition {
  readonly name: string
  readonly value: { readonly exact: string } | { readonly regex: string }
}

/** Conditions that must all hold. */
export interface HttpMatch {
  readonly path: PathCondition | null
  readonly method: string | null
  readonly headers: readonly FieldCondition[]
  readonly query: readonly FieldCondition[]
}

export const ANY_MATCH: HttpMatch = { path: null, method: null, headers: [], query: [] }

/** The upstream or the status that requests get; `untold` when tests cannot state it. */
type Outcome =
  | { readonly kind: 'proxy'; readonly addresses: readonly string[]; pathFor(this: void, path: string): string }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'untold' }

/** A route that takes requests unless an earlier rule of its port takes them. */
export interface HttpRule {
  readonly name: string
  readonly at: SourcePosition
  /** The line of the source, for the comment above the route. */
  readonly source: string
  /** Names, exact or `*.name`, or variables with a name (`${NAME}`); empty for every host. */
  readonly hosts: readonly string[]
  /** Empty for every request. */
  readonly matches: readonly HttpMatch[]
  readonly policies: Readonly<Record<string, unknown>>
  readonly backends: readonly object[]
  readonly outcome: Outcome
}

export interface Certificate {
  /** Null for all other names. */
  readonly hostname: string | null
  readonly cert: string
  readonly key: string
  /** Authorities of client certificates; null without. */
  readonly root: string | null
  /** Whether clients without a certificate are accepted, with `root`. */
  readonly clientCertificates?: 'Request'
}

export interface HttpPort {
  readonly port: number
  /** Null for all addresses. */
  readonly address: string | null
  /** Null for plain text. */
  readonly certificates: readonly Certificate[] | null
  /** Policies of the listeners. */
  readonly policies: Readonly<Record<string, unknown>>
  readonly rules: readonly HttpRule[]
}

export function coversHost(pattern: string, host: string): boolean {
  return pattern === host || (pattern.startsWith('*.') && host.endsWith(pattern.slice(1)))
}

/** The name of the variable that has a host: `${NAME}`; null for plain hosts. */
export function variableOfHost(host: string): string | null {
  return /^\$\{(\w+)\}$/.exec(host)?.[1] ?? null
}
