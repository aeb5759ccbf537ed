import type { ConnectionOptions } from 'node:tls'
import { HeaderBlock } from '@portico/http'
import { createClientTls } from '@portico/http/client'
import { parseJsonObject } from '@portico/http/json'
import { UnsupportedField } from '@portico/chat'
import { connectionSettings } from '../compile/connection.ts'
import type { Ir } from '../ir/resources.ts'
import { createProvider } from '../llm/providers/index.ts'
import { readModelList } from '../llm/providers/model-list.ts'
import type { Provider, ProviderCall } from '../llm/providers/provider.ts'
import { effectivePolicies } from './effective-policies.ts'

/** A request that checks a provider. Its headers contain the provider's key. */
interface ProviderRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The body of the request; null for a request without a body. */
  readonly body: string | null
}

/** A provider of models, with the requests that check its key and its model. */
export interface CheckableProvider {
  /** The name of the provider, such as `models/openai`. */
  readonly name: string
  readonly host: string
  readonly port: number
  /** The value of the `Host` header for requests to the provider. */
  readonly authority: string
  /** Options of TLS; null for plain text. */
  readonly tls: ConnectionOptions | null
  /** The model in the config; null when clients choose the model. */
  readonly model: string | null
  /** The reason why the provider's key cannot be checked on this machine; empty when the key can be checked. */
  readonly unchecked: string
  /** The request that lists the provider's models; null when the provider has no list. */
  readonly list: ProviderRequest | null
  /** The request for one token of the model; null when the doctor does not know the provider's format. */
  readonly token: ProviderRequest | null
  /** Returns the model ids in the response to `list`; null when the response is no list. */
  modelsIn(this: void, body: string): readonly string[] | null
}

/** Lists the providers of models that a config calls, without mocks and pools. */
export function checkableProviders(ir: Ir): CheckableProvider[] {
  const policiesOf = effectivePolicies(ir)
  return ir.backends.flatMap((backend) => {
    if (backend.target.kind !== 'ai') return []
    return backend.target.groups.flat().flatMap(({ key, name, config, pool }): CheckableProvider[] => {
      if (config.mock !== undefined || config.inferencePool !== undefined || pool !== undefined) return []
      const vendor = createProvider(config)
      const { auth, ...own } = { ...(vendor.destination.tls && { tls: {} }), ...policiesOf(backend, key) }
      const { host, port, authority } = vendor.destination
      const { tls } = connectionSettings(own, DEFAULTS)
      const made = tls === null ? null : createClientTls(tls, host, ['http/1.1'])
      const credential = auth?.key ?? auth?.secretRef ?? null
      return [
        {
          ...{ name: `${backend.name}/${name}`, host, port, authority, model: vendor.model },
          tls: made !== null && 'tls' in made ? made.tls.connectOptions : null,
          unchecked: uncheckedBecause(vendor, auth),
          list: credential === null ? null : listRequest(vendor, credential),
          token: credential === null || vendor.model === null ? null : tokenRequest(vendor, vendor.model, credential),
          modelsIn: (body) => modelsIn(vendor, body),
        },
      ]
    })
  })
}

function uncheckedBecause(
  { defaultAuth }: Provider,
  auth: { key?: unknown; secretRef?: unknown; location?: unknown } | undefined,
): string {
  if (auth?.location !== undefined) return 'its key is sent at a place of its own'
  if (auth?.key !== undefined || auth?.secretRef !== undefined) return ''
  if (auth !== undefined || defaultAuth !== 'none') return 'it gets tokens of a cloud, or the credentials of clients'
  return 'clients send their own keys'
}

function listRequest(vendor: Provider, credential: string): ProviderRequest | null {
  if (vendor.modelList === null) return null
  const format = vendor.modelList === 'anthropic' ? 'messages' : 'completions'
  const clientTarget = `/models${vendor.modelList === 'anthropic' ? '?limit=1000' : ''}`
  return requestOf(
    vendor,
    { kind: 'models', format, model: '', stream: false, clientTarget },
    { credential, body: null },
  )
}

function tokenRequest(vendor: Provider, model: string, credential: string): ProviderRequest | null {
  const format = vendor.chatFormats(model).find((each) => each === 'completions' || each === 'messages')
  if (format === undefined) return null
  const limit = format === 'completions' && vendor.quirks(model, format).has('completionTokens')
  const body = {
    model,
    [limit ? 'max_completion_tokens' : 'max_tokens']: 1,
    messages: [{ role: 'user', content: 'Hi' }],
  }
  const call: ProviderCall = { kind: 'chat', format, model, stream: false, clientTarget: '/' }
  return requestOf(vendor, call, { credential, body: JSON.stringify(body) })
}

function requestOf(
  vendor: Provider,
  call: ProviderCall,
  { credential, body }: { credential: string; body: string | null },
): ProviderRequest | null {
  const path = vendor.target(call)
  if (path instanceof UnsupportedField) return null
  const headers = HeaderBlock.of([['authorization', `Bearer ${credential}`]])
  if (body !== null) headers.set('content-type', 'application/json')
  vendor.finishHeaders(headers, call, { by: 'gateway' })
  const lines: Record<string, string> = {}
  headers.forEach((name, value) => (lines[name] = value))
  return { method: body === null ? 'GET' : 'POST', path, headers: lines, body }
}

function modelsIn({ modelList }: Provider, body: string): string[] | null {
  const parsed = parseJsonObject(body)
  if (modelList === null || parsed === null) return null
  return readModelList(modelList, parsed)?.map(({ id }) => id.replace(/^models\//, '')) ?? null
}

const DEFAULTS = { connectTimeoutMs: 10_000, poolIdleTimeoutMs: 90_000, poolMaxIdle: 0 }
