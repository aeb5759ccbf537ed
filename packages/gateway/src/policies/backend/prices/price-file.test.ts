import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { request } from '../../../testing/client.ts'
import { eventually, startProgram, useConfigFile } from '../../../testing/process.ts'
import { httpConfig, useOrigin } from '../../../testing/scene.ts'

test('a file of prices is read again when it changes, and a wrong one changes nothing', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => {
    const usage = { prompt_tokens: 1000, completion_tokens: 0, total_tokens: 1000 }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: '1', object: 'chat.completion', created: 1, model: 'm-1', choices, usage }))
  })
  const policies = {
    backend: { prices: { file: 'prices.json', table: 'None' } },
    transformation: { response: { set: [{ name: 'x-cost', value: 'string(llm.cost)' }] } },
  }
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const routes = httpConfig([{ policies, backends: [{ ai: { provider } }] }])
  const { file, folder } = useConfigFile(t, { ...routes, config: { workers: 1 } })
  const price = (input: string): void => {
    const models = { 'm-1': { rates: { input, output: '1' } } }
    writeFileSync(join(folder, 'prices.json'), JSON.stringify({ providers: { openai: { models } } }))
  }
  price('1')
  const program = await startProgram({ args: ['-f', file], env: { OPENAI_API_KEY: 'k' } })
  t.after(() => program.stop())
  const cost = async () => {
    const body = JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content: 'hi' }] })
    return (await request(program.port(), { method: 'POST', path: '/v1/chat/completions', body })).headers['x-cost']
  }
  assert.equal(await cost(), '0.001')
  price('3')
  await eventually('the new price is live', async () => (await cost()) === '0.003')
  price('cheap')
  await program.logged(/prices\.file: found a rate of "input" that is not a decimal/)
  assert.equal(await cost(), '0.003')
})
