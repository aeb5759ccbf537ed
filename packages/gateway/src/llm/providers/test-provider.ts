import assert from 'node:assert/strict'
import { HeaderBlock } from '@portico/http'
import { validate } from '../../schema/validate.ts'
import { UnsupportedField } from '@portico/chat'
import { createProvider } from './index.ts'
import { llmProvider } from './schema.ts'
import type { CredentialPlace, Provider, ProviderCall } from './provider.ts'

/** The provider of a config as users write it. */
export function providerOf(provider: object): Provider {
  const result = validate(llmProvider, provider)
  assert.ok(result.ok, JSON.stringify(result))
  return createProvider(result.value)
}

export function callOf(call: Partial<ProviderCall>): ProviderCall {
  return {
    kind: 'chat',
    format: 'completions',
    model: 'm',
    stream: false,
    clientTarget: '/v1/chat/completions',
    ...call,
  }
}

/** The path and query of a call, or why there is none. */
export function targetOf(provider: Provider, call: Partial<ProviderCall>): string {
  const target = provider.target(callOf(call))
  return target instanceof UnsupportedField ? `refused: ${target.field} ${target.message}` : target
}

/** The headers of a call once the provider is done with them. */
export function headersOf(
  provider: Provider,
  sent: Record<string, string>,
  call: Partial<ProviderCall> = {},
  credential: CredentialPlace = { by: 'gateway' },
): Record<string, string> {
  const headers = HeaderBlock.of(Object.entries(sent))
  provider.finishHeaders(headers, callOf(call), credential)
  const seen: Record<string, string> = {}
  headers.forEach((name, value) => {
    assert.ok(!(name in seen), `${name} twice`)
    seen[name] = value
  })
  return seen
}
