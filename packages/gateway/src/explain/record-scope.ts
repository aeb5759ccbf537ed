import { HeadersView, Timestamp, type Value } from '@portico/cel'
import { REDACTED } from '../admin/redact.ts'
import type { ProxyIdentity } from '../pipeline/proxy-identity.ts'
import type { RecordedHeaders, RequestRecord } from '../telemetry/recorder/record.ts'
import type { ReadValue } from './explanation.ts'

const NOBODY: ProxyIdentity = { podName: '', namespace: '', gateway: '' }

/** The variables of expressions, as far as a record has them. */
export function recordScope(record: RequestRecord, identity: ProxyIdentity = NOBODY): object {
  const { variables } = record
  return {
    request: requestView(record),
    ...(record.status !== 0 && {
      response: { code: record.status, headers: new RecordedView(record.responseHeaders ?? {}) },
    }),
    source: sourceView(record.source),
    jwt: variables?.['jwt'],
    apiKey: variables?.['apiKey'],
    basicAuth: variables?.['basicAuth'],
    metadata: variables?.['metadata'],
    extauthz: variables?.['extauthz'],
    extproc: variables?.['extproc'],
    backend: record.backend === null ? undefined : { name: record.backend },
    mcp: mcpView(record),
    proxy: {
      bind: record.bind ?? undefined,
      gateway: { namespace: identity.namespace, name: identity.gateway },
      listener: { name: record.listener ?? undefined },
      route: { name: record.route ?? undefined, rule: undefined },
    },
    env: identity,
    random: () => 0.5,
  }
}

function requestView(record: RequestRecord): object {
  const { method, host, scheme, at, version } = record
  const target = record.path ?? ''
  const [path = ''] = target.split('?', 1)
  return {
    method: method ?? '',
    uri: `${scheme}://${host ?? ''}${target}`,
    host: host ?? '',
    scheme,
    path,
    pathAndQuery: target,
    version: version ?? '',
    startTime: Timestamp.fromMillis(at),
    headers: new RecordedView(record.requestHeaders ?? {}),
  }
}

function sourceView(source: string | null): object {
  const text = source ?? ''
  const split = text.lastIndexOf(':')
  const address = text.slice(0, Math.max(split, 0)).replaceAll(/[[\]]/g, '')
  const port = Number(text.slice(split + 1)) || 0
  return { address, port, rawAddress: address, rawPort: port }
}

function mcpView({ mcp }: RequestRecord): object | undefined {
  if (mcp === null) return undefined
  const { kind, name, target, method, session, version } = mcp
  return {
    ...(kind !== null && { [kind]: { name: name ?? '', target } }),
    methodName: method,
    sessionId: session || undefined,
    protocolVersion: version || undefined,
  }
}

class RecordedView extends HeadersView {
  readonly #headers: RecordedHeaders

  constructor(headers: RecordedHeaders) {
    super()
    this.#headers = headers
  }

  get(name: string): string | readonly string[] | undefined {
    return Object.hasOwn(this.#headers, name) ? this.#headers[name] : undefined
  }

  keys(): Iterable<string> {
    return Object.keys(this.#headers)
  }
}

/** Whether a record can say what stood there. */
export function keptState(record: RequestRecord, path: readonly string[]): 'kept' | 'notKept' {
  const [root, field] = path
  if (root === 'request' || root === 'response') {
    if (field === 'body' || field === 'bodyPrefix') return 'notKept'
    if (field === 'headers') {
      return (root === 'request' ? record.requestHeaders : record.responseHeaders) === null ? 'notKept' : 'kept'
    }
    return 'kept'
  }
  if (root === 'llm' || root === 'llmRequest') return 'notKept'
  const isFound = ['jwt', 'apiKey', 'basicAuth', 'metadata', 'extauthz', 'extproc'].includes(root ?? '')
  // Without heads, variables were left out as well.
  return isFound && record.requestHeaders === null ? 'notKept' : 'kept'
}

/** Whether something in it was hidden before it was stored. */
export function isHidden(value: Value | undefined): boolean {
  if (typeof value === 'string') return value.includes(REDACTED)
  return Array.isArray(value) && (value as Value[]).some(isHidden)
}

export function stateOf(record: RequestRecord, path: readonly string[], value: Value | undefined): ReadValue['state'] {
  if (keptState(record, path) === 'notKept') return 'notKept'
  if (value === undefined) return 'absent'
  return isHidden(value) ? 'hidden' : 'found'
}
