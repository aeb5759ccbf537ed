import type { Plugin } from '../scopes.ts'
import { readAcl } from './acl.ts'
import { readAiProxy, readAiProxyAdvanced, readPromptDecorator, readPromptGuard, readTokenLimit } from './ai.ts'
import { readBasicAuth } from './basic-auth.ts'
import { readBotDetection, readCors, readIpRestriction } from './guards.ts'
import { readJwt } from './jwt.ts'
import { readKeyAuth } from './key-auth.ts'
import { readCorrelationId, readNoted } from './observers.ts'
import { closes, type PluginReader, type ReadPlugin, type Surroundings } from './plugin.ts'
import { readAdvancedRateLimiting, readRateLimiting } from './rate-limiting.ts'
import { readRedirect, readRequestTermination, readSizeLimit } from './replies.ts'
import { readRequestTransformer, readResponseTransformer } from './transformers.ts'

/** The readers of all plugins that have a counterpart in the gateway. */
const READERS: ReadonlyMap<string, PluginReader> = new Map<string, PluginReader>([
  ['key-auth', readKeyAuth],
  ['basic-auth', readBasicAuth],
  ['jwt', readJwt],
  ['acl', readAcl],
  ['ip-restriction', readIpRestriction],
  ['bot-detection', readBotDetection],
  ['cors', readCors],
  ['rate-limiting', readRateLimiting],
  ['rate-limiting-advanced', readAdvancedRateLimiting],
  ['request-termination', readRequestTermination],
  ['redirect', readRedirect],
  ['request-size-limiting', readSizeLimit],
  ['request-transformer', readRequestTransformer],
  ['response-transformer', readResponseTransformer],
  ['correlation-id', readCorrelationId],
  ['ai-proxy', readAiProxy],
  ['ai-proxy-advanced', readAiProxyAdvanced],
  ['ai-prompt-decorator', readPromptDecorator],
  ['ai-prompt-guard', readPromptGuard],
  ['ai-rate-limiting-advanced', readTokenLimit],
])

/** Authentication plugins. They run first, because other plugins depend on the client's identity. */
export const AUTHENTICATION = ['key-auth', 'basic-auth', 'jwt']

export function readPlugin(plugin: Plugin, surroundings: Surroundings): ReadPlugin {
  plugin.entity.field.get('name')?.carried()
  const reader = READERS.get(plugin.name)
  if (reader !== undefined) return reader(plugin, surroundings)
  return readNoted(plugin) ?? closes(plugin, 'the plugin may restrict access, and has no counterpart')
}
