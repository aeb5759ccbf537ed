import { HeadersView, Timestamp } from '@portico/cel'
import type { RecordedHeaders, RequestRecord } from '../../telemetry/recorder/record.ts'
import type { ProxyIdentity } from '../context/proxy-identity.ts'

/** Returns the variables of the access log from a record; variables that the record lacks are absent. */
export function recordScope(record: RequestRecord, identity: ProxyIdentity): object {
  const { llm, mcp, backend, bind, listener, route } = record
  return {
    ...record.variables,
    request: requestOf(record),
    ...(record.status !== 0 && { response: { code: record.status, headers: new KeptHeaders(record.responseHeaders) } }),
    source: sourceOf(record.source ?? ''),
    proxy: {
      bind: bind ?? undefined,
      gateway: { namespace: identity.namespace, name: identity.gateway },
      listener: { name: listener ?? undefined },
      route: { name: route ?? undefined },
    },
    ...(backend !== null && { backend: { name: backend, type: undefined, protocol: 'http' } }),
    ...(llm !== null && { llm: llmOf(llm) }),
    ...(mcp !== null && { mcp: mcpOf(mcp) }),
    env: identity,
    random: () => 0,
  }
}

/** Returns the request headers after all policies, which the last expressions read. */
export function finalHeaders({ requestHeaders, afterPolicies }: RequestRecord): RecordedHeaders | null {
  return afterPolicies?.headers ?? requestHeaders
}

function requestOf(record: RequestRecord): object | undefined {
  if (record.method === null) return undefined
  const host = record.host ?? ''
  const pathAndQuery = record.path ?? ''
  const [path = ''] = pathAndQuery.split('?', 1)
  return {
    method: record.method,
    uri: `${record.scheme}://${host}${pathAndQuery}`,
    host,
    scheme: record.scheme,
    path,
    pathAndQuery,
    version: record.version ?? '',
    headers: new KeptHeaders(finalHeaders(record)),
    startTime: Timestamp.fromMillis(record.at),
  }
}

function llmOf(llm: NonNullable<RequestRecord['llm']>): object {
  const { inputTokens, outputTokens } = llm
  const known = inputTokens !== null || outputTokens !== null
  return {
    streaming: llm.streaming,
    provider: llm.provider,
    requestModel: llm.requestModel,
    responseModel: llm.responseModel === '' ? undefined : llm.responseModel,
    inputTokens: countOf(inputTokens),
    outputTokens: countOf(outputTokens),
    totalTokens: known ? (inputTokens ?? 0) + (outputTokens ?? 0) : undefined,
    cachedInputTokens: countOf(llm.cacheReadTokens),
    cacheCreationInputTokens: countOf(llm.cacheWriteTokens),
    reasoningTokens: countOf(llm.reasoningTokens),
    images: llm.units?.images,
    characters: llm.units?.characters,
    audioSeconds: llm.units?.seconds,
    searchUnits: llm.units?.searchUnits,
    estimated: llm.isEstimated,
  }
}

function mcpOf({ kind, name, target, method, session, version }: NonNullable<RequestRecord['mcp']>): object {
  return {
    ...(kind !== null && { [kind]: { name, target } }),
    methodName: method,
    sessionId: session === '' ? undefined : session,
    protocolVersion: version === '' ? undefined : version,
  }
}

function countOf(count: number | null): number | undefined {
  return count ?? undefined
}

function sourceOf(source: string): object {
  const colon = source.lastIndexOf(':')
  const address = source.slice(0, colon).replaceAll(/[[\]]/g, '')
  const port = Number(source.slice(colon + 1))
  return { address, port, rawAddress: address, rawPort: port }
}

/** The headers of a record, as expressions read them. */
export class KeptHeaders extends HeadersView {
  readonly #headers: RecordedHeaders

  constructor(headers: RecordedHeaders | null) {
    super()
    this.#headers = headers ?? {}
  }

  get(name: string): string | readonly string[] | undefined {
    return Object.hasOwn(this.#headers, name) ? this.#headers[name] : undefined
  }

  keys(): Iterable<string> {
    return Object.keys(this.#headers)
  }
}
