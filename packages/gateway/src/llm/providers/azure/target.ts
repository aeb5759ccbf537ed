import { withParameter } from '../../../formats/query-parameters.ts'
import { Unsupported } from '../../middle.ts'
import { modelSegment } from '../model-segment.ts'
import type { ProviderCall } from '../provider.ts'
import type { AzureResource } from './resource.ts'

/** Paths of the `v1` API, of dated versions before it, and of Claude. */
export function ownTarget(resource: AzureResource, call: ProviderCall, isClaude: boolean): string | Unsupported | null {
  const suffix = suffixOf(call)
  if (suffix === null) return isClaude ? '/anthropic/v1/messages/count_tokens' : null
  if (isClaude && call.kind === 'chat') return '/anthropic/v1/messages'
  const { apiVersion, isFoundry, project } = resource
  const version = apiVersion === 'v1' ? '' : `?api-version=${encodeURIComponent(apiVersion)}`
  const root = project === null ? '' : `/api/projects/${encodeURIComponent(project)}`
  const isVersioned = apiVersion === 'v1' || apiVersion === 'preview' || isFoundry
  if (isVersioned) {
    const target = `${root}/openai/v1/${suffix}${version}`
    return call.kind === 'realtime' ? withParameter(target, 'model', call.model) : target
  }
  if (suffix === 'responses' || suffix === 'models') return `/openai/${suffix}${version}`
  if (suffix === 'realtime') return withParameter(`/openai/realtime${version}`, 'deployment', call.model)
  const deployment = modelSegment(call.model)
  return deployment instanceof Unsupported ? deployment : `/openai/deployments/${deployment}/${suffix}${version}`
}

function suffixOf({ kind, format }: ProviderCall): string | null {
  switch (kind) {
    case 'chat':
      return format === 'responses' ? 'responses' : 'chat/completions'
    case 'embeddings':
    case 'models':
    case 'realtime':
      return kind
    case 'countTokens':
    case 'raw':
      return null
  }
}
