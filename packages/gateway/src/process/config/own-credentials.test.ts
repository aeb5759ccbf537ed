import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { request } from '../../testing/client.ts'
import { useConfigFile, useProgram } from '../../testing/process.ts'

/** Backends that bring policies with them which the config does not name: their code must be there before they are. */
const backends: Readonly<Record<string, string>> = {
  'a runtime of agents':
    'aws: { agentCore: { agentRuntimeArn: "arn:aws:bedrock-agentcore:eu-west-1:123456789012:runtime/a-b" } }',
  'models of a cloud': 'ai: { provider: { bedrock: { region: eu-west-1, model: m } } }',
  'a guard of a cloud':
    'ai: { provider: { mock: {} } }, policies: { ai: { promptGuard: { request: [{ bedrockGuardrails: { identifier: abc, version: "1", region: eu-west-1 } }] } } }',
}

describe('a config without a word about credentials', () => {
  for (const [what, backend] of Object.entries(backends)) {
    test(`goes live with ${what}`, async (t) => {
      const { file } = useConfigFile(
        t,
        `config: { adminAddr: 'off', statsAddr: 'off' }
binds:
- port: 0
  listeners:
  - routes:
    - matches: [{ path: { exact: /none } }]
      policies: { directResponse: { status: 204 } }
    - matches: [{ path: { pathPrefix: /v1 } }]
      backends: [{ ${backend} }]
`,
      )
      const program = await useProgram(t, { args: ['-f', file], env: { WORKER_THREADS: '1' } })
      assert.equal((await request(program.port(), { path: '/none' })).status, 204)
      assert.doesNotMatch(program.stderr(), /loadFeatures/)
    })
  }
})
