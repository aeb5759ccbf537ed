import { UnsupportedField } from '@portico/chat'
import type { Failure } from '../../../pipeline/context/failure.ts'
import type { FailoverCall } from '../failover-call.ts'
import type { ChosenProvider } from '../provider-attempts.ts'
import type { ReadyProvider } from '../provider.ts'
import type { BatchHost } from './batch-host.ts'
import type { StoredResource } from './batch-ids.ts'
import { ownerOf } from './owner.ts'
import { ResourceCall, type ResourceRequest } from './resource-call.ts'

/** Calls `use` with the file or batch of an id. An id that does not exist and an id of another owner get the same error. */
export function withResource(
  host: BatchHost,
  { id, kinds }: { id: string; kinds: readonly StoredResource['kind'][] },
  use: (resource: StoredResource) => void,
): void {
  const resource = host.services.ids.read(id, kinds, ownerOf(host.rx))
  if (resource === null) host.fail(notFound(kinds[0] ?? 'file', id))
  else use(resource)
}

/** Sends a request to the provider that stores the file or batch. */
export function askOwner(
  host: BatchHost,
  resource: StoredResource,
  requestOf: (call: FailoverCall) => (provider: ReadyProvider) => ResourceRequest,
): void {
  const { services, calls, format } = host
  const chosen = services.choose(resource.provider)
  if (chosen === null) return host.fail(providerGone(resource.provider))
  const call = host.failoverCall({ ...calls, providers: onlyProvider(chosen) })
  const request = requestOf(call)
  call.start(
    new ResourceCall(call, {
      format,
      requestFor: (provider) => (hasCalls(provider, format.name) ? request(provider) : withoutCalls(provider)),
    }),
  )
}

/** Whether the provider serves files and batches in the format of the client. */
function hasCalls({ vendor }: ReadyProvider, format: string): boolean {
  return format === 'messages' ? vendor.hasMessageBatches === true : vendor.calls.has('files')
}

function withoutCalls({ vendor }: ReadyProvider): UnsupportedField {
  return new UnsupportedField('path', `${vendor.name} has no such files and batches`)
}

/** Returns the selection of a single provider, with its prices of batches. */
function onlyProvider({ provider, lease }: ChosenProvider) {
  const chosen = { provider: { ...provider, pricer: provider.batchPricer }, lease }
  return { count: 1, next: (tried: ReadonlySet<ReadyProvider>) => (tried.size === 0 ? chosen : null) }
}

export function notFound(kind: StoredResource['kind'], id: string): Failure {
  const what = kind === 'batch' ? 'batch' : 'file'
  const message = `there is no ${what} ${JSON.stringify(id.slice(0, MAX_NAMED_ID))} of this client`
  return { status: 404, message, reason: 'NotFound', code: `${what}_not_found` }
}

function providerGone(name: string): Failure {
  const message = `the provider ${name}, which has this file or batch, is no longer in the config`
  return { status: 404, message, reason: 'NotFound', code: 'provider_gone' }
}

const MAX_NAMED_ID = 40
