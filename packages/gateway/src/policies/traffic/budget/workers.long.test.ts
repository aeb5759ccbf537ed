import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../../testing/client.ts'
import { useConfigFile, useProgram } from '../../../testing/process.ts'
import { httpConfig, useOrigin } from '../../../testing/scene.ts'

const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]
const usage = { prompt_tokens: 1, completion_tokens: 1000, total_tokens: 1001 }
const answer = JSON.stringify({ id: '1', object: 'chat.completion', created: 1, model: 'm', choices, usage })

test('two workers let pass exactly what a budget pays for, when all calls come at once', async (t) => {
  const waiting: (() => void)[] = []
  const origin = await useOrigin(t, (_seen, response) => {
    waiting.push(() => response.setHeader('content-type', 'application/json').end(answer))
    // No call ends before all that pass have arrived.
    if (waiting.length === 50) for (const send of waiting) send()
  })
  const policies = {
    budget: { limits: [{ name: 'team', usd: 0.5, per: 'Month' }] },
    backend: { prices: { models: [{ model: 'm', rates: { input: 0, output: 10 } }] } },
  }
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const config = useConfigFile(t, httpConfig([{ policies, backends: [{ ai: { provider } }] }]))
  const program = await useProgram(t, { args: ['-f', config.file], env: { WORKER_THREADS: '2' } })
  const body = JSON.stringify({ model: 'm', max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] })
  const call = { method: 'POST', path: '/v1/chat/completions', body }
  const answers = await Promise.all(Array.from({ length: 200 }, () => request(program.port(), call)))
  const count = (status: number) => answers.filter((each) => each.status === status).length
  assert.deepEqual([count(200), count(429), origin.seen.length], [50, 150, 50])
})
