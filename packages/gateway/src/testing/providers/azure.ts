import { anthropicEndpoints } from './anthropic.ts'
import { VendorRefusal } from './answer.ts'
import { messagesFailure } from './formats/messages-reply.ts'
import { openaiEndpoints, openaiFailure } from './openai.ts'
import { type FakeRequest, headerOf, type Vendor } from './reply.ts'

export const AZURE_KEY = 'fake-azure-key'

/** Azure OpenAI and Foundry: the same formats under other paths. */
export function azureVendor(): Vendor {
  const endpoints = openaiEndpoints({ contentFilter: true })
  return {
    name: 'azure',
    answer(request, saw) {
      const key = headerOf(request, 'api-key') || headerOf(request, 'x-api-key')
      if (key !== AZURE_KEY && headerOf(request, 'authorization') !== `Bearer ${AZURE_KEY}`) {
        throw new VendorRefusal({
          kind: 'authentication',
          message: 'Access denied due to invalid subscription key or wrong API endpoint.',
        })
      }
      const claude = /^\/anthropic\/v1\/(.+)$/.exec(request.path)?.[1]
      if (claude !== undefined) return anthropicEndpoints(request, claude, saw)
      return endpoints(deployed(request), endpointOf(request), saw)
    },
    fail: (failure, param, request) =>
      request.path.startsWith('/anthropic/') ? messagesFailure(failure) : openaiFailure(failure, param),
  }
}

const DEPLOYMENT = /^\/openai\/deployments\/([^/]+)\/(chat\/completions|embeddings)$/

/** The endpoint below the base; dated API versions want a version, the v1 API wants none but `preview`. */
function endpointOf(request: FakeRequest): string {
  const version = request.query.get('api-version')
  const current = /^(?:\/api\/projects\/[^/]+)?\/openai\/v1\/(.+)$/.exec(request.path)?.[1]
  if (current !== undefined) {
    if (version !== null && version !== 'preview' && version !== 'v1') throw missing('API version not supported')
    return current
  }
  const dated = DEPLOYMENT.exec(request.path)?.[2] ?? /^\/openai\/(responses)$/.exec(request.path)?.[1]
  if (dated === undefined || version === null || !/^\d{4}-\d{2}-\d{2}(-preview)?$/.test(version)) {
    throw missing('Resource not found')
  }
  return dated
}

/** Below a deployment the body's model may be left out: the path says it. */
function deployed(request: FakeRequest): FakeRequest {
  const deployment = DEPLOYMENT.exec(request.path)?.[1]
  return deployment === undefined
    ? request
    : { ...request, body: { ...request.body, model: decodeURIComponent(deployment) } }
}

function missing(message: string): VendorRefusal {
  return new VendorRefusal({ kind: 'notFound', message })
}
