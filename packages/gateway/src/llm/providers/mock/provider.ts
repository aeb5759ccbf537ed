import { NO_EDITS } from '@portico/http/json'
import type { FormatName } from '@portico/chat'
import { NO_OTHER_CALLS, type Provider } from '../provider.ts'

/** The mock speaks every client format, and has no network address. */
export function mock(): Provider {
  return {
    name: 'mock',
    telemetryName: 'mock',
    defaultAuth: 'none',
    region: null,
    destination: { host: 'mock.invalid', port: 80, tls: false, authority: 'mock.invalid' },
    model: null,
    chatFormats: () => ['completions', 'messages', 'responses'],
    quirks: () => NO_QUIRKS,
    tokenCount: () => null,
    embeddings: () => null,
    ...NO_OTHER_CALLS,
    modelList: 'openai',
    cachesPrompts: () => false,
    target: ({ kind, format, clientTarget }) =>
      (kind === 'models' ? '/v1/models' : kind === 'chat' ? PATHS[format] : undefined) ?? clientTarget,
    finishHeaders() {},
    finishBody: () => NO_EDITS,
  }
}

const NO_QUIRKS: ReadonlySet<string> = new Set()
/** The paths of the client formats. */
const PATHS: Readonly<Partial<Record<FormatName, string>>> = {
  completions: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
}
