import { isUtf8 } from 'node:buffer'
import { isObject } from '@portico/http/json'
import { isCelError, toJson } from '@portico/cel'
import type { JsonObject, RequestContext } from '../context/request-context.ts'
import { CalloutFault } from '../callouts/callouts.ts'
import type { CheckRequest, CheckResponse, OkHttpResponse } from '../../protos/envoy/service/auth/v3/external_auth.ts'
import { editsOf, InvalidHeader, isEditable } from '../policy/header-edit.ts'
import type { Ask, Asking } from './asking.ts'
import { type AllowDecision, DENIED, type Decision, sayPlain } from './decision.ts'
import { type ForwardedBody, PARTIAL_HEADER, partialMark } from './forwarded-body.ts'
import type { checkMethod as CheckMethod } from './check-method.ts'
import { HeaderBlock } from '@portico/http'
import { withoutOddBytes } from './utf8-text.ts'
import type { ExtAuthConfig } from '../../schema/fields/auth/ext-auth.ts'

/** Returns the gRPC check. */
export function grpcAsker({ grpc }: ExtAuthConfig, { env, phase, callouts, timeoutMs }: Asking): Ask {
  const { contextExtensions = {}, requestMetadata, allowedRequestHeaders } = grpc ?? {}
  const passed = allowedRequestHeaders === undefined ? null : new Set(allowedRequestHeaders)
  const extensions = new Map(Object.entries(contextExtensions))
  const metadata =
    requestMetadata === undefined
      ? null
      : Object.entries(requestMetadata).map(([name, source]) => ({ name, value: env.cel(source, phase) }))
  const metadataOf = (rx: RequestContext): Map<string, JsonObject> => {
    if (metadata === null) return tokenMetadata(rx)
    const values = metadata.flatMap(({ name, value }) => {
      const result = value.evaluate(rx)
      return isCelError(result) ? [] : [[name, asObject(toJson(result))] as const]
    })
    return new Map(values)
  }
  let checkMethod: typeof CheckMethod | null = null
  return async (rx, body) => {
    // An `import()` of a loaded module still takes microseconds, so the result is kept.
    checkMethod ??= (await import('./check-method.ts')).checkMethod
    const request = checkRequest(rx, body, { extensions, metadata: metadataOf(rx), now: env.clock(), passed })
    const answer = await callouts.unary(rx, checkMethod, request, { timeoutMs })
    return answer instanceof CalloutFault ? answer : readResponse(answer)
  }
}

/** Returns the token claims as metadata of Envoy's JWT filter, because authorizers for Envoy read them there. */
function tokenMetadata({ jwt }: RequestContext): Map<string, JsonObject> {
  return jwt === null ? new Map() : new Map([['envoy.filters.http.jwt_authn', { jwt_payload: jwt }]])
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : { value }
}

interface Extras {
  extensions: Map<string, string>
  metadata: Map<string, JsonObject>
  now: number
  /** Names of the headers that the authorizer gets, in lower case; null for all. */
  passed: ReadonlySet<string> | null
}

function checkRequest(rx: RequestContext, body: ForwardedBody | null, extras: Extras): CheckRequest {
  const { connection } = rx
  const headers = headerMap(rx, extras.passed)
  const mark = partialMark(body)
  for (const name of headers.keys()) if (name.replaceAll(/[._]/g, '-') === PARTIAL_HEADER) headers.delete(name)
  if (mark !== null) headers.set(PARTIAL_HEADER, mark)
  return {
    attributes: {
      source: peer({ address: connection.address, port: connection.port }, connection.principal()),
      destination: peer(connection.destination(), ''),
      request: {
        time: new Date(extras.now),
        http: {
          id: headers.get('x-request-id') ?? '',
          method: rx.method,
          headers,
          headerMap: undefined,
          path: rx.upstreamTarget,
          host: rx.currentAuthority,
          scheme: rx.scheme,
          query: '',
          fragment: '',
          size: rx.body.length,
          protocol: rx.version,
          ...bodyFields(body),
        },
      },
      contextExtensions: extras.extensions,
      metadataContext: { filterMetadata: extras.metadata, typedFilterMetadata: new Map() },
      routeMetadataContext: undefined,
      tlsSession: rx.scheme === 'https' ? { sni: connection.sni } : undefined,
    },
  }
}

function peer({ address, port }: { address: string; port: number }, principal: string) {
  const socketAddress = {
    protocol: 0 as const,
    address,
    portSpecifier: { $case: 'portValue' as const, value: port },
    resolverName: '',
    ipv4Compat: false,
    networkNamespaceFilepath: '',
  }
  return {
    address: { address: { $case: 'socketAddress' as const, value: socketAddress } },
    service: '',
    labels: new Map(),
    principal,
    certificate: '',
  }
}

/** Returns the headers by name: lines of one name are joined, cookies with a semicolon; HTTP/2 names hold the request line. */
function headerMap(rx: RequestContext, passed: ReadonlySet<string> | null): Map<string, string> {
  const headers = new Map([
    [':authority', rx.currentAuthority],
    [':method', rx.method],
    [':path', rx.upstreamTarget],
    [':scheme', rx.scheme],
  ])
  rx.headers.forEach((name, value) => {
    const lowerName = name.toLowerCase()
    if (passed !== null && !passed.has(lowerName)) return
    const before = headers.get(lowerName)
    const text = BEYOND_ASCII.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value
    headers.set(lowerName, before === undefined ? text : `${before}${lowerName === 'cookie' ? '; ' : ','}${text}`)
  })
  return headers
}

/**
 * Returns the body fields as Envoy fills them. A body that is not UTF-8 is in `raw_body` unchanged, and in `body` with `!`
 * for every invalid byte.
 */
function bodyFields(body: ForwardedBody | null): { body: string; rawBody: Uint8Array } {
  if (body === null) return { body: '', rawBody: EMPTY }
  return isUtf8(body.bytes)
    ? { body: body.bytes.toString('utf8'), rawBody: EMPTY }
    : { body: withoutOddBytes(body.bytes), rawBody: body.bytes }
}

function readResponse(response: CheckResponse): Decision {
  const { status, httpResponse, dynamicMetadata } = response
  if (status === undefined || status.code === 0) {
    const ok = httpResponse?.$case === 'okResponse' ? httpResponse.value : null
    return allowed(ok, ok?.dynamicMetadata ?? dynamicMetadata)
  }
  if (httpResponse?.$case !== 'deniedResponse') return DENIED
  const { status: httpStatus, headers, body } = httpResponse.value
  const code = httpStatus?.code ?? 0
  const block = new HeaderBlock()
  const edits = editsOf(headers)
  if (edits instanceof InvalidHeader) return edits
  for (const { name, value } of edits) block.add(name, value)
  const bytes = Buffer.from(body)
  sayPlain(block, bytes)
  return { kind: 'denied', status: code >= 200 && code <= 599 ? code : 403, headers: block, body: bytes }
}

function allowed(ok: OkHttpResponse | null, metadata: JsonObject | undefined): AllowDecision | InvalidHeader {
  const headers = editsOf(ok?.headers ?? [])
  if (headers instanceof InvalidHeader) return headers
  // Response headers are appended unless the option says otherwise, because two cookies are two lines.
  const responseHeaders = editsOf(ok?.responseHeadersToAdd ?? [], 'append')
  if (responseHeaders instanceof InvalidHeader) return responseHeaders
  return {
    kind: 'allowed',
    cleared: NONE,
    headers,
    removed: (ok?.headersToRemove ?? []).map((name) => name.toLowerCase()).filter(isEditable),
    query: { set: ok?.queryParametersToSet ?? [], removed: ok?.queryParametersToRemove ?? [] },
    responseHeaders,
    metadata: metadata ?? {},
  }
}

const NONE: readonly string[] = []
const EMPTY = new Uint8Array(0)
const BEYOND_ASCII = /[^\x00-\x7f]/
