import { request } from '../../testing/client.ts'
import { httpConfig } from '../../testing/scene.ts'
import type { RefusalCase } from './refusal-case.ts'

const models = [
  { name: 'smart', provider: { mock: {} } },
  { name: 'small', targets: [{ model: 'smart', when: 'llm.promptTokens < 1' }] },
  { name: 'research', provider: { mock: {} }, allow: '"x-team" in request.headers' },
]
const config = (): object => httpConfig([{ backends: [{ ai: { models } }] }])

function sendChat(model: string | undefined): RefusalCase['send'] {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] })
  return ({ port }) => request(port, { method: 'POST', path: '/v1/chat/completions', body })
}

export const modelCases: RefusalCase[] = [
  {
    name: 'a model that the config does not have',
    config,
    send: sendChat('smrat'),
    code: 'model_not_found',
    at: 'ai',
    passes: 'the client requests the model smart.',
    alsoPass: ['`ai.models` has this name, or a pattern that matches it.'],
    values: { model: 'smrat' },
    says: /has the name smrat/,
  },
  {
    name: 'a model that the client may not use',
    config,
    send: sendChat('research'),
    code: 'model_not_allowed',
    at: 'ai',
    passes: 'the client requests a model that it may use.',
    alsoPass: ['`allow` of the model is true for this client.'],
    values: { model: 'research' },
  },
  {
    name: 'a virtual model whose targets exclude the request',
    config,
    send: sendChat('small'),
    code: 'no_model_target',
    at: 'ai',
    passes: '`when` of a target is true for the request, and the client may use the target.',
    alsoPass: ['the model has a target without `when`.'],
    says: /no target of the model small takes the request: smart: \d+ prompt tokens ≥ 1/,
  },
  {
    name: 'a request without a model',
    config,
    send: sendChat(undefined),
    code: 'missing_model',
    at: 'ai',
    passes: 'the client names a model.',
    alsoPass: ['`ai.models` has the name `*`, with a provider that sets `model`.'],
  },
  {
    name: 'a file of another client',
    config,
    send: ({ port }) => request(port, { path: '/v1/files/file-unknown' }),
    code: 'file_not_found',
    at: 'ai',
    passes: 'the client sends the id that the gateway returned, with a key of the same team.',
    alsoPass: ['`SESSION_KEY` has the key with which the id was made, and the provider has its former name.'],
    says: /there is no file "file-unknown" of this client/,
  },
]
