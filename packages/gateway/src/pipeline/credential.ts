import { parameterValues, withHiddenParameter, withoutParameter, withParameter } from '../formats/query-parameters.ts'
import { cookieValues, removeCookie, setCookie } from '../net/cookies.ts'
import type { OutgoingRequest } from './outgoing.ts'
import type { RequestContext } from './request-context.ts'

/** Where a request carries a credential; one of the three is set. */
export interface CredentialLocation {
  header?: { name: string; prefix?: string | undefined } | undefined
  queryParameter?: { name: string } | undefined
  cookie?: { name: string } | undefined
}

/** More than one credential: which of them a backend would believe is anybody's guess. */
export const SEVERAL = Symbol('several credentials')

/** The parts of a request that can hold one. */
export type Bearer = Pick<RequestContext, 'headers' | 'query' | 'target' | 'upstreamTarget' | 'setTarget'>

export interface CredentialReader {
  /** Null when there is none. */
  read(rx: Bearer): string | null | typeof SEVERAL
  /** Takes it off the request; everything else keeps its bytes. */
  remove(rx: Bearer): void
}

export function credentialReader(location: CredentialLocation): CredentialReader {
  if (location.queryParameter !== undefined) return fromQuery(location.queryParameter.name)
  if (location.cookie !== undefined) return fromCookie(location.cookie.name)
  return fromHeader(location.header!.name, location.header!.prefix?.toLowerCase() ?? '')
}

/** Puts a credential where the backend expects it, in place of what the client sent there. */
export function credentialWriter(
  location: CredentialLocation,
): (outgoing: Pick<OutgoingRequest, 'target' | 'headers'>, credential: string) => void {
  const { header, queryParameter, cookie } = location
  if (queryParameter !== undefined) {
    return (outgoing, credential) => {
      outgoing.target = withParameter(outgoing.target, queryParameter.name, credential)
    }
  }
  if (cookie !== undefined) return ({ headers }, credential) => setCookie(headers, cookie.name, credential)
  const { name, prefix = '' } = header!
  const alias = aliasOf(name)
  return ({ headers }, credential) => {
    // Many servers read `x_api_key` and `x.api.key` as `x-api-key`: a client must not have the last word.
    headers.removeWhere((other) => other.length === name.length && aliasOf(other) === alias)
    headers.add(name, prefix + credential)
  }
}

function fromHeader(name: string, prefix: string): CredentialReader {
  return {
    read({ headers }) {
      const value = headers.get(name)
      if (value === null) return null
      if (headers.nth(name, 1) !== null) return SEVERAL
      if (prefix === '') return value === '' ? null : value
      if (value.length <= prefix.length || value.slice(0, prefix.length).toLowerCase() !== prefix) return null
      return value.slice(prefix.length).trim()
    },
    remove: ({ headers }) => headers.remove(name),
  }
}

function fromQuery(name: string): CredentialReader {
  return {
    read(rx) {
      const values = parameterValues(rx.query, name)
      if (values.length === 0) return null
      rx.target = withHiddenParameter(rx.target, name)
      return only(values)
    },
    remove: (rx) => rx.setTarget(withoutParameter(rx.upstreamTarget, name)),
  }
}

function fromCookie(name: string): CredentialReader {
  return {
    read: ({ headers }) => only(cookieValues(headers, name)),
    remove: ({ headers }) => removeCookie(headers, name),
  }
}

function only(values: readonly string[]): string | null | typeof SEVERAL {
  return values.length > 1 ? SEVERAL : values[0] === undefined || values[0] === '' ? null : values[0]
}

function aliasOf(name: string): string {
  return name.replaceAll(/[_.]/g, '-')
}
