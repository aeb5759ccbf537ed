import {
  parameterPairs,
  parameterValues,
  splitTarget,
  withAddedPair,
  withHiddenParameter,
  withoutParameter,
  withParameter,
} from '../../formats/query-parameters.ts'
import {
  addCookiePair,
  cookieLines,
  cookiePairs,
  cookieValues,
  removeCookie,
  setCookie,
  setCookieLines,
} from '@portico/http'
import type { OutgoingRequest } from '../context/outgoing.ts'
import type { RequestContext, TakenCredential } from '../context/request-context.ts'

/** The location of a credential in a request. */
export type CredentialLocation =
  | { header: { name: string; prefix?: string | undefined }; queryParameter?: undefined; cookie?: undefined }
  | { header?: undefined; queryParameter: { name: string }; cookie?: undefined }
  | { header?: undefined; queryParameter?: undefined; cookie: { name: string } }

/** The result for a request with more than one credential: backends differ in which of them they use. */
export const SEVERAL = Symbol('several credentials')

/** The parts of a request that can hold a credential. */
export type Bearer = Pick<RequestContext, 'headers' | 'query' | 'target' | 'upstreamTarget' | 'setTarget'>

interface CredentialReader {
  /** Returns the credential; null when the request has none. */
  read(rx: Bearer): string | null | typeof SEVERAL
  /** Removes the credential from the request; all other bytes stay the same. */
  remove(rx: Bearer): TakenCredential
}

/** The parts of an attempt that can hold a credential. */
type Carrier = Pick<OutgoingRequest, 'target' | 'headers'>

export function credentialReader(location: CredentialLocation): CredentialReader {
  if (location.queryParameter !== undefined) return fromQuery(location.queryParameter.name)
  if (location.cookie !== undefined) return fromCookie(location.cookie.name)
  return fromHeader(location.header.name, location.header.prefix?.toLowerCase() ?? '')
}

/** Returns a function that sets the credential for the backend, and replaces the client's value at the same location. */
export function credentialWriter(location: CredentialLocation): (outgoing: Carrier, credential: string) => void {
  if (location.queryParameter !== undefined) {
    const { name } = location.queryParameter
    return (outgoing, credential) => {
      outgoing.target = withParameter(outgoing.target, name, credential)
    }
  }
  if (location.cookie !== undefined) {
    const { name } = location.cookie
    return ({ headers }, credential) => setCookie(headers, name, credential)
  }
  const { name, prefix = '' } = location.header
  return ({ headers }, credential) => {
    // Many servers read `x_api_key` and `x.api.key` as `x-api-key`: a client must not override the credential with such a name.
    headers.removeAlike(name)
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
    remove({ headers }) {
      const value = headers.get(name) ?? ''
      headers.remove(name)
      return {
        restore({ headers: outgoing }) {
          outgoing.removeAlike(name)
          outgoing.addChecked(name, value)
        },
      }
    },
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
    remove(rx) {
      const [, before] = splitTarget(rx.upstreamTarget)
      rx.setTarget(withoutParameter(rx.upstreamTarget, name))
      const [, after] = splitTarget(rx.upstreamTarget)
      return {
        restore(outgoing) {
          const [path, query] = splitTarget(outgoing.target)
          if (query === after) outgoing.target = `${path}?${before}`
          else {
            const rest = withoutParameter(outgoing.target, name)
            outgoing.target = parameterPairs(before, name).reduce(withAddedPair, rest)
          }
        },
      }
    },
  }
}

function fromCookie(name: string): CredentialReader {
  return {
    read: ({ headers }) => only(cookieValues(headers, name)),
    remove({ headers }) {
      const before = cookieLines(headers)
      removeCookie(headers, name)
      const after = cookieLines(headers)
      return {
        restore({ headers: outgoing }) {
          if (isSame(cookieLines(outgoing), after)) return setCookieLines(outgoing, before)
          removeCookie(outgoing, name)
          for (const pair of cookiePairs(before, name)) addCookiePair(outgoing, pair)
        },
      }
    },
  }
}

function only(values: readonly string[]): string | null | typeof SEVERAL {
  return values.length > 1 ? SEVERAL : values[0] === undefined || values[0] === '' ? null : values[0]
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, index) => text === others[index])
}
