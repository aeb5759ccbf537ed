import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { request } from '../../testing/client.ts'
import { eventually, runProgram, startProgram, useConfigFile } from '../../testing/process.ts'
import { httpConfig, useOrigin } from '../../testing/scene.ts'

test('a budget continues after a restart, and after a kill', async (t) => {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]
  const usage = { prompt_tokens: 1, completion_tokens: 1000, total_tokens: 1001 }
  const origin = await useOrigin(t, (_seen, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: '1', object: 'chat.completion', created: 1, model: 'm', choices, usage }))
  })
  const policies = {
    budget: { limits: [{ name: 'team', usd: 0.03, per: 'Month' }] },
    backend: { prices: { models: [{ model: 'm', rates: { input: 0, output: 10 } }] } },
  }
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const routes = httpConfig([{ policies, backends: [{ ai: { provider } }] }])
  const config = useConfigFile(t, { ...routes, config: { stateDir: 'state', workers: 1 } })
  const body = JSON.stringify({ model: 'm', max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] })
  const call = { method: 'POST', path: '/v1/chat/completions', body }
  const start = async () => {
    const program = await startProgram({ args: ['-f', config.file] })
    t.after(() => program.stop())
    return program
  }
  const saved = () => readFileSync(join(config.folder, 'state', 'budgets.json'), 'utf8')

  const first = await start()
  assert.equal((await request(first.port(), call)).status, 200)
  const second = runProgram({
    args: ['-f', config.file],
    env: { ADMIN_ADDR: '127.0.0.1:0', STATS_ADDR: '127.0.0.1:0', READINESS_ADDR: '127.0.0.1:0' },
  })
  assert.match((await second).stderr, /uses the state folder/)
  first.child.kill('SIGTERM')
  await first.ended

  const killed = await start()
  const before = saved()
  assert.equal((await request(killed.port(), call)).status, 200)
  await eventually('the call is in the file', () => saved() !== before)
  killed.child.kill('SIGKILL')
  await killed.ended

  const last = await start()
  const statuses = []
  for (let turn = 0; turn < 2; turn++) statuses.push((await request(last.port(), call)).status)
  assert.deepEqual(statuses, [200, 429])
})
