import type { SourcePosition } from '../core/source.ts'

/** Rules that every importer makes for a gateway that chooses the first matching rule. */

/** A condition on the path of a request, without its query. */
export type PathCondition =
  | PathText
  /** A pattern in RE2 syntax that must match the whole path. */
  | { readonly kind: 'pattern'; readonly regex: string }

/**
 * A whole path, a text at the start of the path (`start`: `/a` matches `/ab`), or whole segments at the start of the
 * path (`segments`: `/a` matches `/a/b`, but not `/ab`). If letter case does not matter, the text is in lower case.
 */
interface PathText {
  readonly kind: 'exact' | 'start' | 'segments'
  readonly path: string
  readonly isCaseless?: true
}
/** A condition on a header or a query parameter: an exact value, or a pattern that must match the whole value. */
export interface FieldCondition {
  readonly name: string
  readonly value: { readonly exact: string } | { readonly regex: string }
}

/** Conditions of a route that must all hold. */
export interface HttpMatch {
  readonly path: PathCondition | null
  readonly method: string | null
  readonly headers: readonly FieldCondition[]
  readonly query: readonly FieldCondition[]
}

export const ANY_MATCH: HttpMatch = { path: null, method: null, headers: [], query: [] }

/**
 * The result that generated tests expect for a request: an upstream or a status. `untold` means that tests cannot
 * predict the result.
 */
type Outcome =
  | { readonly kind: 'proxy'; readonly addresses: readonly string[]; pathFor(this: void, path: string): string }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'untold' }

/** A route of a port. If several rules match a request, the first rule takes the request. */
export interface HttpRule {
  readonly name: string
  readonly at: SourcePosition
  /** The line of the source config, for the comment above the route. */
  readonly source: string
  /**
   * Hostnames: exact or as `*.name`, in which `${NAME}` is an environment variable. Empty for a rule that takes every host.
   */
  readonly hosts: readonly string[]
  /** The matches, of which one must fit; empty for a rule that takes every request. */
  readonly matches: readonly HttpMatch[]
  readonly policies: Readonly<Record<string, unknown>>
  readonly backends: readonly object[]
  readonly outcome: Outcome
}

export interface Certificate {
  /** The hostname of the certificate; null for the certificate of all other hostnames. */
  readonly hostname: string | null
  readonly cert: string
  readonly key: string
  /** The file with the certificate authorities of client certificates; null when clients need no certificate. */
  readonly root: string | null
  /** `Request` when `root` is set and clients without a certificate are accepted too. */
  readonly clientCertificates?: 'Request'
}

export interface HttpPort {
  readonly port: number
  /** The address of the port; null for all addresses of the machine. */
  readonly address: string | null
  /** The certificates of the port; null for a port without TLS. */
  readonly certificates: readonly Certificate[] | null
  /** The policies of all listeners on the port. */
  readonly policies: Readonly<Record<string, unknown>>
  readonly rules: readonly HttpRule[]
}

export function coversHost(pattern: string, host: string): boolean {
  return pattern === host || (pattern.startsWith('*.') && host.endsWith(pattern.slice(1)))
}

/** Returns the names of the environment variables in a host such as `api.${DOMAIN}`. */
export function variablesOfHost(host: string): string[] {
  return [...host.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name)
}

/** Returns the host with the known values of its variables. */
export function hostWithValues(host: string, env: Readonly<Record<string, string>>): string {
  return host.replaceAll(/\$\{(\w+)\}/g, (all, name: string) => env[name] ?? all)
}
